import { adam, type Optimizer, type Params } from "@bellman/compute";
import * as tf from "@tensorflow/tfjs";
import {
  discreteEntropies,
  discreteSoftValues,
  valuesOfActions,
} from "./losses.ts";
import type { DiscreteSacModel, DiscreteSacUpdate } from "./model.ts";
import { ofBoth, smaller } from "./steps.ts";
import { twinUpdate } from "./update.ts";

/** Options of {@link discreteSacUpdate}. */
export interface DiscreteSacUpdateOptions {
  /**
   * Optimizer of the policy, the critics and the temperature, with slots for
   * each.
   *
   * @default adam()
   */
  readonly optimizer?: Optimizer;
  /**
   * Discount, where the batch has none of its own.
   *
   * @default 0.99
   */
  readonly gamma?: number;
  /**
   * Mean entropy that a learned temperature holds the policy to, as a share of
   * the largest there is, `log(n)`.
   *
   * @default 0.98
   */
  readonly targetEntropyFactor?: number;
}

/**
 * Makes the update of soft actor-critic for discrete actions. The Q functions
 * give the values of all actions at once, so that expectations over the policy
 * are exact and there is no noise. Otherwise it is as `sacUpdate`, in the same
 * order and over the same state.
 *
 * - `y = r + b + gamma (1 - d) sum_a' pi(a' | s') (min_i Q'_i(s', a') - alpha
 *   log pi(a' | s'))`, where `b` is 0 but for n-step replay (`entropyBonus`)
 * - `J_pi = mean(sum_a pi(a | s) (alpha log pi(a | s) - min_i Q_i(s, a)))`
 * - `J(alpha) = log(alpha) mean(H(pi(. | s)) - targetEntropy)`
 *
 * Source: Christodoulou 2019 (https://arxiv.org/abs/1910.07207), algorithm 1.
 *
 * @param model The policy and the form of the Q functions.
 * @param options Optimizer, discount and entropy.
 * @returns The update.
 *
 * @example
 * ```ts
 * import { discreteSacUpdate, initSacState } from "@bellman/sac";
 * import { RandomStream } from "@bellman/compute";
 * import { discreteQFunction, stochasticPolicy } from "@bellman/policies";
 * import { assert } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
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
 * const { tdErrors } = update(state, {
 *   observations: tf.eye(5),
 *   actions: tf.tensor1d([0, 1, 0, 1, 0], "int32"),
 *   rewards: tf.ones([5]),
 *   terminated: tf.zeros([5]),
 *   nextObservations: tf.eye(5),
 * }, { learningRate: tf.scalar(3e-4), tau: tf.scalar(0.005) });
 * assert(tdErrors.arraySync().every((error) => error > 0));
 * ```
 */
export function discreteSacUpdate(
  model: DiscreteSacModel,
  options: DiscreteSacUpdateOptions = {},
): DiscreteSacUpdate {
  const { policy, qf } = model;
  const { optimizer = adam(), gamma = 0.99 } = options;
  const { targetEntropyFactor = 0.98 } = options;
  const actionCount = policy.distribution.parameterSize;

  const logProbsOf = (params: Params, x: tf.Tensor) =>
    tf.logSoftmax(policy.apply(params, x).policy) as tf.Tensor2D;
  const lowest = (critics: Params, x: tf.Tensor) =>
    smaller(ofBoth(critics, (params) => qf.apply(params, x)));
  const negativeEntropies = (logProbs: tf.Tensor2D): tf.Tensor1D =>
    tf.neg(discreteEntropies(logProbs));

  return twinUpdate({
    optimizer,
    gamma,
    targetEntropy: targetEntropyFactor * Math.log(actionCount),
    nextValues: (state, { nextObservations }, alpha) =>
      discreteSoftValues(
        lowest(state.targets, nextObservations),
        logProbsOf(state.policy, nextObservations),
        { alpha },
      ),
    logProbsBetween: (params, x) => negativeEntropies(logProbsOf(params, x)),
    estimate: (critics, { observations, actions }) =>
      ofBoth(critics, (params) =>
        valuesOfActions(
          qf.apply(params, observations),
          actions as tf.Tensor1D,
        )),
    act(critics, { observations }, alpha) {
      const q = lowest(critics, observations);
      return (params) => {
        const logProbs = logProbsOf(params, observations);
        return {
          values: discreteSoftValues(q, logProbs, { alpha }),
          logProb: negativeEntropies(logProbs),
        };
      };
    },
  });
}
