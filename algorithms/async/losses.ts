import type { A2CLoss, A2CLossInputs, A2CLossOptions } from "@bellman/a2c";
import type { NStepBatch } from "@bellman/agent";
import type { Params } from "@bellman/compute";
import {
  type ActorCritic,
  type Policy,
  valuesOfActions,
} from "@bellman/policies";
import type { DiscreteSpace } from "@bellman/types";
import * as tf from "@tensorflow/tfjs";
import type { AsyncConfig } from "./config.ts";

/** Loss of a window as a function of the parameters, with statistics for the log. */
export type WindowLoss = (
  params: Params,
) => { loss: tf.Scalar; aux: Record<string, tf.Scalar> };

/** Batch of a rollout window. */
export interface LearnerBatch extends NStepBatch {
  /** Parameters of the target network, if the method has one. */
  readonly target?: Params;
}

/** Policy with its loss; the same for one worker and many. */
export interface Learner<P extends Policy = Policy> {
  /** Policy to act with. */
  readonly policy: P;
  /**
   * Makes the loss of a window, summed over its steps. Targets are computed here,
   * without gradient.
   *
   * @param params Parameters to take the gradient at.
   * @param batch The window, and the target network.
   * @param numbers Weights of the loss.
   */
  lossOf(
    params: Params,
    batch: LearnerBatch,
    numbers: Readonly<Record<string, tf.Scalar>>,
  ): WindowLoss;
}

/** Targets and weights of {@link qLoss}, each `[steps]`. */
export interface QLossInputs {
  /** Targets `y`; no gradient flows through them. */
  readonly targets: tf.Tensor1D;
  /** 1 for a step, 0 for padding after a short window. */
  readonly weights: tf.Tensor1D;
}

/**
 * Computes the loss of the Q-learning methods, `sum_t (y_t - Q(s_t, a_t))^2`, without
 * the factor 1/2, as in the paper's pseudocode.
 *
 * Source: Mnih et al. 2016, algorithms 1 and S2 (https://arxiv.org/abs/1602.01783).
 *
 * @param values Q-values of the actions taken `[steps]`.
 * @param inputs Targets and weights.
 * @returns A scalar: its gradient is that of the window.
 *
 * @example
 * ```ts
 * import { qLoss } from "@bellman/async";
 * import * as tf from "@bellman/compute/tf";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const loss = qLoss(tf.tensor1d([2, 3]), {
 *   targets: tf.tensor1d([5, 0]),
 *   weights: tf.tensor1d([1, 0]), // the window has one step
 * });
 * assertEquals(loss.arraySync(), 9);
 * ```
 */
export function qLoss(
  values: tf.Tensor1D,
  { targets, weights }: QLossInputs,
): tf.Scalar {
  return tf.tidy(() => weighted(tf.square(tf.sub(targets, values)), weights));
}

/**
 * Computes the loss of A3C, summed over a window: `sum_t -log pi(a_t|s_t) (R_t -
 * V(s_t)) - beta H_t + c (R_t - V(s_t))^2`. (A2C's loss is a mean.)
 *
 * Source: Mnih et al. 2016, algorithm S3 (https://arxiv.org/abs/1602.01783).
 *
 * @param inputs Model outputs for the window, advantages, returns and weights.
 * @param options Weights of the entropy and of the value loss.
 * @returns The loss and its parts.
 *
 * @example
 * ```ts
 * import { a3cLoss } from "@bellman/async";
 * import * as tf from "@bellman/compute/tf";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const { loss } = a3cLoss({
 *   logProb: tf.tensor1d([-2, -9]),
 *   entropy: tf.tensor1d([0.5, 9]),
 *   values: tf.tensor1d([1, 9]),
 *   advantages: tf.tensor1d([3, 0]),
 *   returns: tf.tensor1d([4, 9]),
 *   weights: tf.tensor1d([1, 0]), // the window has one step
 * }, { entropyCoefficient: 0.5, valueCoefficient: 1 });
 * assertEquals(loss.arraySync(), 2 * 3 - 0.5 * 0.5 + 3 * 3);
 * ```
 */
export function a3cLoss(
  inputs: A2CLossInputs & Pick<QLossInputs, "weights">,
  options: A2CLossOptions = {},
): A2CLoss {
  const { logProb, values, advantages, returns, weights } = inputs;
  const { entropyCoefficient = 0.01, valueCoefficient = 0.5 } = options;
  return tf.tidy(() => {
    const gain = weighted(tf.mul(advantages, logProb), weights);
    const entropy = weighted(inputs.entropy, weights);
    const error = weighted(tf.squaredDifference(values, returns), weights);
    const policyLoss = tf.neg(gain), steps = tf.sum(weights);
    return {
      loss: tf.add<tf.Scalar>(
        tf.sub(policyLoss, tf.mul(entropy, entropyCoefficient)),
        tf.mul(error, valueCoefficient),
      ),
      policyLoss: tf.div<tf.Scalar>(policyLoss, steps),
      valueLoss: tf.div<tf.Scalar>(error, steps),
      entropy: tf.div<tf.Scalar>(entropy, steps),
    };
  });
}

/** Sums values of a window `[steps]` over its valid steps. */
function weighted(numbers: tf.Tensor, weights: tf.Tensor1D): tf.Scalar {
  return tf.sum(tf.mul(numbers, weights));
}

/** Returns the rows of a window's steps, without the one to bootstrap from. */
function stepsOf<T extends tf.Tensor>(rows: T): T {
  return tf.slice(rows, 0, rows.shape[0] - 1);
}

/**
 * Makes the learner of a Q-function: the loss of each step is `(y - Q(s, a; theta))^2`
 * with `y = r + gamma ... + gamma^k Q(s', a'; theta-)`, where `a'` is the best action
 * or, for Sarsa, the next one taken.
 *
 * @param policy Policy whose output `policy` holds the Q-values of all actions.
 * @param options Smallest action.
 * @returns The learner.
 *
 * @example
 * ```ts
 * import { qLearner } from "@bellman/async";
 * import { qPolicy } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * const { policy } = qLearner(qPolicy({
 *   observationSpace: { type: "discrete", n: 4 },
 *   actionSpace: { type: "discrete", n: 2 },
 * }));
 * assertEquals(policy.distribution.actionShape, []);
 * ```
 */
export function qLearner(
  policy: Policy,
  { start }: Pick<DiscreteSpace, "start"> = {},
): Learner {
  const valuesAt = (qValues: tf.Tensor2D, actions: tf.Tensor) =>
    valuesOfActions(qValues, actions as tf.Tensor1D, { start });
  return {
    policy,
    lossOf(_params, batch) {
      const { actions, lastRow, nextIsBest, weights } = batch;
      const last = tf.gather(batch.observations, lastRow);
      // Values of forbidden actions are below all others.
      const { policy: next } = policy.apply(batch.target!, last, {
        actionMasks: batch.actionMasks && tf.gather(batch.actionMasks, lastRow),
      });
      const value = tf.where(
        tf.cast(nextIsBest, "bool"),
        tf.max(next, 1),
        valuesAt(next, batch.nextAction),
      );
      const future = tf.mul(batch.discounts, value);
      const targets = tf.add<tf.Tensor1D>(batch.returns, future);
      const observations = stepsOf(batch.observations);
      return (params) => {
        const { policy: qValues } = policy.apply(params, observations);
        const values = valuesAt(qValues, actions);
        const mean = (it: tf.Tensor) =>
          tf.div<tf.Scalar>(weighted(it, weights), tf.sum(weights));
        return {
          loss: qLoss(values, { targets, weights }),
          aux: { q_mean: mean(values), target_mean: mean(targets) },
        };
      };
    },
  };
}

/**
 * Makes the learner of A3C, with advantages from the returns of a window.
 *
 * @param policy Actor-critic.
 * @param config Weight of the value loss.
 * @returns The learner.
 *
 * @example
 * ```ts
 * import { a3cLearner } from "@bellman/async";
 * import { actorCritic } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * const { policy } = a3cLearner(actorCritic({
 *   observationSpace: { type: "discrete", n: 4 },
 *   actionSpace: { type: "discrete", n: 2 },
 *   network: "lstm",
 * }), { valueCoefficient: 0.5 });
 * assertEquals(policy.stateSize, 256);
 * ```
 */
export function a3cLearner(
  policy: ActorCritic,
  { valueCoefficient }: Pick<AsyncConfig, "valueCoefficient">,
): Learner<ActorCritic> {
  const { distribution } = policy;
  return {
    policy,
    lossOf(params, batch, { entropyCoefficient }) {
      const { observations, actions, weights } = batch;
      const { value } = policy.apply(params, observations, batch);
      const lastValue = tf.gather(value, batch.lastRow);
      const future = tf.mul(batch.discounts, lastValue);
      const returns = tf.add<tf.Tensor1D>(batch.returns, future);
      const advantages = tf.sub<tf.Tensor1D>(returns, stepsOf(value));
      return (params) => {
        const output = policy.apply(params, observations, batch);
        const parameters = stepsOf(output.policy);
        const { loss, policyLoss, valueLoss, entropy } = a3cLoss({
          logProb: distribution.logProb(parameters, actions),
          entropy: distribution.entropy(parameters),
          values: stepsOf(output.value),
          advantages,
          returns,
          weights,
        }, { entropyCoefficient, valueCoefficient });
        return {
          loss,
          aux: { policy_loss: policyLoss, value_loss: valueLoss, entropy },
        };
      };
    },
  };
}
