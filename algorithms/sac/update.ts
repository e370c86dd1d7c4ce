import { adam, type Optimizer, type Params, tidy } from "@bellman/compute";
import * as tf from "@tensorflow/tfjs";
import { bothLosses, entropiesBetween, ofBoth, smaller } from "./_critics.ts";
import { descend } from "./_descend.ts";
import { criticTargets, softValues } from "./loss.ts";
import { isMixture } from "./_mixture.ts";
import type { SacModel } from "./model.ts";
import { reparameterizedPolicyLoss } from "./policy_loss.ts";
import { resultOf } from "./_result.ts";
import { temperatureOf, temperatureStep } from "./_temperature.ts";
import type { SacUpdate } from "./update_types.ts";

/** Options of {@link sacUpdate}. */
export interface SacUpdateOptions {
  /**
   * Turns gradients into steps: of the policy, the critics and the temperature
   * with slots for each.
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
   * Mean entropy that a learned temperature holds the policy to, in nats.
   *
   * @default -(numbers in one action)
   */
  readonly targetEntropy?: number;
}

/**
 * Makes the update of soft actor-critic as it is used today: two Q functions
 * with target networks, no V function, a temperature that is learned or given.
 * It is one pure function of tensors that reads none of them, so that it can
 * be traced.
 *
 * The order is that of Stable-Baselines3: the temperature before the update is
 * used throughout; both critics take one step; the policy takes its step
 * against the new critics; at last the target networks move.
 *
 * - `J_Q = sum_i mean(w (Q_i(s, a) - y)^2) / 2` with
 *   `y = r + b + gamma (1 - d) (min_i Q'_i(s', a') - alpha log pi(a' | s'))`,
 *   where `b` is 0 but for n-step replay (`entropyBonus`)
 * - `J_pi = mean(alpha log pi(a | s) - min_i Q_i(s, a))`
 * - `J(alpha) = -log(alpha) mean(log pi(a | s) + targetEntropy)`
 *
 * Source: Haarnoja et al. 2018 (https://arxiv.org/abs/1812.05905), algorithm 1;
 * `SAC.train` of Stable-Baselines3.
 *
 * @param model The policy and the form of the Q functions.
 * @param options Optimizer, discount and entropy.
 * @returns The update.
 * @throws {TypeError} If the policy is a mixture.
 *
 * @example
 * ```ts
 * import { initSacState, sacUpdate } from "@bellman/sac";
 * import { RandomStream } from "@bellman/compute";
 * import { qFunction, stochasticPolicy } from "@bellman/policies";
 * import { assert } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const box = { type: "box", low: -1, high: 1, dtype: "float32" } as const;
 * const spaces = {
 *   observationSpace: { ...box, shape: [3] },
 *   actionSpace: { ...box, shape: [1] },
 *   networkOptions: { hiddenSizes: [8] },
 * };
 * const model = { policy: stochasticPolicy(spaces), qf: qFunction(spaces) };
 * const state = initSacState(model, new RandomStream(1));
 * const update = sacUpdate(model, { gamma: 0.98 });
 * const { stats } = update(state, {
 *   observations: tf.zeros([4, 3]),
 *   actions: tf.zeros([4, 1]),
 *   rewards: tf.ones([4]),
 *   terminated: tf.zeros([4]),
 *   nextObservations: tf.ones([4, 3]),
 *   noise: tf.zeros([4, 1]),
 *   nextNoise: tf.ones([4, 1]),
 * }, { learningRate: tf.scalar(3e-4), tau: tf.scalar(0.005) });
 * assert(stats.critic_loss.arraySync() > 0);
 * ```
 */
export function sacUpdate(
  model: SacModel,
  options: SacUpdateOptions = {},
): SacUpdate {
  const { policy, qf } = model;
  const { optimizer = adam(), gamma = 0.99 } = options;
  const { targetEntropy = -sizeOf(policy.distribution.actionShape) } = options;

  if (isMixture(policy.distribution)) {
    throw new TypeError(
      "Cannot update a mixture without a V function, as the choice of its component has no gradient: use sacValueUpdate",
    );
  }

  function sample(params: Params, x: tf.Tensor, noise: tf.Tensor2D) {
    const output = policy.apply(params, x);
    return policy.distribution.sampleWithLogProb(output.policy, noise);
  }

  const estimate = (critics: Params, x: tf.Tensor, actions: tf.Tensor) =>
    ofBoth(critics, (params) => qf.apply(params, x, actions));

  return (state, batch, hyperparameters) =>
    tidy(() => {
      const { observations, nextObservations, weights } = batch;
      const { learningRate, tau, rewardScale } = hyperparameters;
      const {
        criticLearningRate = learningRate,
        temperatureLearningRate = learningRate,
      } = hyperparameters;
      const alpha = temperatureOf(state, hyperparameters);

      const next = sample(state.policy, nextObservations, batch.nextNoise);
      const nextQ = estimate(state.targets, nextObservations, next.action);
      const wanted = criticTargets({
        ...batch,
        bonus: entropiesBetween(
          batch,
          (x) => sample(state.policy, x, batch.betweenNoise!).logProb,
          { alpha },
        ),
        nextValues: softValues(smaller(nextQ), next.logProb, { alpha }),
      }, { discount: batch.discounts ?? gamma, rewardScale });

      const critics = descend(
        (params) => {
          const estimates = estimate(params, observations, batch.actions);
          return bothLosses(estimates, wanted, { weights });
        },
        { params: state.critics, slots: state.criticSlots },
        { optimizer, learningRate: criticLearningRate },
      );

      const actor = descend(
        (params) => {
          const { action, logProb } = sample(params, observations, batch.noise);
          const q = smaller(estimate(critics.params, observations, action));
          const values = softValues(q, logProb, { alpha });
          return { loss: reparameterizedPolicyLoss(values), aux: { logProb } };
        },
        { params: state.policy, slots: state.policySlots },
        { optimizer, learningRate },
      );

      const { logProb } = actor.aux;
      const temperature = temperatureStep(state, logProb, {
        targetEntropy,
        optimizer,
        learningRate: temperatureLearningRate,
      });

      const entropy = tf.neg(tf.mean(logProb)) as tf.Scalar;
      return resultOf(
        state,
        { critics, actor, temperature },
        { wanted, tau, alpha, entropy },
      );
    });
}

/** Product of the lengths of all axes. */
function sizeOf(shape: readonly number[]): number {
  return shape.reduce((product, length) => product * length, 1);
}
