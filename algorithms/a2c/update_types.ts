import type { OptimizerState, Params } from "@bellman/compute";
import type * as tf from "@tensorflow/tfjs";

/**
 * One rollout as the update takes it; rows are `env * numSteps + step`.
 *
 * @example
 * ```ts
 * import type { A2CBatch } from "@bellman/a2c";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * const batch: A2CBatch = {
 *   observations: tf.zeros([6, 4]),
 *   actions: tf.zeros([6], "int32"),
 *   advantages: tf.zeros([6]),
 *   returns: tf.zeros([6]),
 * };
 * assertEquals(batch.actions.shape, batch.returns.shape);
 * ```
 */
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

/**
 * The numbers that change from update to update, as tensors.
 *
 * @example
 * ```ts
 * import type { A2CHyperparameters } from "@bellman/a2c";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * const inputs: A2CHyperparameters = {
 *   learningRate: tf.scalar(7e-4),
 *   entropyCoefficient: tf.scalar(0),
 * };
 * assertEquals(inputs.entropyCoefficient.dataSync()[0], 0);
 * ```
 */
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

/**
 * What an update says about itself, by name; all scalars.
 *
 * @example
 * ```ts
 * import type { A2CStatistics } from "@bellman/a2c";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * const zero = tf.scalar(0);
 * const statistics: A2CStatistics = {
 *   loss: zero,
 *   policy_loss: zero,
 *   value_loss: zero,
 *   policy_entropy: zero,
 *   grad_norm: zero,
 * };
 * assertEquals(Object.keys(statistics).length, 5);
 * ```
 */
export type A2CStatistics = Record<
  "loss" | "policy_loss" | "value_loss" | "policy_entropy" | "grad_norm",
  tf.Scalar
>;

/**
 * What an update returns: new tensors, those that it was given stay.
 *
 * @example
 * ```ts
 * import type { A2CUpdateResult } from "@bellman/a2c";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * const zero = tf.scalar(0);
 * const result: A2CUpdateResult = {
 *   params: { "pi/head/bias": tf.zeros([2]) },
 *   optimizerState: { "rms/pi/head/bias": tf.ones([2]) },
 *   stats: {
 *     loss: zero,
 *     policy_loss: zero,
 *     value_loss: zero,
 *     policy_entropy: zero,
 *     grad_norm: zero,
 *   },
 * };
 * assertEquals(Object.keys(result.params), ["pi/head/bias"]);
 * ```
 */
export interface A2CUpdateResult {
  /** Parameters after the update. */
  params: Params;
  /** State of the optimizer or optimizers after the update. */
  optimizerState: OptimizerState;
  /** Losses, entropy and the norm of the gradient before it was clipped. */
  stats: A2CStatistics;
}

/**
 * A pure function from one set of parameters to the next.
 *
 * @example
 * ```ts
 * import { type A2CUpdate, a2cUpdate } from "@bellman/a2c";
 * import { sgd } from "@bellman/compute";
 * import { actorCritic } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * const model = actorCritic({
 *   observationSpace: { type: "discrete", n: 2 },
 *   actionSpace: { type: "discrete", n: 2 },
 *   network: "mlp",
 * });
 * const update: A2CUpdate = a2cUpdate(model, { optimizer: sgd() });
 * assertEquals(typeof update, "function");
 * ```
 */
export type A2CUpdate = (
  params: Params,
  optimizerState: OptimizerState,
  batch: A2CBatch,
  hyperparameters: A2CHyperparameters,
) => A2CUpdateResult;
