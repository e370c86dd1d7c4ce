import { adam, descend, type Params, tidy } from "@bellman/compute";
import {
  criticStep,
  criticTargets,
  type DiscreteQFunction,
  eachCritic,
  smallestEstimates,
  valuesOfActions,
} from "@bellman/policies";
import * as tf from "@tensorflow/tfjs";
import {
  discreteEntropies,
  discreteSoftValues,
  reparameterizedPolicyLoss,
} from "./losses.ts";
import type { SacNumbers, SacPolicy, SacUpdate } from "./model.ts";
import { afterSteps, temperatureOf } from "./steps.ts";
import { entropyBonus, type SacUpdateOptions } from "./update.ts";

/** Policy that outputs logits, and Q-functions of all discrete actions. */
export interface DiscreteSacModel {
  /** Policy. */
  readonly policy: SacPolicy;
  /** Form of both Q-functions. */
  readonly qf: DiscreteQFunction;
}

/** Options of {@link discreteSacUpdate}. */
export interface DiscreteSacUpdateOptions
  extends Pick<SacUpdateOptions, "optimizer" | "gamma"> {
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
 * Makes the update of SAC for discrete actions. The Q-functions compute the values of
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
 * @param options Optimizer, discount and target entropy.
 * @returns The update.
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
 * const update = discreteSacUpdate(model);
 * const { results } = update(state, {
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
  { policy, qf }: DiscreteSacModel,
  options: DiscreteSacUpdateOptions = {},
): SacUpdate<SacNumbers> {
  const { optimizer = adam(), gamma = 0.99 } = options;
  const { targetEntropyFactor = 0.98, start } = options;
  const actionCount = policy.distribution.parameterSize;
  const targetEntropyOf = (masks: tf.Tensor2D | undefined) => {
    if (masks === undefined) return targetEntropyFactor * Math.log(actionCount);
    const allowed = tf.sum(tf.cast(masks, "float32"), 1);
    return tf.mul<tf.Scalar>(tf.mean(tf.log(allowed)), targetEntropyFactor);
  };
  const logProbsOf = (
    params: Params,
    x: tf.Tensor,
    actionMasks: tf.Tensor2D | undefined,
  ) =>
    tf.logSoftmax(
      policy.apply(params, x, { actionMasks }).policy,
    ) as tf.Tensor2D;
  const lowest = (critics: Params, x: tf.Tensor) =>
    smallestEstimates(eachCritic(critics, (params) => qf.apply(params, x)));
  const negativeEntropies = (logProbs: tf.Tensor2D): tf.Tensor1D =>
    tf.neg(discreteEntropies(logProbs));

  return (state, batch, inputs) =>
    tidy(() => {
      const { observations, nextObservations, actionMasks, weights } = batch;
      const actions = batch.actions as tf.Tensor1D;
      const { learningRate, criticLearningRate = learningRate } = inputs;
      const alpha = temperatureOf(state, inputs);

      const between = batch.betweenObservations &&
        negativeEntropies(
          logProbsOf(
            state.policy,
            batch.betweenObservations,
            batch.betweenActionMasks,
          ),
        );
      const targets = criticTargets({
        ...batch,
        nextValues: discreteSoftValues(
          lowest(state.targets, nextObservations),
          logProbsOf(state.policy, nextObservations, batch.nextActionMasks),
          { alpha },
        ),
        bonus: between &&
          entropyBonus(between, batch.betweenDiscounts!, { alpha }),
      }, { ...inputs, discount: batch.discounts ?? gamma });
      const critics = criticStep(
        state,
        (critics) => ({
          estimates: eachCritic(critics, (params) =>
            valuesOfActions(qf.apply(params, observations), actions, {
              start,
            })),
          targets,
        }),
        { weights, optimizer, learningRate: criticLearningRate },
      );

      const q = lowest(critics.params, observations);
      const actor = descend(
        (params) => {
          const logProbs = logProbsOf(params, observations, actionMasks);
          const values = discreteSoftValues(q, logProbs, { alpha });
          const aux = { logProb: negativeEntropies(logProbs) };
          return { loss: reparameterizedPolicyLoss(values), aux };
        },
        { params: state.policy, slots: state.policySlots },
        { optimizer, learningRate },
      );

      return afterSteps(state, { critics, actor, alpha }, {
        targetEntropy: targetEntropyOf(actionMasks),
        optimizer,
        inputs,
      });
    });
}
