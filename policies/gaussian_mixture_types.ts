import type * as tf from "@tensorflow/tfjs";
import type {
  ActionSample,
  ReparameterizedDistribution,
  SampleWithLogProbOptions,
} from "./reparameterized_distribution.ts";

/**
 * Options of {@link gaussianMixture}.
 *
 * @example
 * ```ts
 * import { gaussianMixture, type GaussianMixtureOptions } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * const options: GaussianMixtureOptions = { components: 3, squash: false };
 * assertEquals(gaussianMixture(2, options).parameterSize, 3 * 5);
 * ```
 */
export interface GaussianMixtureOptions {
  /**
   * How many Gaussians there are.
   *
   * @default 4
   */
  readonly components?: number;
  /**
   * Shape of one action, of `size` numbers in all.
   *
   * @default [size]
   */
  readonly shape?: readonly number[];
  /**
   * Whether samples go through tanh, into (-1, 1).
   *
   * @default true
   */
  readonly squash?: boolean;
  /**
   * The logarithms of the deviations are clipped to these; outside of them
   * they have no gradient.
   *
   * @default [-20, 2]
   */
  readonly logStdBounds?: readonly [low: number, high: number];
  /**
   * Form of the logarithm of the tanh's slope, as in
   * {@link SquashedGaussianOptions}.
   *
   * @default "exact"
   */
  readonly squashCorrection?: "exact" | "epsilon";
}

/**
 * Options of {@link GaussianMixture.sampleComponent}.
 *
 * @example
 * ```ts
 * import { gaussianMixture, type SampleComponentOptions } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const options: SampleComponentOptions = {
 *   component: tf.tensor1d([1], "int32"),
 *   noise: tf.zeros([1, 1]),
 * };
 * const parameters = tf.tensor2d([[0, 5, 0, 0, -5, 0]]);
 * const { raw } = gaussianMixture(1, { components: 2 })
 *   .sampleComponent(parameters, options);
 * assertEquals(raw.arraySync(), [[-5]]);
 * ```
 */
export interface SampleComponentOptions extends SampleWithLogProbOptions {
  /** Which Gaussian each row is from, int32 `[batch]`. */
  readonly component: tf.Tensor1D;
  /** Normal numbers `[batch, size]`. */
  readonly noise: tf.Tensor2D;
}

/**
 * A mixture of Gaussians, as {@link gaussianMixture} makes it.
 *
 * @example
 * ```ts
 * import { type GaussianMixture, gaussianMixture } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * const mixture: GaussianMixture = gaussianMixture(2, { components: 3 });
 * assertEquals([mixture.components, mixture.noise.size], [3, 3]);
 * ```
 */
export interface GaussianMixture extends ReparameterizedDistribution {
  /** How many Gaussians there are. */
  readonly components: number;
  /**
   * The action at the mean of each Gaussian.
   *
   * @param parameters Parameters `[batch, parameterSize]`.
   * @returns Actions `[batch, components, size]`.
   */
  means(parameters: tf.Tensor2D): tf.Tensor3D;
  /**
   * A sample of the Gaussians that are given, with its log-probability under
   * the whole mixture.
   *
   * @param parameters Parameters `[batch, parameterSize]`.
   * @param options Gaussians and noise.
   */
  sampleComponent(
    parameters: tf.Tensor2D,
    options: SampleComponentOptions,
  ): ActionSample;
}
