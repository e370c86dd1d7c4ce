import {
  adam,
  cloneParams,
  descend,
  type Optimizer,
  type Params,
  tidy,
} from "@bellman/compute";
import {
  criticStep,
  criticTargets,
  eachCritic,
  initCritics,
  type QFunction,
  type ReparameterizedDistribution,
  smallestEstimates,
} from "@bellman/policies";
import type { RandomSource } from "@bellman/types";
import * as tf from "@tensorflow/tfjs";
import {
  reparameterizedPolicyLoss,
  type SoftValueOptions,
  softValues,
} from "./losses.ts";
import type { SacPolicy, SacState, SacUpdate } from "./model.ts";
import { afterSteps, temperatureOf } from "./steps.ts";

/** Policy and Q-functions of continuous actions in [-1, 1]. */
export interface SacModel {
  /** Policy. */
  readonly policy: SacPolicy<ReparameterizedDistribution>;
  /** Form of both Q-functions. */
  readonly qf: QFunction;
}

/** Options of {@link sacUpdate}. */
export interface SacUpdateOptions {
  /**
   * Optimizer of policy, critics and temperature; each has its own state.
   *
   * @default adam()
   */
  readonly optimizer?: Optimizer;
  /**
   * Discount factor, if the batch has none.
   *
   * @default 0.99
   */
  readonly gamma?: number;
  /**
   * Target entropy of a learned temperature, in nats.
   *
   * @default -(action dimensions)
   */
  readonly targetEntropy?: number;
}

/**
 * Makes the update of SAC in today's form: two Q-functions with target networks, no
 * value function, a learned or fixed temperature, as one pure function of tensors,
 * which can be traced and compiled.
 *
 * The order is that of Stable-Baselines3: all losses use the temperature before the
 * update; both critics take one step; the policy takes its step against the new
 * critics; finally the target networks are updated.
 *
 * - `J_Q = sum_i mean(w (Q_i(s, a) - y)^2) / 2` with `y = r + b + gamma (1 - d) (min_i
 *   Q'_i(s', a') - alpha log pi(a' | s'))`, where `b` is 0 except for n-step replay
 *   (`entropyBonus`)
 * - `J_pi = mean(alpha log pi(a | s) - min_i Q_i(s, a))`
 * - `J(alpha) = -log(alpha) mean(log pi(a | s) + targetEntropy)`
 *
 * Source: Haarnoja et al. 2018 (https://arxiv.org/abs/1812.05905), algorithm 1;
 * `SAC.train` of Stable-Baselines3.
 *
 * @param model Policy and form of the Q-functions.
 * @param options Optimizer, discount and target entropy.
 * @returns The update.
 * @throws {TypeError} If the policy is a mixture.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { initSacState, sacUpdate } from "@bellman/sac";
 * import { RandomStream } from "@bellman/compute";
 * import { qFunction, stochasticPolicy } from "@bellman/policies";
 * import { assert } from "@std/assert";
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
 * }, {
 *   learningRate: tf.scalar(3e-4),
 *   tau: tf.scalar(0.005),
 *   noise: tf.zeros([4, 1]),
 *   nextNoise: tf.ones([4, 1]),
 * });
 * assert(stats.q_loss.arraySync() > 0);
 * ```
 */
export function sacUpdate(
  { policy, qf }: SacModel,
  options: SacUpdateOptions = {},
): SacUpdate {
  const { distribution } = policy;
  const { optimizer = adam(), gamma = 0.99 } = options;
  const size = distribution.actionShape.reduce((size, it) => size * it, 1);
  const { targetEntropy = -size } = options;
  if ("components" in distribution) {
    throw new TypeError(
      "Cannot update a mixture without a V function, as the choice of its component has no gradient: use sacValueUpdate",
    );
  }
  const sample = (params: Params, x: tf.Tensor, noise: tf.Tensor2D) =>
    distribution.sampleWithLogProb(policy.apply(params, x).policy, noise);
  const estimate = (critics: Params, x: tf.Tensor, actions: tf.Tensor) =>
    eachCritic(critics, (params) => qf.apply(params, x, actions));

  return (state, batch, inputs) =>
    tidy(() => {
      const { observations, actions, nextObservations, weights } = batch;
      const { learningRate, criticLearningRate = learningRate } = inputs;
      const alpha = temperatureOf(state, inputs);

      const next = sample(state.policy, nextObservations, inputs.nextNoise);
      const nextQ = estimate(state.targets, nextObservations, next.action);
      const between = batch.betweenObservations && sample(
        state.policy,
        batch.betweenObservations,
        inputs.betweenNoise!,
      );
      const targets = criticTargets({
        ...batch,
        nextValues: softValues(smallestEstimates(nextQ), next.logProb, {
          alpha,
        }),
        bonus: between &&
          entropyBonus(between.logProb, batch.betweenDiscounts!, { alpha }),
      }, { ...inputs, discount: batch.discounts ?? gamma });
      const critics = criticStep(
        state,
        (params) => estimate(params, observations, actions),
        { targets, weights, optimizer, learningRate: criticLearningRate },
      );

      const actor = descend(
        (params) => {
          const sampled = sample(params, observations, inputs.noise);
          const q = estimate(critics.params, observations, sampled.action);
          const values = softValues(smallestEstimates(q), sampled.logProb, {
            alpha,
          });
          const aux = { logProb: sampled.logProb };
          return { loss: reparameterizedPolicyLoss(values), aux };
        },
        { params: state.policy, slots: state.policySlots },
        { optimizer, learningRate },
      );

      return afterSteps(state, { critics, actor, alpha }, {
        targetEntropy,
        optimizer,
        inputs,
      });
    });
}

/**
 * Computes the entropy bonus of soft n-step returns, `b = alpha sum_{k=1}^{n-1} gamma^k
 * (log p(a_k) - log pi(a_k | s_k))`.
 *
 * With it `r_0 + ... + gamma^{n-1} r_{n-1} + b + gamma^n V(s_n)` is the soft value of
 * the first action if the current policy acted: every state after that action counts
 * with its reward and its entropy.
 *
 * Source: the soft Bellman equation of Haarnoja et al. 2018
 * (https://arxiv.org/abs/1801.01290), equation 2, applied n times.
 *
 * @param logProbs Log-probabilities, less those of a prior other than uniform, of a
 * sampled action in each state `[batch * (n - 1)]`; for discrete actions negative
 * entropies.
 * @param discounts `gamma^k` of each state, 0 past the end of a return
 * `[batch, n - 1]`.
 * @param options Temperature.
 * @returns Bonuses `[batch]`.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { entropyBonus } from "@bellman/sac";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const logProbs = tf.tensor1d([-1, -2, -1, -9]);
 * const discounts = tf.tensor2d([[0.5, 0.25], [0.5, 0]]);
 * const bonus = entropyBonus(logProbs, discounts, { alpha: 2 });
 * assertEquals(bonus.arraySync(), [2, 1]);
 * ```
 */
export function entropyBonus(
  logProbs: tf.Tensor1D,
  discounts: tf.Tensor2D,
  options: Pick<SoftValueOptions, "alpha"> = {},
): tf.Tensor1D {
  const { alpha = 1 } = options;
  return tf.tidy(() => {
    const rows = tf.reshape(logProbs, discounts.shape);
    return tf.mul(tf.sum(tf.mul(discounts, rows), 1), tf.neg(alpha));
  });
}

/**
 * Makes the initial training state of {@link sacUpdate} and {@link discreteSacUpdate}.
 * The target networks are copies of the critics.
 *
 * @param model Policy and form of the Q-functions.
 * @param random Random stream.
 * @param options Optimizer and temperature.
 * @returns Training state, in new tensors.
 * @throws {RangeError} If the temperature is not above 0.
 *
 * @example
 * ```ts
 * import { initSacState } from "@bellman/sac";
 * import { RandomStream } from "@bellman/compute";
 * import { qFunction, stochasticPolicy } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * const box = { type: "box", low: -1, high: 1, dtype: "float32" } as const;
 * const spaces = {
 *   observationSpace: { ...box, shape: [3] },
 *   actionSpace: { ...box, shape: [1] },
 * };
 * const model = { policy: stochasticPolicy(spaces), qf: qFunction(spaces) };
 * const state = initSacState(model, new RandomStream(1));
 * assertEquals(state.temperature.logAlpha.dataSync()[0], 0);
 * assertEquals(Object.keys(state.targets), Object.keys(state.critics));
 * ```
 */
export function initSacState(
  model: {
    readonly policy: Pick<SacPolicy, "init">;
    readonly qf: { init(random: RandomSource): Params };
  },
  random: RandomSource,
  options: {
    /**
     * Optimizer of the update.
     *
     * @default adam()
     */
    readonly optimizer?: Optimizer;
    /**
     * Initial temperature; null if it is not learned but an input of each update.
     *
     * @default 1
     */
    readonly initialAlpha?: number | null;
  } = {},
): SacState {
  const { optimizer = adam(), initialAlpha = 1 } = options;
  if (initialAlpha !== null && !(initialAlpha > 0 && initialAlpha < Infinity)) {
    throw new RangeError(
      `Cannot start with a temperature of ${initialAlpha}: expected a number above 0`,
    );
  }
  const temperature: Params = initialAlpha === null
    ? {}
    : { logAlpha: tf.scalar(Math.log(initialAlpha)) };
  const policy = model.policy.init(random);
  const critics = initCritics(model.qf, random);
  return {
    policy,
    critics,
    targets: cloneParams(critics),
    temperature,
    policySlots: optimizer.init(policy),
    criticSlots: optimizer.init(critics),
    temperatureSlots: initialAlpha === null ? {} : optimizer.init(temperature),
  };
}
