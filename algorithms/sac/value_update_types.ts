import type { Optimizer, OptimizerState, Params } from "@bellman/compute";
import type * as tf from "@tensorflow/tfjs";
import type { SacDiagnostics } from "./diagnostics.ts";
import type { SacHyperparameters, SacValueBatch } from "./update_types.ts";

/** Options of `sacValueUpdate`. */
export interface SacValueUpdateOptions {
  /**
   * Turns gradients into steps, of each network with slots of its own.
   *
   * @default adamTf1()
   */
  readonly optimizer?: Optimizer;
  /**
   * Discount, where the batch has none of its own.
   *
   * @default 0.99
   */
  readonly gamma?: number;
  /**
   * What the policy's entropy is relative to: every action alike, or the
   * standard normal of the action.
   *
   * @default "uniform"
   */
  readonly actionPrior?: "uniform" | "normal";
  /**
   * Whether the policy's gradient goes through the Q functions and the sampled
   * action, or by likelihood ratio. Mixtures take the latter alone, as the
   * choice of their component has no gradient.
   *
   * @default true, but false for mixtures
   */
  readonly reparameterize?: boolean;
  /**
   * Weight of the regularisation of the policy's means and deviations (`reg`).
   *
   * @default 0.001
   */
  readonly policyRegularization?: number;
  /**
   * Whether the policy's loss is that of haarnoja/sac: it takes the first Q
   * function in the place of the smaller one, and where it is reparameterized
   * it leaves out the prior.
   *
   * @default false
   */
  readonly haarnojaPolicyLoss?: boolean;
  /**
   * Whether the likelihood-ratio loss of a mixture also sends a gradient
   * through the sampled action into its density, as the released program of
   * haarnoja/sac does: the estimate is then biased.
   *
   * @default false
   */
  readonly haarnojaMixtureGradient?: boolean;
}

/**
 * All that an update with a V function moves: parameters, and slots of their
 * optimizers.
 */
export interface SacValueState {
  /** Parameters of the policy. */
  policy: Params;
  /** Parameters of both Q functions, under `qf1/` and `qf2/`. */
  critics: Params;
  /** Parameters of the V function. */
  value: Params;
  /** Target network of the V function, by the same paths. */
  targets: Params;
  /** Slots of the policy's optimizer. */
  policySlots: OptimizerState;
  /** Slots of the Q functions' optimizer. */
  criticSlots: OptimizerState;
  /** Slots of the V function's optimizer. */
  valueSlots: OptimizerState;
}

/**
 * The numbers that may change from update to update of the form with a V
 * function, as tensors. Its temperature is 1: the scale of the rewards stands
 * for the inverse of it.
 */
export type SacValueHyperparameters = Omit<
  SacHyperparameters,
  "alpha" | "temperatureLearningRate"
>;

/**
 * What an update with a V function says about itself, by name; all scalars, of
 * the parameters before the update: {@link SacDiagnostics}, mean and standard
 * deviation of V (`vf-avg`, `vf-std`), and the losses by the names of
 * haarnoja/sac. `policy_loss` is the sum of `policy_kl_loss` and
 * `policy_reg_loss`.
 */
export type SacValueStatistics =
  & SacDiagnostics
  & Record<
    | "vf-avg"
    | "vf-std"
    | "vf_loss"
    | "policy_loss"
    | "policy_kl_loss"
    | "policy_reg_loss"
    | "entropy",
    tf.Scalar
  >;

/**
 * What an update with a V function returns: new tensors, those that it was
 * given stay.
 */
export interface SacValueUpdateResult {
  /** The state after the update. */
  state: SacValueState;
  /** Losses and diagnostics. */
  stats: SacValueStatistics;
  /** Mean over the Q functions of `|y - Q|` `[batch]`: new priorities. */
  tdErrors: tf.Tensor1D;
}

/** A pure function from one state to the next. */
export type SacValueUpdate = (
  state: SacValueState,
  batch: SacValueBatch,
  hyperparameters: SacValueHyperparameters,
) => SacValueUpdateResult;
