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

/** Transitions, one a row. */
export interface SacBatch {
  /** Encoded observations `[batch, ...observationShape]`. */
  readonly observations: tf.Tensor;
  /**
   * Actions taken `[batch, ...actionShape]` as the policy samples them, before an
   * environment's bounds.
   */
  readonly actions: tf.Tensor;
  /** Rewards `[batch]`, of n-step replay their discounted sums. */
  readonly rewards: tf.Tensor1D;
  /** 1 where the episode terminated, else 0, where it was truncated too. */
  readonly terminated: tf.Tensor1D;
  /**
   * Encoded observations after the (last) reward; for ended rows the true final
   * ones.
   */
  readonly nextObservations: tf.Tensor;
  /**
   * Discount of each row's bootstrap `[batch]`, of n-step replay `gamma^n`.
   *
   * @default the update's gamma
   */
  readonly discounts?: tf.Tensor1D;
  /**
   * Encoded observations between the rewards of n-step replay
   * `[batch * (n - 1), ...observationShape]`, whose entropies also count.
   *
   * @default none: only the entropy after the last reward counts
   */
  readonly betweenObservations?: tf.Tensor;
  /** With those, `gamma^k` of each, 0 past a return's end `[batch, n - 1]`. */
  readonly betweenDiscounts?: tf.Tensor2D;
  /**
   * Importance weights of prioritized replay `[batch]`. They weight only the errors of
   * the Q functions, as priorities bias the outcomes of an action. The other losses
   * are minimised state by state.
   *
   * @default 1 for each row
   */
  readonly weights?: tf.Tensor1D;
  /** 1 where an action is allowed `[batch, n]`; only where actions are masked. */
  readonly actionMasks?: tf.Tensor2D;
  /** Masks of the observations after the (last) reward. */
  readonly nextActionMasks?: tf.Tensor2D;
  /** Masks of the observations between the rewards `[batch * (n - 1), n]`. */
  readonly betweenActionMasks?: tf.Tensor2D;
}

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
  batch: SacBatch,
  inputs: I,
) => SacUpdateResult<S, T>;
