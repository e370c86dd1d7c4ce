import type { AgentContext, Tensors } from "@bellman/agent";
import {
  type Params,
  unflattenParams,
  valueAndGradients,
} from "@bellman/compute";
import {
  type ActorCritic,
  actorCritic,
  categorical,
  discreteQFunction,
  observationEncoder,
  type Policy,
} from "@bellman/policies";
import type { DiscreteSpace } from "@bellman/types";
import * as tf from "@tensorflow/tfjs";
import type { AsyncConfig } from "./config.ts";
import { a3cLoss, qLoss, valuesOfActions } from "./losses.ts";

/** Gradient of a window, and statistics for the log. */
export interface WindowGradient {
  /** Gradient of the window's summed loss, by path. */
  readonly gradients: Params;
  /** Scalars. */
  readonly stats: Readonly<Record<string, tf.Scalar>>;
}

/** A policy and the gradient that it learns by: the same for one worker and for many. */
export interface Learner<P extends Policy = Policy> {
  /** Policy that acts. */
  readonly policy: P;
  /**
   * Computes the gradient of a window, as a pure function that is compiled.
   *
   * @param params Parameters that it is taken at.
   * @param batch Tensors of `windows(...)`, and `target`, the target network.
   * @param numbers Weights of the loss.
   */
  gradient(
    params: Params,
    batch: Tensors,
    numbers: Readonly<Record<string, tf.Scalar>>,
  ): WindowGradient;
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
    gradient(params, batch) {
      const { last, returns, discounts, nextIsBest } = batch;
      const target = unflattenParams(batch.target as tf.Tensor1D, params);
      const { policy: next } = policy.apply(target, policy.encode(last));
      const ofNext = valuesOfActions(next, indexOf(batch.nextAction));
      const value = tf.where(
        tf.cast(nextIsBest, "bool"),
        tf.max(next, 1),
        ofNext,
      );
      const targets = tf.add<tf.Tensor1D>(returns, tf.mul(discounts, value));
      const observations = policy.encode(stepsOf(batch.observations));
      const { loss, aux, gradients } = valueAndGradients((params) => {
        const { policy: q } = policy.apply(params, observations);
        const actions = indexOf(batch.actions);
        const weights = batch.weights as tf.Tensor1D;
        const loss = qLoss(q, { actions, targets, weights });
        return { loss, aux: { q: valuesOfActions(q, actions) } };
      }, params);
      const stats = {
        loss,
        q: meanOf(aux.q, batch.weights),
        target: meanOf(targets, batch.weights),
      };
      return { gradients, stats };
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
  const values = discreteQFunction({
    observationSpace,
    actionSpace,
    network,
    // After the convolutions comes no mlp.
    networkOptions: network === "mlp" ? { hiddenSizes, activation } : {
      hiddenSizes: [],
      activation,
    },
  });
  const distribution = categorical(actionSpace.n, { start: actionSpace.start });
  return {
    ...observationEncoder(observationSpace),
    stateSize: 0,
    distribution,
    noise: distribution.noise,
    usesStateDependentExploration: false,
    squashesActions: false,
    init: values.init,
    apply: (params, observations) => ({
      policy: values.apply(params, observations),
    }),
    sample: (_, output) => distribution.mode(output.policy),
    mode: (output) => distribution.mode(output.policy),
  };
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
    gradient(params, batch, { entropyCoefficient }) {
      const { state, masks, actions } = batch;
      const recurrence = state && {
        state: state as tf.Tensor2D,
        masks: masks as tf.Tensor1D,
      };
      const observations = policy.encode(batch.observations);
      const weights = batch.weights as tf.Tensor1D;
      // Outside of the gradient: no gradient flows through returns.
      const { value } = policy.apply(params, observations, recurrence);
      const lastValue = tf.sum(tf.mul(value, batch.isLast));
      const targets = tf.add<tf.Tensor1D>(
        batch.returns,
        tf.mul(batch.discounts, lastValue),
      );
      const { loss, aux, gradients } = valueAndGradients((params) => {
        const output = policy.apply(params, observations, recurrence);
        const parameters = stepsOf(output.policy);
        const { loss, ...parts } = a3cLoss({
          logProb: policy.distribution.logProb(parameters, actions),
          entropy: policy.distribution.entropy(parameters),
          values: stepsOf(output.value),
          baselines: stepsOf(value),
          targets,
          weights,
        }, { entropyCoefficient, valueCoefficient });
        return { loss, aux: { ...parts } };
      }, params);
      const stats = {
        loss,
        policy_loss: aux.policyLoss,
        value_loss: aux.valueLoss,
        policy_entropy: aux.entropy,
      };
      return { gradients, stats };
    },
  };
}

/**
 * Makes the actor-critic of a configuration.
 *
 * @param config All settings.
 * @param spaces Spaces of one environment.
 * @returns The policy and the values.
 *
 * @example
 * ```ts
 * import { a3cPolicy, defaultAsyncConfig } from "@bellman/async";
 * import { assertEquals } from "@std/assert";
 *
 * const policy = a3cPolicy(defaultAsyncConfig, {
 *   observationSpace: { type: "discrete", n: 4 },
 *   actionSpace: { type: "discrete", n: 2 },
 * });
 * assertEquals(policy.stateSize, 0);
 * ```
 */
export function a3cPolicy(
  { network, hiddenSizes, activation, lstmSize, valueNetwork }: AsyncConfig,
  spaces: Pick<AgentContext, "observationSpace" | "actionSpace">,
): ActorCritic {
  return actorCritic({
    ...spaces,
    network,
    networkOptions: { hiddenSizes, activation, lstmSize },
    valueNetwork,
  });
}
