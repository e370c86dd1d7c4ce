import type * as tf from "@tensorflow/tfjs";
import type {
  ActionSample,
  ReparameterizedDistribution,
  SampleWithLogProbOptions,
} from "./reparameterized_distribution.ts";

/** Options of {@link gaussianMixture}. */
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

/** Options of {@link GaussianMixture.sampleComponent}. */
export interface SampleComponentOptions extends SampleWithLogProbOptions {
  /** Which Gaussian each row is from, int32 `[batch]`. */
  readonly component: tf.Tensor1D;
  /** Normal numbers `[batch, size]`. */
  readonly noise: tf.Tensor2D;
}

/** A mixture of Gaussians, as {@link gaussianMixture} makes it. */
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
