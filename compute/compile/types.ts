import type * as tf from "@tensorflow/tfjs";
import type { TensorData, TensorType } from "../graph/graph.ts";

/**
 * What runs a compiled function: ONNX Runtime (`onnx`), TensorFlow.js kernel
 * by kernel (`eager`), or the first of both that there is (`auto`).
 */
export type Engine = "auto" | "onnx" | "eager";

/**
 * What a compiled function takes for one tensor: an array of the declared type
 * and size, a number for a scalar, an array with a shape of its own, or a
 * tensor of TensorFlow.js. Arrays that stay the same from call to call are
 * read in place, without copying.
 */
export type TensorInput =
  | number
  | TensorData
  | tf.Tensor
  | { readonly data: TensorData; readonly shape: readonly number[] };

/** Inputs in the place of their declarations. */
export type InputsOf<Types> = {
  readonly [K in keyof Types]: NonNullable<Types[K]> extends
    TensorType | tf.Tensor ? TensorInput
    : InputsOf<Types[K]>;
};

/** Arrays in the place of the tensors that a function returns. */
export type ArraysOf<Outputs> = {
  readonly [K in keyof Outputs]: NonNullable<Outputs[K]> extends tf.Tensor
    ? TensorData
    : ArraysOf<Outputs[K]>;
};

/** How a function is compiled. */
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
