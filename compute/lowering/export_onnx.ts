import type { TensorType } from "../graph/graph.ts";
import { optimize } from "../graph/passes/optimize.ts";
import { encodeModel } from "../onnx/model_builder.ts";
import {
  type TensorsOf,
  traceFunction,
  type TypeTree,
} from "../tracing/trace.ts";
import { isTypeLeaf, mapLeaves, type Tree } from "../tracing/tree.ts";
import { lowerGraph } from "./lower.ts";
import { openBatch } from "./open_batch.ts";

/** Options of {@linkcode exportOnnx}. */
export interface ExportOnnxOptions<Types> {
  /** Shape and type of each input, in nested records. */
  readonly inputs: Types;
  /**
   * Name of the first axis of all inputs, whose length is left open, whatever is
   * declared for it: so is that of outputs which depend on it.
   *
   * @default none: all lengths are those that are declared
   */
  readonly batch?: string;
  /**
   * Text by key that the file holds for its readers.
   *
   * @default {}
   */
  readonly metadata?: Readonly<Record<string, string>>;
}

/**
 * Writes a pure function of tensors as an ONNX file, of standard operators
 * alone: any runtime reads it. Tensors from outside the function, such as
 * trained parameters, are numbers in the file. Inputs and outputs are named by
 * their keys, joined by dots.
 *
 * @param fn A function as {@linkcode trace} takes it.
 * @param options Declarations of the inputs, and metadata.
 * @returns The bytes of the file.
 * @throws {TypeError} If the function cannot be traced, or is another one for
 * batches of other lengths where these are left open.
 *
 * @example
 * ```ts
 * import { exportOnnx } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { assert } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const kernel = tf.tensor2d([[1, 2], [3, 4]]);
 * const file = exportOnnx(({ x }) => ({ y: tf.matMul(x, kernel) }), {
 *   inputs: { x: { shape: [1, 2], dtype: "float32" } },
 * });
 * assert(new TextDecoder("latin1").decode(file).includes("Gemm"));
 * ```
 */
export function exportOnnx<const Types extends TypeTree>(
  fn: (inputs: TensorsOf<Types>) => unknown,
  options: ExportOnnxOptions<Types>,
): Uint8Array<ArrayBuffer> {
  const { inputs, batch, metadata } = options;
  const action = `export ${fn.name || "the function"}`;
  const lowered = (types: unknown) =>
    lowerGraph(optimize(
      traceFunction(fn as (inputs: unknown) => unknown, types, action).graph,
    ));
  const model = batch === undefined
    ? lowered(inputs)
    : openBatch(batch, (length) => lowered(withBatch(inputs, length)));
  return encodeModel({ ...model, metadata });
}

/** Replaces the first length of all declarations. */
function withBatch(types: unknown, length: number): Tree<TensorType> {
  return mapLeaves(types, isTypeLeaf, ({ shape, dtype }) => ({
    shape: [length, ...shape.slice(1)],
    dtype,
  }));
}
