import * as tf from "@tensorflow/tfjs";
import type { Params } from "@bellman/compute";
import type { BoxSpace, RandomSource } from "@bellman/types";
import {
  type Activation,
  type ActivationName,
  type BiasInitializer,
  type Initializer,
  parameter,
} from "./network.ts";

/** Typed arrays of the element types. */
export const ARRAYS = {
  float32: Float32Array,
  float64: Float64Array,
  int32: Int32Array,
  uint8: Uint8Array,
} as const;

/** Largest float32, the number type of policies. */
export const LARGEST = (2 - 2 ** -23) * 2 ** 127;

/** Returns the lower and upper bounds of a box's elements, limited to float32. */
export function boundsOf({ shape, low, high }: BoxSpace): Float64Array[] {
  const size = sizeOf(shape);
  return [low, high].map((bound) =>
    Float64Array.from(
      typeof bound === "number" ? { length: size } : bound,
      (it) => {
        const value = typeof bound === "number" ? bound : it as number;
        return Math.max(-LARGEST, Math.min(value, LARGEST));
      },
    )
  );
}

/** Returns the number of elements of a shape. */
export function sizeOf(shape: readonly number[]): number {
  return shape.reduce((product, length) => product * length, 1);
}

/** Makes a parameter with its initial values. */
export function initialTensor(
  shape: readonly number[],
  initializer: Initializer,
  random: RandomSource,
): tf.Tensor {
  return tf.tensor(initializer(shape, random), [...shape], "float32");
}

/** Initializers of a layer; the default bias is 0. */
export interface LayerInitializers {
  readonly kernelInitializer: Initializer;
  readonly biasInitializer?: BiasInitializer;
}

/** Makes `NAME/kernel` of that shape and `NAME/bias` for its last axis. */
export function initLayer(
  name: string,
  shape: readonly number[],
  { kernelInitializer, biasInitializer }: LayerInitializers,
  random: RandomSource,
): Params {
  return {
    [`${name}/kernel`]: initialTensor(shape, kernelInitializer, random),
    [`${name}/bias`]: biasInitializer
      ? tf.tensor1d(biasInitializer(shape, random))
      : tf.zeros(shape.slice(-1)),
  };
}

/** Flattens `[batch, ...shape]` to `[batch, features]`. */
export function flattenRows(x: tf.Tensor): tf.Tensor2D {
  if (x.rank === 2) return x as tf.Tensor2D;
  return tf.reshape(x, [x.shape[0], sizeOf(x.shape.slice(1))]);
}

const LAYER_NORM_EPSILON = 1e-5;

/**
 * Layer normalization: scales each row to mean 0 and variance 1, then multiplies by the
 * gain and adds the bias.
 */
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

/**
 * Computes `x kernel + bias`. TensorFlow.js's fused kernel is no faster forward, and
 * slower backward.
 */
export function dense(
  x: tf.Tensor2D,
  kernel: tf.Tensor2D,
  bias: tf.Tensor1D,
): tf.Tensor2D {
  return tf.add(tf.matMul(x, kernel), bias);
}

/** Applies {@link dense} with the parameters `name/kernel` and `name/bias`. */
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

/** Smallest image side that the layers of `cnn` accept. */
export const SMALLEST_IMAGE = 36;

/**
 * Finds the channel axis of images with channels first, or without channels, as in
 * `@bellman/envs`.
 */
export function channelAxis(
  shape: readonly number[],
): "first" | "none" | undefined {
  const [height, width] = shape.slice(-2);
  if (!(Math.min(height, width) >= SMALLEST_IMAGE)) return undefined;
  if (shape.length === 2) return "none";
  const isFirst = shape.length === 3 && shape[0] < SMALLEST_IMAGE;
  return isFirst ? "first" : undefined;
}

/** Built-in activation functions. */
const FUNCTIONS: Readonly<
  Record<ActivationName, (x: tf.Tensor) => tf.Tensor>
> = {
  tanh: (x) => tf.tanh(x),
  relu: (x) => tf.relu(x),
  elu: (x) => tf.elu(x),
  selu: (x) => tf.selu(x),
  leaky_relu: (x) => tf.leakyRelu(x, 0.01),
  sigmoid: (x) => tf.sigmoid(x),
  softplus: (x) => tf.softplus(x),
  silu: (x) => tf.mul(x, tf.sigmoid(x)),
  linear: (x) => x,
};

/** Names of the built-in activation functions. */
export const activationNames: readonly ActivationName[] = Object.keys(
  FUNCTIONS,
) as ActivationName[];

/**
 * Returns an activation function by its name.
 *
 * @param activation Name, or a function, which is returned unchanged.
 * @returns The function.
 * @throws {RangeError} If there is no activation of that name.
 */
export function activationFunction(
  activation: Activation,
): (x: tf.Tensor) => tf.Tensor {
  if (typeof activation === "function") return activation;
  if (Object.hasOwn(FUNCTIONS, activation)) return FUNCTIONS[activation];
  throw new RangeError(
    `Cannot use the activation '${activation}': choose one of ${
      activationNames.join(", ")
    }`,
  );
}
