// deno-lint-ignore-file
// @ts-nocheck AssemblyScript, compiled to WebAssembly by build.ts.
/** Everything that the compiled module exports; see _kernels.ts for its use. */
export { multiply, multiplyWorkBytes } from "./multiply.ts";
export {
  addScaled,
  dot,
  dotRows,
  multiplySymmetric,
  rotateRows,
  subtractRows,
} from "./rows.ts";
export { refineWeights, secularRoot, secularVector } from "./secular.ts";
export { factorBlock, solveBlock, solveTransposedBlock } from "./triangular.ts";
