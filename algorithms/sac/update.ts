import {
  adam,
  cloneParams,
  type Optimizer,
  type Params,
  polyak,
  tidy,
} from "@bellman/compute";
import { valuesOfActions } from "@bellman/policies";
import type { RandomSource } from "@bellman/types";
import * as tf from "@tensorflow/tfjs";
import {
  discreteEntropies,
  discreteSoftValues,
  reparameterizedPolicyLoss,
  softValues,
  temperatureLoss,
} from "./losses.ts";
import type {
  DiscreteSacBatch,
  DiscreteSacModel,
  DiscreteSacUpdate,
  SacHyperparameters,
  SacModel,
  SacState,
  SacUpdate,
} from "./model.ts";
import {
  criticStep,
  descend,
  type Estimates,
  initCritics,
  ofBoth,
  smaller,
} from "./steps.ts";

/** Options of {@link sacUpdate}. */
export interface SacUpdateOptions {
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
 * assert(stats.q_loss.arraySync() > 0);
 * ```
 */
export function sacUpdate(
  model: SacModel,
  options: SacUpdateOptions = {},
): SacUpdate {
  const { policy, qf } = model;
  const { optimizer = adam(), gamma = 0.99 } = options;
  const {
    targetEntropy = -policy.distribution.actionShape
      .reduce((size, length) => size * length, 1),
  } = options;

  if ("components" in policy.distribution) {
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

  return twinUpdate({
    optimizer,
    gamma,
    targetEntropy,
    nextValues(state, { nextObservations, nextNoise }, alpha) {
      const next = sample(state.policy, nextObservations, nextNoise);
      const q = estimate(state.targets, nextObservations, next.action);
      return softValues(smaller(q), next.logProb, { alpha });
    },
    logProbsBetween: (params, x, { betweenNoise }) =>
      sample(params, x, betweenNoise!).logProb,
    estimate: (critics, { observations, actions }) =>
      estimate(critics, observations, actions),
    act: (critics, { observations, noise }, alpha) => (params) => {
      const { action, logProb } = sample(params, observations, noise);
      const q = smaller(estimate(critics, observations, action));
      return { values: softValues(q, logProb, { alpha }), logProb };
    },
  });
}

/** Options of {@link discreteSacUpdate}. */
export interface DiscreteSacUpdateOptions
  extends Pick<SacUpdateOptions, "optimizer" | "gamma"> {
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

/** Parts in which updates with target Q functions and a temperature differ. */
interface TwinParts<B extends DiscreteSacBatch> {
  readonly optimizer: Optimizer;
  readonly gamma: number;
  readonly targetEntropy: number;
  /** Computes soft values of the next observations. */
  nextValues(state: SacState, batch: B, alpha: tf.Scalar): tf.Tensor1D;
  /** Log-probabilities at observations in between. */
  logProbsBetween(
    params: Params,
    observations: tf.Tensor,
    batch: B,
  ): tf.Tensor1D;
  /** Estimates of the actions taken. */
  estimate(critics: Params, batch: B): Estimates;
  /**
   * Acts anew: gives, by parameters of the policy, soft values of its own
   * actions and their log-probabilities, or exact negative entropies.
   */
  act(
    critics: Params,
    batch: B,
    alpha: tf.Scalar,
  ): (params: Params) => { values: tf.Tensor1D; logProb: tf.Tensor1D };
}

/** Makes an update with target Q functions and a temperature. */
function twinUpdate<B extends DiscreteSacBatch>(
  parts: TwinParts<B>,
): SacUpdate<B> {
  const { optimizer, targetEntropy } = parts;
  return (state, batch, hyperparameters) =>
    tidy(() => {
      const { learningRate, tau } = hyperparameters;
      const { temperatureLearningRate = learningRate } = hyperparameters;
      const alpha = temperatureOf(state, hyperparameters);
      const critics = criticStep(state, batch, {
        ...parts,
        hyperparameters,
        alpha,
        nextValues: parts.nextValues(state, batch, alpha),
        logProbs: (x) => parts.logProbsBetween(state.policy, x, batch),
        estimate: (params) => parts.estimate(params, batch),
      });
      const act = parts.act(critics.params, batch, alpha);
      const actor = descend(
        (params) => {
          const { values, logProb } = act(params);
          return { loss: reparameterizedPolicyLoss(values), aux: { logProb } };
        },
        { params: state.policy, slots: state.policySlots },
        { optimizer, learningRate },
      );
      const { logProb } = actor.aux;
      const temperature = state.temperature.logAlpha && descend(
        ({ logAlpha }) => ({
          loss: temperatureLoss(logAlpha as tf.Scalar, logProb, {
            targetEntropy,
          }),
        }),
        { params: state.temperature, slots: state.temperatureSlots },
        { optimizer, learningRate: temperatureLearningRate },
      );
      return {
        state: {
          policy: actor.params,
          critics: critics.params,
          targets: polyak(state.targets, critics.params, { tau }),
          temperature: temperature?.params ?? {},
          policySlots: actor.slots,
          criticSlots: critics.slots,
          temperatureSlots: temperature?.slots ?? {},
        },
        stats: {
          ...critics.stats,
          q_loss: critics.loss,
          policy_loss: actor.loss,
          temperature: alpha,
          entropy: tf.neg(tf.mean(logProb)) as tf.Scalar,
          ...(temperature && { temperature_loss: temperature.loss }),
        },
        tdErrors: critics.tdErrors,
      };
    });
}

/** Gives the temperature before the update: learned, or given. */
function temperatureOf(
  { temperature }: SacState,
  { alpha }: SacHyperparameters,
): tf.Scalar {
  const { logAlpha } = temperature;
  if (logAlpha !== undefined) return tf.exp(logAlpha as tf.Scalar);
  if (alpha !== undefined) return tf.clone(alpha);
  throw new TypeError(
    "Cannot update without a temperature: as the state has none that is learned, hyperparameters.alpha must be given",
  );
}

/** Options of {@link initSacState}. */
export interface SacStateOptions {
  /**
   * Optimizer of the update.
   *
   * @default adam()
   */
  readonly optimizer?: Optimizer;
  /**
   * Temperature that learning starts from; null where it is not learned but
   * given with each update.
   *
   * @default 1
   */
  readonly initialAlpha?: number | null;
}

/**
 * Initializes the state of {@link sacUpdate} and {@link discreteSacUpdate}. The
 * target networks are copies of the critics.
 *
 * @param model The policy and the form of the Q functions.
 * @param random Stream of the first parameters.
 * @param options Optimizer and temperature.
 * @returns New tensors.
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
  model: SacModel | DiscreteSacModel,
  random: RandomSource,
  options: SacStateOptions = {},
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
