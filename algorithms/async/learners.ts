import {
  type A2CLoss,
  a2cLoss,
  type A2CLossInputs,
  type A2CLossOptions,
} from "@bellman/a2c";
import type { AgentContext, Tensors } from "@bellman/agent";
import { type Params, unflattenParams } from "@bellman/compute";
import {
  type ActorCritic,
  type Policy,
  stochasticPolicy,
} from "@bellman/policies";
import type { DiscreteSpace } from "@bellman/types";
import * as tf from "@tensorflow/tfjs";
import type { AsyncConfig } from "./config.ts";

/** Loss of a window as a function of the parameters, with statistics for the log. */
export type WindowLoss = (
  params: Params,
) => { loss: tf.Scalar; aux: Record<string, tf.Scalar> };

/** A policy and the loss that it learns by: the same for one worker and for many. */
export interface Learner<P extends Policy = Policy> {
  /** Policy that acts. */
  readonly policy: P;
  /**
   * Makes the loss of a window, summed over its steps. What it is learned towards
   * is computed here: no gradient flows through it. All of it is compiled.
   *
   * @param params Parameters that the gradient is taken at.
   * @param batch Tensors of {@link Windows}, and `target`, the target network.
   * @param numbers Weights of the loss.
   */
  lossOf(
    params: Params,
    batch: Tensors,
    numbers: Readonly<Record<string, tf.Scalar>>,
  ): WindowLoss;
}

/**
 * Picks the value of an action in each row.
 *
 * @param q Values of all actions `[rows, n]`.
 * @param actions Actions `[rows]`, counted from 0.
 * @returns Values `[rows]`.
 *
 * @example
 * ```ts
 * import { valuesOfActions } from "@bellman/async";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const q = tf.tensor2d([[1, 2], [3, 4]]);
 * const values = valuesOfActions(q, tf.tensor1d([1, 0], "int32"));
 * assertEquals(values.arraySync(), [2, 3]);
 * ```
 */
export function valuesOfActions(
  q: tf.Tensor2D,
  actions: tf.Tensor1D,
): tf.Tensor1D {
  return tf.tidy(() => {
    const all = tf.range(0, q.shape[1], 1, "int32");
    const chosen = tf.equal(tf.expandDims(actions, 1), all);
    return tf.sum(tf.mul(q, tf.cast(chosen, "float32")), 1);
  });
}

/** Inputs of {@link qLoss} beside the values, each `[steps]`. */
export interface QLossInputs {
  /** Actions taken, counted from 0. */
  readonly actions: tf.Tensor1D;
  /** Targets `y`: constants, through which no gradient flows. */
  readonly targets: tf.Tensor1D;
  /** 1 for a step, 0 for a row after the last step of a short window. */
  readonly weights: tf.Tensor1D;
}

/**
 * Computes the loss of the Q methods, `sum_t (y_t - Q(s_t, a_t))^2`, without the
 * factor 1/2, as in the paper's pseudocode.
 *
 * Source: Mnih et al. 2016, algorithms 1 and S2 (https://arxiv.org/abs/1602.01783).
 *
 * @param q Values of all actions `[steps, n]`.
 * @param inputs Actions, targets and weights.
 * @returns A scalar: its gradient is that of the window.
 *
 * @example
 * ```ts
 * import { qLoss } from "@bellman/async";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const loss = qLoss(tf.tensor2d([[1, 2], [3, 4]]), {
 *   actions: tf.tensor1d([1, 0], "int32"),
 *   targets: tf.tensor1d([5, 0]),
 *   weights: tf.tensor1d([1, 0]), // the window has one step
 * });
 * assertEquals(loss.arraySync(), 9);
 * ```
 */
export function qLoss(
  q: tf.Tensor2D,
  { actions, targets, weights }: QLossInputs,
): tf.Scalar {
  return tf.tidy(() => {
    const errors = tf.sub(targets, valuesOfActions(q, actions));
    return tf.sum(tf.mul(weights, tf.square(errors)));
  });
}

/**
 * Computes the loss of A3C: A2C's, of a window that may be short, and summed where A2C takes
 * the mean: `sum_t -log pi(a_t|s_t) (R_t - V(s_t)) - beta H_t + c (R_t - V(s_t))^2`.
 *
 * Source: Mnih et al. 2016, algorithm S3 (https://arxiv.org/abs/1602.01783).
 *
 * @param inputs Outputs of the model for the window, advantages, returns and weights.
 * @param options Weights of the entropy and of the value's error.
 * @returns The loss and its parts.
 *
 * @example
 * ```ts
 * import { a3cLoss } from "@bellman/async";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
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
  return tf.tidy(() => {
    const { logProb, entropy, values, advantages, returns, weights } = inputs;
    const own = <T extends tf.Tensor>(numbers: T) =>
      tf.mul<T>(numbers, weights);
    const parts = a2cLoss({
      logProb,
      entropy: own(entropy),
      values: own(values),
      advantages: own(advantages),
      returns: own(returns),
    }, options);
    const rows = weights.shape[0];
    const scale = tf.div(rows, tf.sum(weights));
    const mean = (part: tf.Scalar) => tf.mul<tf.Scalar>(part, scale);
    return {
      loss: tf.mul<tf.Scalar>(parts.loss, rows),
      policyLoss: mean(parts.policyLoss),
      valueLoss: mean(parts.valueLoss),
      entropy: mean(parts.entropy),
    };
  });
}

/** Mean of numbers of a window `[steps]` over its own steps. */
function meanOf(numbers: tf.Tensor, weights: tf.Tensor): tf.Scalar {
  return tf.div(tf.sum(tf.mul(numbers, weights)), tf.sum(weights)) as tf.Scalar;
}

/** Returns the first rows, as many as a window has steps: the last is of what followed. */
function stepsOf<T extends tf.Tensor>(rows: T): T {
  const { shape } = rows;
  const size = [shape[0] - 1, ...shape.slice(1)];
  return tf.slice(rows, shape.map(() => 0), size) as T;
}

/**
 * Makes the learner of a Q function: the loss of each step is
 * `(y - Q(s, a; theta))^2` with `y = r + gamma ... + gamma^k Q(s', a'; theta-)`,
 * where `a'` is the best action, or the next one of Sarsa.
 *
 * @param policy Policy whose `policy` outputs are the values of all actions.
 * @param options Smallest action.
 * @returns The learner.
 *
 * @example
 * ```ts
 * import { qLearner, qPolicy } from "@bellman/async";
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
  { start = 0 }: Pick<DiscreteSpace, "start"> = {},
): Learner {
  const indexOf = (actions: tf.Tensor) =>
    tf.sub<tf.Tensor1D>(actions, tf.scalar(start, "int32"));
  return {
    policy,
    lossOf(params, batch) {
      const { returns, discounts, nextIsBest } = batch;
      const weights = batch.weights as tf.Tensor1D;
      const actions = indexOf(batch.actions);
      const target = unflattenParams(batch.target as tf.Tensor1D, params);
      const last = tf.gather(batch.observations, batch.lastRow as tf.Tensor1D);
      const { policy: next } = policy.apply(target, policy.encode(last));
      const value = tf.where(
        tf.cast(nextIsBest, "bool"),
        tf.max(next, 1),
        valuesOfActions(next, indexOf(batch.nextAction)),
      );
      const targets = tf.add<tf.Tensor1D>(returns, tf.mul(discounts, value));
      const observations = policy.encode(stepsOf(batch.observations));
      return (params) => {
        const { policy: values } = policy.apply(params, observations);
        const q = meanOf(valuesOfActions(values, actions), weights);
        return {
          loss: qLoss(values, { actions, targets, weights }),
          aux: { q_mean: q, target_mean: meanOf(targets, weights) },
        };
      };
    },
  };
}

/** Spaces and network of {@link qPolicy}. */
export type QPolicyOptions =
  & Pick<AgentContext, "observationSpace" | "actionSpace">
  & Partial<Pick<AsyncConfig, "network" | "hiddenSizes" | "activation">>;

/**
 * Makes a policy that takes the best action by a Q function; what explores chooses in
 * its place.
 *
 * @param options Spaces and network.
 * @returns The policy; its output `policy` holds the values of all actions.
 * @throws {TypeError} If actions are not discrete.
 * @throws {RangeError} If the network is recurrent.
 *
 * @example
 * ```ts
 * import { qPolicy } from "@bellman/async";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const policy = qPolicy({
 *   observationSpace: { type: "discrete", n: 4 },
 *   actionSpace: { type: "discrete", n: 3 },
 * });
 * const best = policy.mode({ policy: tf.tensor2d([[0, 2, 1]]) });
 * assertEquals(best.arraySync(), [1]);
 * ```
 */
export function qPolicy(options: QPolicyOptions): Policy {
  const { observationSpace, actionSpace, network = "mlp" } = options;
  const { hiddenSizes = [64, 64], activation = "tanh" } = options;
  if (actionSpace.type !== "discrete") {
    throw new TypeError(
      `Cannot learn values of ${actionSpace.type} actions: expected discrete actions, or the algorithm a3c`,
    );
  }
  const policy = stochasticPolicy({
    observationSpace,
    actionSpace,
    network,
    networkOptions: {
      // After the convolutions comes no mlp.
      hiddenSizes: network === "mlp" ? hiddenSizes : [],
      activation,
    },
  });
  // Values take the place of logits: the best action is the likeliest one.
  return { ...policy, sample: (_, output) => policy.mode(output) };
}

/**
 * Makes the learner of A3C: policy and values, learned from the returns of a window.
 *
 * @param policy Actor-critic.
 * @param config Weight of the value's error.
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
  return {
    policy,
    lossOf(params, batch, { entropyCoefficient }) {
      const { state, masks, actions, lastRow } = batch;
      const recurrence = state && {
        state: state as tf.Tensor2D,
        masks: masks as tf.Tensor1D,
      };
      const observations = policy.encode(batch.observations);
      const weights = batch.weights as tf.Tensor1D;
      const { value } = policy.apply(params, observations, recurrence);
      const lastValue = tf.gather(value, lastRow as tf.Tensor1D);
      const returns = tf.add<tf.Tensor1D>(
        batch.returns,
        tf.mul(batch.discounts, lastValue),
      );
      const advantages = tf.sub<tf.Tensor1D>(returns, stepsOf(value));
      return (params) => {
        const output = policy.apply(params, observations, recurrence);
        const parameters = stepsOf(output.policy);
        const { loss, policyLoss, valueLoss, entropy } = a3cLoss({
          logProb: policy.distribution.logProb(parameters, actions),
          entropy: policy.distribution.entropy(parameters),
          values: stepsOf(output.value),
          advantages,
          returns,
          weights,
        }, { entropyCoefficient, valueCoefficient });
        const aux = {
          policy_loss: policyLoss,
          value_loss: valueLoss,
          entropy,
        };
        return { loss, aux };
      };
    },
  };
}
