import * as tf from "@tensorflow/tfjs";
import type { Params } from "@bellman/compute";
import { parameter } from "./parameters.ts";

/**
 * `x kernel + bias`. The fused kernel of TensorFlow.js is no faster forward,
 * and slower with its gradient.
 */
export function dense(
  x: tf.Tensor2D,
  kernel: tf.Tensor2D,
  bias: tf.Tensor1D,
): tf.Tensor2D {
  return tf.add(tf.matMul(x, kernel), bias);
}

/** {@link dense} with the parameters `name/kernel` and `name/bias`. */
export function denseLayer(
  params: Params,
  name: string,
  x: tf.Tensor2D,
): tf.Tensor2D {
  return dense(
    x,
    parameter(params, `${name}/kernel`),
    parameter(params, `${name}/bias`),
  );
}
