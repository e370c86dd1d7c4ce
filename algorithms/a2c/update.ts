import type { RolloutBatch } from "@bellman/agent";
import { type Params, tidy } from "@bellman/compute";
import type { ActorCritic } from "@bellman/policies";
import * as tf from "@tensorflow/tfjs";
import { a2cLoss, type A2CLossInputs } from "./loss.ts";
import {
  type ActorCriticRates,
  type ActorCriticState,
  actorCriticSteps,
  type ActorCriticStepsOptions,
} from "./objectives.ts";

/** Rollout batch; rows are `env * numSteps + step`. */
export type A2CBatch = RolloutBatch & {
  /** Advantages of the actions `[batch]`. */
  readonly advantages: tf.Tensor1D;
  /** Bootstrapped returns, the value targets `[batch]`. */
  readonly returns: tf.Tensor1D;
};

/** Scheduled hyperparameters, as tensors. */
export interface A2CHyperparameters extends ActorCriticRates {
  /** Weight of the entropy. */
  readonly entropyCoefficient: tf.Scalar;
}

/** Statistics of an update by name; all scalars. */
export type A2CStatistics = Record<
  "loss" | "policy_loss" | "value_loss" | "entropy" | "grad_norm",
  tf.Scalar
>;

/** Training state of A2C. */
export type A2CState = ActorCriticState;

/** Result of an update, in new tensors; its inputs stay valid. */
export interface A2CUpdateResult {
  /** State after the update. */
  readonly state: A2CState;
  /** Losses, entropy and the gradient norm before clipping. */
  readonly stats: A2CStatistics;
}

/** Update as a pure function from one training state to the next. */
export type A2CUpdate = (
  state: A2CState,
  batch: A2CBatch,
  hyperparameters: A2CHyperparameters,
) => A2CUpdateResult;

/**
 * Makes A2C's update of a model: losses, gradients, clipping and optimizer step as one
 * pure function of tensors, which can be traced and compiled.
 *
 * Shared objective: one optimizer minimizes `policyLoss - entropyCoefficient * entropy
 * + valueCoefficient * valueLoss`. Separate objectives, with a `valueOptimizer`: the
 * policy optimizer minimizes `policyLoss - entropyCoefficient * entropy` and the other
 * `valueLoss`. Both gradients are taken at the same parameters; a shared trunk takes
 * both steps.
 *
 * Source: baselines/a2c/a2c.py, lines 28-110; `optimize_shared` and `optimize_separate`
 * of jrobine/actor-critic.
 *
 * @param model Policy and value function.
 * @param options Optimizers, weight of the value loss, gradient clipping.
 * @returns The update.
 *
 * @example
 * ```ts
 * import { a2cUpdate, initA2CState } from "@bellman/a2c";
 * import { RandomStream, rmspropTf1 } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { actorCritic } from "@bellman/policies";
 * import { assert } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const model = actorCritic({
 *   observationSpace: { type: "discrete", n: 2 },
 *   actionSpace: { type: "discrete", n: 2 },
 *   network: "mlp",
 * });
 * const optimizer = rmspropTf1();
 * const state = initA2CState(model.init(new RandomStream(1)), { optimizer });
 * const update = a2cUpdate(model, { optimizer });
 * const { stats } = update(state, {
 *   observations: model.observationTensor(new Int32Array([0, 1]), 2),
 *   actions: tf.tensor1d([0, 1], "int32"),
 *   advantages: tf.tensor1d([1, -1]),
 *   returns: tf.tensor1d([1, 0]),
 * }, {
 *   learningRate: tf.scalar(7e-4),
 *   entropyCoefficient: tf.scalar(0.01),
 * });
 * assert(stats.grad_norm.arraySync() > 0);
 * ```
 */
export function a2cUpdate(
  model: ActorCritic,
  options: ActorCriticStepsOptions,
): A2CUpdate {
  const { descend } = actorCriticSteps(options);
  return (state, batch, { entropyCoefficient, ...rates }) =>
    tidy(() =>
      descend(state, (params) => {
        const parts = a2cLoss(evaluateBatch(model, params, batch));
        const { policyLoss, valueLoss, entropy } = parts;
        return {
          policy: tf.sub(policyLoss, tf.mul(entropy, entropyCoefficient)),
          value: valueLoss,
          stats: {
            policy_loss: policyLoss,
            value_loss: valueLoss,
            entropy,
          },
        };
      }, rates) as A2CUpdateResult
    );
}

/**
 * Makes the initial training state of A2C.
 *
 * @param params Parameters of the model.
 * @param options Options of the update.
 * @returns Parameters and new optimizer state.
 *
 * @example
 * ```ts
 * import { initA2CState } from "@bellman/a2c";
 * import { rmspropTf1 } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const params = { "pi/head/bias": tf.zeros([2]) };
 * const state = initA2CState(params, { optimizer: rmspropTf1() });
 * assertEquals(Object.keys(state.optimizer), ["rms/pi/head/bias"]);
 * ```
 */
export function initA2CState(
  params: Params,
  options: Pick<ActorCriticStepsOptions, "optimizer" | "valueOptimizer">,
): A2CState {
  return actorCriticSteps(options).init(params);
}

/** Inputs of the loss and parameters of the action distributions. */
export interface A2CEvaluation extends A2CLossInputs {
  /** Parameters of the action distributions `[batch, parameterSize]`. */
  readonly policy: tf.Tensor2D;
}

/**
 * Evaluates a model on a batch, for the loss.
 *
 * @param model Policy and value function.
 * @param params Parameters of the model.
 * @param batch Rollout batch.
 * @returns Inputs of `a2cLoss`, and parameters of the action distributions.
 *
 * @example
 * ```ts
 * import { evaluateBatch } from "@bellman/a2c";
 * import { RandomStream } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { actorCritic } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const model = actorCritic({
 *   observationSpace: { type: "discrete", n: 2 },
 *   actionSpace: { type: "discrete", n: 3 },
 *   network: "mlp",
 * });
 * const { policy, values } = evaluateBatch(model, model.init(new RandomStream(1)), {
 *   observations: model.observationTensor(new Int32Array([0, 1]), 2),
 *   actions: tf.tensor1d([0, 1], "int32"),
 *   advantages: tf.tensor1d([1, -1]),
 *   returns: tf.tensor1d([1, 0]),
 * });
 * assertEquals([policy.shape, values.shape], [[2, 3], [2]]);
 * ```
 */
export function evaluateBatch(
  model: ActorCritic,
  params: Params,
  batch: A2CBatch,
): A2CEvaluation {
  const { observations, actions, advantages, returns } = batch;
  const { policy, value } = model.apply(params, observations, batch);
  return {
    policy,
    logProb: model.distribution.logProb(policy, actions),
    entropy: model.distribution.entropy(policy),
    values: value,
    advantages,
    returns,
  };
}
