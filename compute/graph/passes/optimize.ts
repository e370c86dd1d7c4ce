import { type Graph, mapNested } from "../graph.ts";
import { convolveBeforeScaling, joinSplits } from "./reorder.ts";
import { foldConstants } from "./fold_constants.ts";
import {
  fuseBias,
  fuseSumOfSquares,
  recognizeLogSoftmax,
  recognizeReluGradient,
  recognizeTanhSlope,
} from "./fuse.ts";
import { removeAliases, shareCommonSubexpressions } from "./redundancy.ts";
import { eliminateDeadCode } from "./rewrite.ts";
import { collectFactors, simplify } from "./simplify.ts";
import { skipZeroRows } from "./skip_zero_rows.ts";

/** Rounds after which a graph that still shrinks is left as it is. */
const MAX_ROUNDS = 8;

const PASSES = [
  removeAliases,
  eliminateDeadCode,
  foldConstants,
  shareCommonSubexpressions,
  simplify,
  recognizeLogSoftmax,
  joinSplits,
  collectFactors,
  eliminateDeadCode,
];

/** Passes that come last, for ONNX Runtime: some make operations of ONNX. */
const FUSIONS = [
  convolveBeforeScaling,
  recognizeReluGradient,
  recognizeTanhSlope,
  fuseBias,
  fuseSumOfSquares,
  skipZeroRows,
];

/**
 * Makes a graph smaller: aliases, dead code, constants, common subexpressions,
 * algebra, and operations that replace several. Its results stay the same, up to
 * the last bits of float32.
 *
 * @param graph A graph, as {@linkcode trace} records it.
 * @param options Whether operations are fused for ONNX Runtime, true by
 * default; a compiler such as XLA fuses by itself.
 * @returns A graph of the same inputs and outputs.
 *
 * @example
 * ```ts
 * import { optimize, trace } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { assertEquals } from "@std/assert";
 *
 * const x = { shape: [8], dtype: "float32" } as const;
 * const graph = trace(({ x }) => {
 *   const unused = tf.exp(x);
 *   return { y: tf.mul(tf.add(x, tf.zerosLike(unused)), 1).clone() };
 * }, { x });
 * assertEquals(optimize(graph).nodes.length, 0);
 * ```
 */
export function optimize(
  graph: Graph,
  { fuse = true }: { readonly fuse?: boolean } = {},
): Graph {
  let current = mapNested(graph, (it) => optimize(it, { fuse }));
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const before = current.nodes.length;
    current = PASSES.reduce((it, pass) => pass(it), current);
    if (current.nodes.length === before && round > 0) break;
  }
  if (!fuse) return current;
  return FUSIONS.reduce((it, pass) => eliminateDeadCode(pass(it)), current);
}
