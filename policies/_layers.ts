import * as tf from "@tensorflow/tfjs";
import type { Params } from "@bellman/compute";
import type { BiasInitializer, Initializer } from "./initializers.ts";
import type { RandomSource } from "@bellman/types";

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

/** First values of a layer: zeros for the bias if nothing is said of it. */
export interface LayerInitializers {
  readonly kernelInitializer: Initializer;
  readonly biasInitializer?: BiasInitializer;
}

/** Kernel of that shape and a bias for its last axis. */
export function initKernelAndBias(
  shape: readonly number[],
  { kernelInitializer, biasInitializer }: LayerInitializers,
  random: RandomSource,
): Params {
  const outputs = shape[shape.length - 1];
  return {
    kernel: initialTensor(shape, kernelInitializer, random),
    bias: biasInitializer
      ? tf.tensor1d(biasInitializer(shape, random))
      : tf.zeros([outputs]),
  };
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
