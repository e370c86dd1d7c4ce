import * as tf from "@tensorflow/tfjs";
import type { Params } from "@bellman/compute";
import type { Initializer } from "./initializers.ts";
import { parameter } from "./parameters.ts";
import type { RandomSource } from "./random_source.ts";

/** Product of the lengths of all axes. */
export function sizeOf(shape: readonly number[]): number {
  return shape.reduce((product, length) => product * length, 1);
}

/** A parameter of that shape with its first values. */
export function initialTensor(
  shape: readonly number[],
  initializer: Initializer,
  random: RandomSource,
): tf.Tensor {
  return tf.tensor(initializer(shape, random), [...shape], "float32");
}

/** Kernel of that shape and a bias of zeros for its last axis. */
export function initKernelAndBias(
  shape: readonly number[],
  initializer: Initializer,
  random: RandomSource,
): Params {
  return {
    kernel: initialTensor(shape, initializer, random),
    bias: tf.zeros([shape[shape.length - 1]]),
  };
}

/**
 * `x kernel + bias` in one kernel, forward and in the gradient: on small
 * batches the number of kernels is what costs.
 */
export function dense(
  x: tf.Tensor2D,
  kernel: tf.Tensor2D,
  bias: tf.Tensor1D,
): tf.Tensor2D {
  return tf.fused.matMul({ a: x, b: kernel, bias }) as tf.Tensor2D;
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

/** `[batch, ...shape]` to `[batch, features]`; nothing if it is that. */
export function flattenRows(x: tf.Tensor): tf.Tensor2D {
  if (x.rank === 2) return x as tf.Tensor2D;
  return tf.reshape(x, [x.shape[0], sizeOf(x.shape.slice(1))]);
}

const LAYER_NORM_EPSILON = 1e-5;

/** Each row to mean 0 and variance 1, then times gain plus bias. */
export function normalizeRows(
  x: tf.Tensor2D,
  gain: tf.Tensor1D,
  bias: tf.Tensor1D,
): tf.Tensor2D {
  const centered = tf.sub(x, tf.mean(x, 1, true));
  const variance = tf.mean(tf.square(centered), 1, true);
  const scale = tf.rsqrt(tf.add(variance, LAYER_NORM_EPSILON));
  return tf.add(tf.mul(tf.mul(centered, scale), gain), bias);
}
