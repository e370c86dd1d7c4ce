import type { ReplayBatch } from "@bellman/agent";
import { adam, descend, type Params } from "@bellman/compute";
import {
  type CriticStep,
  criticStep,
  criticTargets,
  type DiscreteQFunction,
  eachCritic,
  meanEstimates,
  smallestEstimates,
  valuesOfActions,
} from "@bellman/policies";
import * as tf from "@tensorflow/tfjs";
import {
  discreteEntropies,
  discreteSoftValues,
  reparameterizedPolicyLoss,
} from "./losses.ts";
import type {
  SacNumbers,
  SacPolicy,
  SacState,
  SacTargetOptions,
  SacUpdates,
} from "./model.ts";
import { chosenTargets, temperatureOf, unitsOf, updatesOf } from "./steps.ts";
import { entropyBonus, type SacUpdateOptions } from "./update.ts";

/** Policy that outputs logits, and Q-functions of all discrete actions. */
export interface DiscreteSacModel {
  /** Policy. */
  readonly policy: SacPolicy;
  /** Form of the Q-functions. */
  readonly qf: DiscreteQFunction;
}

/** Options of {@link discreteSacUpdate}. */
export interface DiscreteSacUpdateOptions
  extends
    SacTargetOptions,
    Pick<SacUpdateOptions, "optimizer" | "temperatureOptimizer" | "gamma"> {
  /**
   * Target entropy of a learned temperature, as a fraction of the maximum, `log(n)`;
   * with masks of the batch's mean maximum, where a row that allows `k` actions has
   * `log(k)`.
   *
   * @default 0.98
   */
  readonly targetEntropyFactor?: number;
  /**
   * Smallest action of a batch.
   *
   * @default 0
   */
  readonly start?: number;
}

/**
 * Makes the updates of SAC for discrete actions. The Q-functions compute the values of
 * all actions at once, so expectations over the policy are exact and need no noise.
 * Otherwise it is `sacUpdate`, in the same order and with the same state.
 *
 * - `y = r + b + gamma (1 - d) sum_a' pi(a' | s') (min_i Q'_i(s', a') - alpha log pi(a'
 *   | s'))`, where `b` is 0 except for n-step replay (`entropyBonus`)
 * - `J_pi = mean(sum_a pi(a | s) (alpha log pi(a | s) - min_i Q_i(s, a)))`
 * - `J(alpha) = log(alpha) mean(H(pi(. | s)) - targetEntropy)`
 *
 * Source: Christodoulou 2019 (https://arxiv.org/abs/1910.07207), algorithm 1.
 *
 * @param model Policy and form of the Q-functions.
 * @param options Optimizer, discount, target entropy, form of the targets.
 * @returns The update, and that of the critics alone for a delayed policy.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { discreteSacUpdate, initSacState } from "@bellman/sac";
 * import { RandomStream } from "@bellman/compute";
 * import { discreteQFunction, stochasticPolicy } from "@bellman/policies";
 * import { assert } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const spaces = {
 *   observationSpace: { type: "discrete", n: 5 },
 *   actionSpace: { type: "discrete", n: 2 },
 *   networkOptions: { hiddenSizes: [8] },
 * } as const;
 * const model = {
 *   policy: stochasticPolicy(spaces),
 *   qf: discreteQFunction(spaces),
 * };
 * const state = initSacState(model, new RandomStream(1));
 * const { learn } = discreteSacUpdate(model);
 * const { results } = learn(state, {
 *   observations: tf.eye(5),
 *   actions: tf.tensor1d([0, 1, 0, 1, 0], "int32"),
 *   rewards: tf.ones([5]),
 *   terminated: tf.zeros([5]),
 *   nextObservations: tf.eye(5),
 * }, { learningRate: tf.scalar(3e-4), tau: tf.scalar(0.005) });
 * assert(results.tdErrors.arraySync().every((error) => error > 0));
 * ```
 */
export function discreteSacUpdate(
  model: DiscreteSacModel,
  options: DiscreteSacUpdateOptions = {},
): SacUpdates<SacNumbers> {
  const { policy, qf } = model;
  const { optimizer = adam(), temperatureOptimizer = optimizer } = options;
  const { targetEntropyFactor = 0.98 } = options;
  const actionCount = policy.distribution.parameterSize;
  const valueOf = options.policyValue === "mean"
    ? meanEstimates
    : smallestEstimates;
  return updatesOf<SacNumbers>({
    critics: criticsOf(model, options),
    policy(state, batch, { inputs, critics }) {
      const { observations, actionMasks, rewards } = batch;
      const alpha = temperatureOf(state, inputs), rows = rewards.shape[0];
      const q = valueOf(eachCritic(critics, (params, critic) => {
        const dropout = unitsOf(inputs, "policy", { critic, rows });
        return qf.apply(params, observations, { dropout });
      }));
      return descend(
        (params) => {
          const logProbs = logProbsOf(
            policy,
            params,
            observations,
            actionMasks,
          );
          const values = discreteSoftValues(q, logProbs, { alpha });
          const aux = { logProb: negativeEntropies(logProbs) };
          return { loss: reparameterizedPolicyLoss(values), aux };
        },
        { params: state.policy, slots: state.policySlots },
        { optimizer, learningRate: inputs.learningRate },
      );
    },
    targetEntropy({ actionMasks: masks }) {
      if (masks === undefined) {
        return targetEntropyFactor * Math.log(actionCount);
      }
      const allowed = tf.sum(tf.cast(masks, "float32"), 1);
      return tf.mul<tf.Scalar>(tf.mean(tf.log(allowed)), targetEntropyFactor);
    },
    optimizer: temperatureOptimizer,
  });
}

/** Makes the gradient step of all critics. */
function criticsOf(
  { policy, qf }: DiscreteSacModel,
  options: DiscreteSacUpdateOptions,
) {
  const { optimizer = adam(), gamma = 0.99, start } = options;
  return (
    state: SacState,
    batch: ReplayBatch,
    inputs: SacNumbers,
  ): CriticStep => {
    const alpha = temperatureOf(state, inputs);
    const { observations, nextObservations, weights } = batch;
    const actions = batch.actions as tf.Tensor1D, rows = actions.shape[0];
    const { learningRate, criticLearningRate = learningRate } = inputs;
    const between = batch.betweenObservations && negativeEntropies(
      logProbsOf(
        policy,
        state.policy,
        batch.betweenObservations,
        batch.betweenActionMasks,
      ),
    );
    const next = smallestEstimates(
      eachCritic(chosenTargets(state, inputs, options), (params, critic) => {
        const dropout = unitsOf(inputs, "targets", { critic, rows });
        return qf.apply(params, nextObservations, { dropout });
      }),
    );
    const nextLogProbs = logProbsOf(
      policy,
      state.policy,
      nextObservations,
      batch.nextActionMasks,
    );
    const targets = criticTargets({
      ...batch,
      nextValues: discreteSoftValues(next, nextLogProbs, { alpha }),
      bonus: between &&
        entropyBonus(between, batch.betweenDiscounts!, { alpha }),
    }, { ...inputs, discount: batch.discounts ?? gamma });
    const estimate = (critics: Params) =>
      eachCritic(critics, (params, critic) => {
        const dropout = unitsOf(inputs, "critics", { critic, rows });
        const all = qf.apply(params, observations, { dropout });
        return valuesOfActions(all, actions, { start });
      });
    return criticStep(
      state,
      (critics) => ({ estimates: estimate(critics), targets }),
      { weights, optimizer, learningRate: criticLearningRate },
    );
  };
}

/** Computes log-probabilities of all actions, the lowest for masked ones. */
function logProbsOf(
  policy: DiscreteSacModel["policy"],
  params: Params,
  x: tf.Tensor,
  actionMasks: tf.Tensor2D | undefined,
): tf.Tensor2D {
  return tf.logSoftmax(policy.apply(params, x, { actionMasks }).policy);
}

function negativeEntropies(logProbs: tf.Tensor2D): tf.Tensor1D {
  return tf.neg(discreteEntropies(logProbs));
}
