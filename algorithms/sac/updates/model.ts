import type { ReplayBatch } from "@bellman/agent";
import type { OptimizerState, Params } from "@bellman/compute";
import type { StochasticPolicy } from "@bellman/policies";
import type * as tf from "@tensorflow/tfjs";

/**
 * Policy as updates need it: its first parameters, its output for observations,
 * and the family of its action distributions.
 */
export type SacPolicy<
  D extends StochasticPolicy["distribution"] = StochasticPolicy["distribution"],
> = Pick<StochasticPolicy<D>, "distribution" | "init" | "apply">;

/** Hyperparameters that may change from update to update, as tensors. */
export interface SacNumbers {
  /** Learning rate of the policy. */
  readonly learningRate: tf.Scalar;
  /**
   * Learning rate of the critics.
   *
   * @default learningRate
   */
  readonly criticLearningRate?: tf.Scalar;
  /**
   * Learning rate of the temperature.
   *
   * @default learningRate
   */
  readonly temperatureLearningRate?: tf.Scalar;
  /**
   * Step of the target networks: 1 copies, 0 keeps them, as between the updates
   * of a target update interval.
   */
  readonly tau: tf.Scalar;
  /** Temperature, where it is not learned. */
  readonly alpha?: tf.Scalar;
  /**
   * Factor of the rewards (`scale_reward`).
   *
   * @default 1
   */
  readonly rewardScale?: tf.Scalar;
}

/** Hyperparameters of an update, and noise of the actions that it samples. */
export interface SacInputs extends SacNumbers {
  /** Noise of the policy's current actions `[batch, policy.noise.size]`. */
  readonly noise: tf.Tensor2D;
  /** Noise of its actions after the transition `[batch, policy.noise.size]`. */
  readonly nextNoise: tf.Tensor2D;
  /**
   * Noise of its actions at the observations in between
   * `[batch * (n - 1), policy.noise.size]`.
   */
  readonly betweenNoise?: tf.Tensor2D;
}

/** Everything that an update changes: parameters, and slots of their optimizers. */
export type SacState = {
  /** Parameters of the policy. */
  policy: Params;
  /** Parameters of both Q functions, under `qf1/` and `qf2/`. */
  critics: Params;
  /** Target networks of both Q functions, by the same paths. */
  targets: Params;
  /** `logAlpha`, the logarithm of the temperature; empty if that is fixed. */
  temperature: Params;
  /** Slots of the policy's optimizer. */
  policySlots: OptimizerState;
  /** Slots of the critics' optimizer. */
  criticSlots: OptimizerState;
  /** Slots of the temperature's optimizer; empty if that is fixed. */
  temperatureSlots: OptimizerState;
};

/**
 * Means, standard deviations and errors of the Q functions over a batch; all
 * scalars.
 */
export type SacDiagnostics = Record<
  | `q${1 | 2}_${"mean" | "std"}`
  | "q_difference"
  | `q${1 | 2}_bellman_error`,
  tf.Scalar
>;

/**
 * Statistics of an update by name, all scalars, of the parameters before it:
 * {@link SacDiagnostics}, the losses and the temperature; `temperature_loss` only
 * where the temperature is learned.
 */
export type SacStatistics =
  & SacDiagnostics
  & Record<"q_loss" | "policy_loss" | "temperature" | "entropy", tf.Scalar>
  & Partial<Record<"temperature_loss", tf.Scalar>>;

/** Result of an update, in new tensors; its inputs stay valid. */
export interface SacUpdateResult<S = SacState, T = SacStatistics> {
  /** State after the update. */
  state: S;
  /** Losses and diagnostics. */
  stats: T;
  /** Mean over the Q functions of `|y - Q|` `[batch]`: new priorities. */
  results: { readonly tdErrors: tf.Tensor1D };
}

/** Pure function from one state to the next. */
export type SacUpdate<I = SacInputs, S = SacState, T = SacStatistics> = (
  state: S,
  batch: ReplayBatch,
  inputs: I,
) => SacUpdateResult<S, T>;
