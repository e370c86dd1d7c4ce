import type * as tf from "@tensorflow/tfjs";
import type { TensorData, TensorType } from "../graph/graph.ts";

/**
 * What runs a compiled function: ONNX Runtime (`onnx`), TensorFlow.js kernel
 * by kernel (`eager`), or the first of both that there is (`auto`).
 *
 * @example
 * ```ts
 * import { compile, type Engine } from "@bellman/compute";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const engine: Engine = "eager";
 * const x = { shape: [2], dtype: "float32" } as const;
 * const twice = compile(({ x }) => ({ y: tf.mul(x, 2) }), { inputs: { x }, engine });
 * assertEquals(twice.engine, engine);
 * ```
 */
export type Engine = "auto" | "onnx" | "eager";

/**
 * What a compiled function takes for one tensor: an array of the declared type
 * and size, a number for a scalar, an array with a shape of its own, or a
 * tensor of TensorFlow.js. Arrays that stay the same from call to call are
 * read in place, without copying.
 *
 * @example
 * ```ts
 * import type { TensorInput } from "@bellman/compute";
 * import { assertEquals } from "@std/assert";
 *
 * const inputs: TensorInput[] = [
 *   0.5,
 *   Float32Array.of(1, 2),
 *   { data: Float32Array.of(1, 2), shape: [2, 1] },
 * ];
 * assertEquals(inputs.length, 3);
 * ```
 */
export type TensorInput =
  | number
  | TensorData
  | tf.Tensor
  | { readonly data: TensorData; readonly shape: readonly number[] };

/**
 * Inputs in the place of their declarations.
 *
 * @example
 * ```ts
 * import type { InputsOf } from "@bellman/compute";
 * import { assertEquals } from "@std/assert";
 *
 * const types = { x: { shape: [2], dtype: "float32" } } as const;
 * const inputs: InputsOf<typeof types> = { x: Float32Array.of(1, 2) };
 * assertEquals(Object.keys(inputs), Object.keys(types));
 * ```
 */
export type InputsOf<Types> = {
  readonly [K in keyof Types]: NonNullable<Types[K]> extends
    TensorType | tf.Tensor ? TensorInput
    : InputsOf<Types[K]>;
};

/**
 * Arrays in the place of the tensors that a function returns.
 *
 * @example
 * ```ts
 * import type { ArraysOf } from "@bellman/compute";
 * import { assertEquals } from "@std/assert";
 * import type * as tf from "@tensorflow/tfjs";
 *
 * const arrays: ArraysOf<{ loss: tf.Scalar }> = { loss: Float32Array.of(3) };
 * assertEquals(arrays.loss[0], 3);
 * ```
 */
export type ArraysOf<Outputs> = {
  readonly [K in keyof Outputs]: NonNullable<Outputs[K]> extends tf.Tensor
    ? TensorData
    : ArraysOf<Outputs[K]>;
};

/**
 * How a function is compiled.
 *
 * @example
 * ```ts
 * import { compile, type CompileOptions } from "@bellman/compute";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const options = {
 *   inputs: { x: { shape: [2], dtype: "float32" } },
 *   threads: 1,
 *   name: "sum",
 * } as const satisfies CompileOptions<object>;
 * const sum = compile(({ x }) => ({ y: tf.sum(x) }), options);
 * assertEquals(sum.run({ x: Float32Array.of(1, 2) }).y[0], 3);
 * ```
 */
export interface CompileOptions<Types> {
  /** Shape and type of each input, in nested records; tensors declare too. */
  readonly inputs: Types;
  /**
   * What runs it.
   *
   * @default "auto"
   */
  readonly engine?: Engine;
  /**
   * Threads within an operation of ONNX Runtime. `auto` takes one for small
   * functions and all cores for large ones, by an estimate of the work: the
   * same function takes the same number each time, so that results repeat.
   *
   * @default "auto"
   */
  readonly threads?: number | "auto";
  /**
   * What messages call the function.
   *
   * @default the function's own name
   */
  readonly name?: string;
  /**
   * Sets of input shapes that are compiled before another one is an error.
   *
   * @default 8
   */
  readonly maxShapes?: number;
  /**
   * Takes the line that says that the engine fell back, or that the function
   * was compiled for another shape.
   *
   * @default console.warn
   */
  readonly onNotice?: (line: string) => void;
}
