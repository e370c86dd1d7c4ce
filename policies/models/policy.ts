import type * as tf from "@tensorflow/tfjs";
import type { Params } from "@bellman/compute";
import type { RandomSource } from "@bellman/types";
import type { ActionForm, NoiseSpec } from "../distributions/distribution.ts";
import type { ObservationEncoder } from "../networks/observations.ts";

/** Result of a {@link Policy} for observations. */
export interface PolicyOutput {
  /** Parameters of the action distributions `[batch, parameterSize]`. */
  readonly policy: tf.Tensor2D;
  /** State after the last step `[numEnvs, stateSize]`; recurrent only. */
  readonly state?: tf.Tensor2D;
  /** Features `[batch, features]`; state-dependent exploration only. */
  readonly latent?: tf.Tensor2D;
}

/** Inputs of {@link Policy.apply} by the names of a batch, which may hold more. */
export interface ApplyInputs {
  /**
   * Recurrent state before the first step `[numEnvs, stateSize]`.
   *
   * @default zeros before each row
   */
  readonly state?: tf.Tensor2D;
  /** 1 where an episode starts at this row, 0 elsewhere `[batch]`; with a state. */
  readonly masks?: tf.Tensor1D;
  /**
   * 1 where a choice is allowed, 0 elsewhere `[batch, distribution.masking.size]`.
   *
   * @default all are allowed
   */
  readonly actionMasks?: tf.Tensor;
}

/** Options of {@link Policy.sample}. */
export interface SampleOptions {
  /** Independent numbers `[batch, noise.size]` of `noise.kind`. */
  readonly noise: tf.Tensor2D;
}

/** Renewal of state-dependent noise (gSDE). */
export interface NoiseSchedule {
  /**
   * True where new noise is drawn in training.
   *
   * @param step Steps of each environment so far.
   */
  renews(step: number): boolean;
  /** Steps between two noise draws of an actor in evaluation; -1 draws once. */
  readonly sampleFrequency: number;
}

/**
 * Policy as pure functions: observations go in, actions come out. An
 * {@link ActorCritic} is one, as is the result of {@link stochasticPolicy}.
 *
 * @typeParam O Output of the policy.
 * @typeParam D Form of its actions, or family of their distributions.
 */
export interface Policy<
  O extends PolicyOutput = PolicyOutput,
  D extends ActionForm = ActionForm,
> extends ObservationEncoder {
  /** Numbers of recurrent state for one environment, 0 if there is none. */
  readonly stateSize: number;
  /** Form of the actions; where they have distributions, their family. */
  readonly distribution: D;
  /** Random numbers that {@link sample} needs for one row. */
  readonly noise: NoiseSpec;
  /** True where noise is kept over several steps of an environment. */
  readonly usesStateDependentExploration: boolean;
  /**
   * Times at which noise that is kept is drawn again.
   *
   * @default at each step of training, once in evaluation
   */
  readonly noiseSchedule?: NoiseSchedule;
  /**
   * True where box actions come in [-1, 1], to be mapped to the bounds of their
   * space; otherwise they come in its units, to be clipped to them.
   */
  readonly squashesActions: boolean;
  /** Makes new parameters. */
  init(random: RandomSource): Params;
  /**
   * Computes action distributions.
   *
   * @param params Parameters as {@link init} makes them.
   * @param observations Encoded observations `[batch, ...observationShape]`,
   * env-major.
   * @param inputs Recurrent state, episode starts and allowed actions.
   */
  apply(
    params: Params,
    observations: tf.Tensor,
    inputs?: ApplyInputs,
  ): O;
  /**
   * Draws one action for each row.
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
   * Returns the most likely action of each row; of squashed distributions, the
   * action of the mean before the tanh.
   *
   * @param output Result of {@link apply}.
   * @returns Actions `[batch, ...actionShape]`.
   */
  mode(output: PolicyOutput): tf.Tensor;
}
