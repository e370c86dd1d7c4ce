import type * as tf from "@tensorflow/tfjs";
import type { Params } from "@bellman/compute";
import type { Distribution, NoiseSpec } from "./distribution.ts";
import type { ObservationArray } from "./observation_encoder.ts";
import type { RandomSource } from "./random_source.ts";

/** What an {@link ActorCritic} computes from observations. */
export interface ActorCriticOutput {
  /** Parameters of the action distributions `[batch, parameterSize]`. */
  readonly policy: tf.Tensor2D;
  /** Estimated returns `[batch]`. */
  readonly value: tf.Tensor1D;
  /** State after the last step `[numEnvs, stateSize]`; recurrent only. */
  readonly state?: tf.Tensor2D;
  /** Features `[batch, features]`; state-dependent exploration only. */
  readonly latent?: tf.Tensor2D;
}

/** Recurrent inputs of {@link ActorCritic.apply}. */
export interface Recurrence {
  /** State before the first step `[numEnvs, stateSize]`. */
  readonly state: tf.Tensor2D;
  /** `[batch]`, 1 where an episode starts at this row, 0 elsewhere. */
  readonly masks: tf.Tensor1D;
}

/** A policy and a value function over one or two trunks; all of it is pure. */
export interface ActorCritic {
  /** Shape of one encoded observation, as {@link apply} takes it. */
  readonly observationShape: readonly number[];
  /** Numbers in one observation, as the environment gives it. */
  readonly observationSize: number;
  /** Numbers of recurrent state for one environment, 0 if there is none. */
  readonly stateSize: number;
  /** Family of the action distributions: what losses are made from. */
  readonly distribution: Distribution;
  /** What {@link sample} needs for one row. */
  readonly noise: NoiseSpec;
  /** Whether noise should be kept over several steps of an environment. */
  readonly usesStateDependentExploration: boolean;
  /** Makes new parameters. */
  init(random: RandomSource): Params;
  /**
   * Computes action distributions and values.
   *
   * @param params Parameters as {@link init} makes them.
   * @param observations Encoded observations `[batch, ...observationShape]`,
   * env-major.
   * @param recurrence State and episode starts, of recurrent models. Without
   * it each row starts from a state of zeros.
   */
  apply(
    params: Params,
    observations: tf.Tensor,
    recurrence?: Recurrence,
  ): ActorCriticOutput;
  /**
   * One random action for each row.
   *
   * @param params Parameters as {@link init} makes them.
   * @param output What {@link apply} gave.
   * @param options The noise.
   * @returns Actions `[batch, ...actionShape]`.
   */
  sample(
    params: Params,
    output: ActorCriticOutput,
    options: SampleOptions,
  ): tf.Tensor;
  /**
   * The most likely action of each row.
   *
   * @param output What {@link apply} gave.
   * @returns Actions `[batch, ...actionShape]`.
   */
  mode(output: ActorCriticOutput): tf.Tensor;
  /**
   * Encodes observations for {@link apply}: box as float32 (images from 0 to
   * 1), discrete ones one-hot, multi-binary as float32.
   *
   * @param batch Observations `[batchSize, ...]`, row-major; copied.
   * @param batchSize Number of rows.
   * @returns Float32 `[batchSize, ...observationShape]`.
   */
  observationTensor(batch: ObservationArray, batchSize: number): tf.Tensor;
}

/** Options of {@link ActorCritic.sample}. */
export interface SampleOptions {
  /** Independent numbers `[batch, noise.size]` of `noise.kind`. */
  readonly noise: tf.Tensor2D;
}
