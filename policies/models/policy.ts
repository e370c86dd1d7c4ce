import type * as tf from "@tensorflow/tfjs";
import type { Params } from "@bellman/compute";
import type { RandomSource } from "@bellman/types";
import type { ActionForm, NoiseSpec } from "../distributions/distribution.ts";
import type { ObservationEncoder } from "../networks/observations.ts";

/** Output of a {@link Policy}. */
export interface PolicyOutput {
  /** Parameters of the action distributions `[batch, parameterSize]`. */
  readonly policy: tf.Tensor2D;
  /** Recurrent state after the last step `[numEnvs, stateSize]`; recurrent only. */
  readonly state?: tf.Tensor2D;
  /** Features for state-dependent exploration `[batch, features]`. */
  readonly latent?: tf.Tensor2D;
  /** New running statistics by path; batch normalization in training only. */
  readonly running?: Params;
}

/**
 * Inputs of {@link Policy.apply} besides observations; other entries of a batch are
 * ignored.
 */
export interface ApplyInputs {
  /**
   * Recurrent state before the first step `[numEnvs, stateSize]`.
   *
   * @default zeros before each row
   */
  readonly state?: tf.Tensor2D;
  /** Episode starts: 1 where an episode starts at this row, else 0 `[batch]`; with `state`. */
  readonly masks?: tf.Tensor1D;
  /**
   * Action masks: 1 where a choice is allowed, else 0 `[batch,
   * distribution.masking.size]`.
   *
   * @default all are allowed
   */
  readonly actionMasks?: tf.Tensor;
  /**
   * Normalize by the statistics of the batch, and return new running ones; policies
   * with batch normalization only.
   *
   * @default false: by the running statistics, as acting does
   */
  readonly training?: boolean;
}

/** Options of {@link Policy.sample}. */
export interface SampleOptions {
  /** Independent numbers `[batch, noise.size]` of `noise.kind`. */
  readonly noise: tf.Tensor2D;
}

/** Resampling of state-dependent noise (gSDE). */
export interface NoiseSchedule {
  /**
   * Returns true if training resamples the noise at a step.
   *
   * @param step Steps of each environment so far.
   */
  renews(step: number): boolean;
  /** Steps between two resamplings in evaluation (`sde_sample_freq`); -1: only at the start. */
  readonly sampleFrequency: number;
}

/**
 * Policy as pure functions from observations to actions, such as an {@link ActorCritic}
 * or the result of {@link stochasticPolicy}.
 *
 * @typeParam O Output of the policy.
 * @typeParam D Form of its actions, or family of their distributions.
 */
export interface Policy<
  O extends PolicyOutput = PolicyOutput,
  D extends ActionForm = ActionForm,
> extends ObservationEncoder {
  /** Size of one environment's recurrent state, 0 if not recurrent. */
  readonly stateSize: number;
  /** Form of the actions, or the family of their distributions. */
  readonly distribution: D;
  /** Noise of one sample. */
  readonly noise: NoiseSpec;
  /** True if the noise may be kept over several steps (gSDE). */
  readonly usesStateDependentExploration: boolean;
  /**
   * Resampling of noise that is kept.
   *
   * @default at each step of training, once in evaluation
   */
  readonly noiseSchedule?: NoiseSchedule;
  /**
   * True if box actions are in [-1, 1], to be rescaled to the bounds of their space;
   * otherwise they are clipped to them.
   */
  readonly squashesActions: boolean;
  /** Makes initial parameters. */
  init(random: RandomSource): Params;
  /**
   * Computes the parameters of action distributions.
   *
   * @param params Parameters, as {@link init} makes them.
   * @param observations Encoded observations `[batch, ...observationShape]`,
   * env-major.
   * @param inputs Recurrent state, episode starts and action masks.
   */
  apply(
    params: Params,
    observations: tf.Tensor,
    inputs?: ApplyInputs,
  ): O;
  /**
   * Samples one action for each row.
   *
   * @param params Parameters as {@link init} makes them.
   * @param output Result of {@link apply}.
   * @param options The noise.
   * @returns Actions `[batch, ...actionShape]`.
   */
  sample(
    params: Params,
    output: PolicyOutput,
    options: SampleOptions,
  ): tf.Tensor;
  /**
   * Returns the most likely action of each row; for squashed distributions the tanh of
   * the mean.
   *
   * @param output Result of {@link apply}.
   * @returns Actions `[batch, ...actionShape]`.
   */
  mode(output: PolicyOutput): tf.Tensor;
}
