// deno-lint-ignore-file
// @ts-nocheck AssemblyScript, compiled to WebAssembly by build.ts.
/** Everything that the compiled module exports; see _kernels.ts for its use. */
export { multiply, multiplySingle, multiplyWorkBytes } from "./multiply.ts";
export {
  addScaled,
  addScaledSingle,
  dot,
  dotRows,
  dotRowsSingle,
  dotSingle,
  multiplySymmetric,
  multiplySymmetricSingle,
  rotateRows,
  rotateRowsSingle,
  subtractRows,
  subtractRowsSingle,
  symmetrize,
  symmetrizeSingle,
} from "./rows.ts";
export {
  refineWeights,
  secularRoot,
  secularVector,
  secularVectorSingle,
} from "./secular.ts";
export {
  factorBlock,
  factorBlockSingle,
  solveBlock,
  solveBlockSingle,
  solveTransposedBlock,
  solveTransposedBlockSingle,
} from "./triangular.ts";
