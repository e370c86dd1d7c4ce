import type { OptimizerState, Params } from "@bellman/compute";
import type * as tf from "@tensorflow/tfjs";

/** One rollout as the update takes it; rows are `env * numSteps + step`. */
export interface A2CBatch {
  /** Encoded observations `[batch, ...observationShape]`. */
  readonly observations: tf.Tensor;
  /** Actions taken, as sampled `[batch, ...actionShape]`. */
  readonly actions: tf.Tensor;
  /** How much better each action was than expected `[batch]`. */
  readonly advantages: tf.Tensor1D;
  /** Returns with their bootstrap: what the values are to become `[batch]`. */
  readonly returns: tf.Tensor1D;
  /** Recurrent models only: state before the first step `[numEnvs, stateSize]`. */
  readonly state?: tf.Tensor2D;
  /** Recurrent models only: 1 where an episode starts at the row `[batch]`. */
  readonly masks?: tf.Tensor1D;
}

/** The numbers that change from update to update, as tensors. */
export interface A2CHyperparameters {
  /** Learning rate of this update. */
  readonly learningRate: tf.Scalar;
  /** Weight of the entropy. */
  readonly entropyCoefficient: tf.Scalar;
  /**
   * Learning rate of the value's own optimizer; separate objectives only.
   *
   * @default learningRate
   */
  readonly valueLearningRate?: tf.Scalar;
}

/** What an update says about itself, by name; all scalars. */
export type A2CStatistics = Record<
  "loss" | "policy_loss" | "value_loss" | "policy_entropy" | "grad_norm",
  tf.Scalar
>;

/** What an update returns: new tensors, those that it was given stay. */
export interface A2CUpdateResult {
  /** Parameters after the update. */
  params: Params;
  /** State of the optimizer or optimizers after the update. */
  optimizerState: OptimizerState;
  /** Losses, entropy and the norm of the gradient before it was clipped. */
  stats: A2CStatistics;
}

/** A pure function from one set of parameters to the next. */
export type A2CUpdate = (
  params: Params,
  optimizerState: OptimizerState,
  batch: A2CBatch,
  hyperparameters: A2CHyperparameters,
) => A2CUpdateResult;
