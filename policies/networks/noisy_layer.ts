import type { Params } from "@bellman/compute";
import type { RandomSource } from "@bellman/types";
import * as tf from "@tensorflow/tfjs";
import { denseLayer, initLayer, type LayerInitializers } from "./_layers.ts";
import { parameter } from "./network.ts";

/** Factorized noise of {@link noisyLayer}, as {@link factorizedNoise} makes it. */
export interface FactorizedNoise {
  /** Factors of the inputs `[rows, in]`. */
  readonly inputs: tf.Tensor2D;
  /** Factors of the outputs `[rows, out]`. */
  readonly outputs: tf.Tensor2D;
}

/** Initializers of a noisy layer. */
export interface NoisyLayerInitializers extends LayerInitializers {
  /** Initial standard deviation of the noise, times the square root of the number of inputs. */
  readonly sigma0: number;
}

/**
 * Makes `NAME/kernel` and `NAME/bias` as of any layer, and `NAME/kernelSigma` and
 * `NAME/biasSigma`, all `sigma0 / sqrt(in)`.
 *
 * @param name Name of the layer.
 * @param shape Numbers of inputs and outputs.
 * @param options Initializers.
 * @param random Random numbers.
 */
export function initNoisyLayer(
  name: string,
  shape: readonly [number, number],
  { sigma0, ...initializers }: NoisyLayerInitializers,
  random: RandomSource,
): Params {
  const sigma = sigma0 / Math.sqrt(shape[0]);
  return {
    ...initLayer(name, shape, initializers, random),
    [`${name}/kernelSigma`]: tf.fill([...shape], sigma),
    [`${name}/biasSigma`]: tf.fill([shape[1]], sigma),
  };
}

/**
 * Computes the factors of factorized noise from normal numbers `e`: `sign(e)
 * sqrt(|e|)`.
 *
 * @param noise Normal numbers of any shape.
 * @returns Factors of the same shape.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { factorizedNoise } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * assertEquals(factorizedNoise(tf.tensor1d([4, -9])).arraySync(), [2, -3]);
 * ```
 */
export function factorizedNoise<T extends tf.Tensor>(noise: T): T {
  return tf.tidy(() => tf.mul(tf.sign(noise), tf.sqrt(tf.abs(noise)))) as T;
}

/**
 * Applies a linear layer with learned noise (NoisyNet), `x w + b` with `w = kernel +
 * kernelSigma f_in f_out` and `b = bias + biasSigma f_out`.
 *
 * Source: Fortunato et al. 2018 (https://arxiv.org/abs/1706.10295), factorized noise.
 *
 * @param params Parameters `NAME/kernel [in, out]`, `NAME/bias`, `NAME/kernelSigma`
 * and `NAME/biasSigma`.
 * @param name Name of the layer.
 * @param inputs Inputs `[batch, in]` and noise, one row for the whole batch or one for
 * each row; without it the mean weights are used.
 * @returns Outputs `[batch, out]`.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { factorizedNoise, noisyLayer } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const params = {
 *   "y/kernel": tf.tensor2d([[1]]),
 *   "y/bias": tf.tensor1d([1]),
 *   "y/kernelSigma": tf.tensor2d([[0.5]]),
 *   "y/biasSigma": tf.tensor1d([0]),
 * };
 * const x = tf.tensor2d([[3]]);
 * assertEquals(noisyLayer(params, "y", { x }).arraySync(), [[4]]);
 * const inputs = factorizedNoise(tf.tensor2d([[1]])), outputs = factorizedNoise(tf.tensor2d([[4]]));
 * const noisy = noisyLayer(params, "y", { x, noise: { inputs, outputs } });
 * assertEquals(noisy.arraySync(), [[3 * (1 + 0.5 * 2) + 1]]);
 * ```
 */
export function noisyLayer(
  params: Params,
  name: string,
  { x, noise }: { readonly x: tf.Tensor2D; readonly noise?: FactorizedNoise },
): tf.Tensor2D {
  if (noise === undefined) return denseLayer(params, name, x);
  const { inputs, outputs } = noise;
  const kernel = parameter<tf.Tensor2D>(params, `${name}/kernel`);
  const bias = parameter<tf.Tensor1D>(params, `${name}/bias`);
  const kernelSigma = parameter<tf.Tensor2D>(params, `${name}/kernelSigma`);
  const biasSigma = parameter<tf.Tensor1D>(params, `${name}/biasSigma`);
  return tf.tidy(() => {
    if (inputs.shape[0] === 1) {
      // A single row of noise makes a single kernel.
      const both = tf.matMul(inputs, outputs, true);
      const weights = tf.add(kernel, tf.mul(kernelSigma, both));
      const shift = tf.add(bias, tf.mul(biasSigma, outputs));
      return tf.add(tf.matMul(x, weights as tf.Tensor2D), shift);
    }
    const scaled = tf.matMul(tf.mul(x, inputs), kernelSigma);
    const moved = tf.mul(tf.add(scaled, biasSigma), outputs);
    return tf.add(tf.add(tf.matMul(x, kernel), bias), moved);
  });
}
