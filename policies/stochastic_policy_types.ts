import type { Distribution } from "./distribution.ts";
import type { FunctionOptions } from "./function_options.ts";
import type { Policy } from "./policy.ts";
import type { Space } from "@bellman/types";

/** Options of {@link stochasticPolicy}. */
export interface StochasticPolicyOptions extends FunctionOptions {
  /** Space of one action: any but dict and tuple; bounds must be finite. */
  readonly actionSpace: Space;
  /**
   * Distribution of box actions: {@link squashedGaussian} or
   * {@link gaussianMixture}.
   *
   * @default "gaussian"
   */
  readonly distribution?: "gaussian" | "mixture";
  /**
   * How many Gaussians the mixture has.
   *
   * @default 4
   */
  readonly components?: number;
  /**
   * Bounds of the logarithms of the deviations that the network gives. Those
   * of state-dependent exploration have none.
   *
   * @default [-20, 2]
   */
  readonly logStdBounds?: readonly [low: number, high: number];
  /**
   * Form of the log-probability, as in {@link SquashedGaussianOptions}.
   *
   * @default "exact"
   */
  readonly squashCorrection?: "exact" | "epsilon";
  /**
   * Whether box actions are explored by noise that is a function of the state
   * (Raffin et al. 2020, https://arxiv.org/abs/2005.05719), for the Gaussian.
   *
   * @default false
   */
  readonly useSde?: boolean;
  /**
   * Whether that noise has one deviation for each pair of a feature and an
   * action, or one for each feature.
   *
   * @default true
   */
  readonly sdeFullStd?: boolean;
  /**
   * Whether the deviations of that noise also train the features that it
   * depends on.
   *
   * @default true
   */
  readonly sdeLearnFeatures?: boolean;
  /**
   * Whether its deviations are `exp(logStd)` only up to 1, and
   * `1 + log(1 + logStd)` from there on.
   *
   * @default false
   */
  readonly sdeExpln?: boolean;
  /**
   * Logarithm of its deviations at the start.
   *
   * @default -3
   */
  readonly sdeInitialLogStd?: number;
  /**
   * Largest size of a mean before the tanh, with that noise.
   *
   * @default 2
   */
  readonly sdeClipMean?: number;
}

/**
 * A policy without a value, as {@link stochasticPolicy} makes it.
 *
 * `distribution` with the parameters `output.policy` is what the actions of a
 * row come from, with state-dependent exploration too: there `sample` takes a
 * noise matrix for each row, that may be kept over several steps, while
 * `distribution` takes one number for each of an action, which is all that an
 * update needs.
 */
export interface StochasticPolicy<D extends Distribution = Distribution>
  extends Policy {
  /** Family of the action distributions: what losses are made from. */
  readonly distribution: D;
}
