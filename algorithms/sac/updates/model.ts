import type { ReplayBatch } from "@bellman/agent";
import type { OptimizerState, Params } from "@bellman/compute";
import type { StochasticPolicy } from "@bellman/policies";
import type * as tf from "@tensorflow/tfjs";

/**
 * Members of a policy that updates need: initial parameters, outputs, and the family of
 * its action distributions.
 */
export type SacPolicy<
  D extends StochasticPolicy["distribution"] = StochasticPolicy["distribution"],
> = Pick<StochasticPolicy<D>, "distribution" | "init" | "apply">;

/** Scheduled hyperparameters, and random numbers of the critics, as tensors. */
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
   * Soft update rate of the target networks: 1 copies the parameters.
   */
  readonly tau: tf.Scalar;
  /** Temperature, if it is not learned. */
  readonly alpha?: tf.Scalar;
  /**
   * Reward scale (`scale_reward`).
   *
   * @default 1
   */
  readonly rewardScale?: tf.Scalar;
  /**
   * Uniform numbers that drop units of the critics `[3 * critics * batch, hidden
   * units]`: for each critic those of the targets, of its step and of the policy's.
   *
   * @default none is dropped
   */
  readonly dropout?: tf.Tensor2D;
  /** Random order of the critics `[1, critics]`, of which the first make the targets. */
  readonly criticOrder?: tf.Tensor2D;
}

/** Options of updates that say how critics make targets, and what the policy maximizes. */
export interface SacTargetOptions {
  /**
   * Number of target critics, drawn for each update (REDQ); null takes all.
   *
   * @default null
   */
  readonly targetCritics?: number | null;
  /**
   * Value of an action that the policy maximizes: the smallest estimate, or the mean
   * over the critics, as of quantiles, drawn targets and dropout.
   *
   * @default "smallest"
   */
  readonly policyValue?: "smallest" | "mean";
}

/** Hyperparameters of an update, and noise of its sampled actions. */
export interface SacInputs extends SacNumbers {
  /** Noise of the actions in the observations `[batch, policy.noise.size]`. */
  readonly noise: tf.Tensor2D;
  /** Noise of the actions in the next observations `[batch, policy.noise.size]`. */
  readonly nextNoise: tf.Tensor2D;
  /**
   * Noise of the actions in the observations between the rewards of n-step returns
   * `[batch * (n - 1), policy.noise.size]`.
   */
  readonly betweenNoise?: tf.Tensor2D;
}

/** Training state of SAC. */
export type SacState = {
  /** Parameters of the policy. */
  policy: Params;
  /** Parameters of the Q-functions, under `qf1/`, `qf2/` and so on. */
  critics: Params;
  /** Target networks of the Q-functions, with the same paths; empty without them. */
  targets: Params;
  /** `logAlpha`, the log temperature; empty if that is fixed. */
  temperature: Params;
  /** Optimizer state of the policy. */
  policySlots: OptimizerState;
  /** Optimizer state of the critics. */
  criticSlots: OptimizerState;
  /** Optimizer state of the temperature; empty if that is fixed. */
  temperatureSlots: OptimizerState;
};

/** Means, standard deviations and errors of the Q-functions over a batch; all scalars. */
export type SacDiagnostics = Record<
  | `q${1 | 2}_${"mean" | "std"}`
  | "q_difference"
  | `q${1 | 2}_bellman_error`,
  tf.Scalar
>;

/** Statistics of an update of the critics, all scalars, computed before it. */
export type SacCriticStatistics = SacDiagnostics & Record<"q_loss", tf.Scalar>;

/**
 * Statistics of an update, all scalars, computed before it: {@link SacDiagnostics}, the
 * losses and the temperature; `temperature_loss` only if the temperature is learned.
 */
export type SacStatistics =
  & SacCriticStatistics
  & Record<"policy_loss" | "temperature" | "entropy", tf.Scalar>
  & Partial<Record<"temperature_loss", tf.Scalar>>;

/** Result of an update, in new tensors; its inputs stay valid. */
export interface SacUpdateResult<S = SacState, T = SacStatistics> {
  /** State after the update. */
  state: S;
  /** Losses and diagnostics. */
  stats: T;
  /** Mean absolute TD errors over the Q-functions `[batch]`: new priorities. */
  results: { readonly tdErrors: tf.Tensor1D };
}

/** Update as a pure function from one training state to the next. */
export type SacUpdate<I = SacInputs, S = SacState, T = SacStatistics> = (
  state: S,
  batch: ReplayBatch,
  inputs: I,
) => SacUpdateResult<S, T>;

/** Updates of SAC. */
export interface SacUpdates<I = SacInputs> {
  /** Update of critics, policy and temperature. */
  readonly learn: SacUpdate<I>;
  /** Update of the critics alone, between those of a delayed policy. */
  readonly critics: SacUpdate<I, SacState, SacCriticStatistics>;
}
