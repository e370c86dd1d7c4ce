import type { ReplayBatch } from "@bellman/agent";
import {
  adam,
  addPrefix,
  cloneParams,
  customGradient,
  descend,
  type Optimizer,
  type Params,
} from "@bellman/compute";
import {
  type CriticPass,
  type CriticStep,
  criticStep,
  criticTargets,
  eachCritic,
  initCritics,
  nextEstimates,
  type QFunction,
  type ReparameterizedDistribution,
  splitRunning,
} from "@bellman/policies";
import type { RandomSource } from "@bellman/types";
import * as tf from "@tensorflow/tfjs";
import {
  reparameterizedPolicyLoss,
  type SoftValueOptions,
  softValues,
} from "./losses.ts";
import type {
  SacInputs,
  SacPolicy,
  SacState,
  SacTargetOptions,
  SacUpdates,
} from "./model.ts";
import {
  chosenTargets,
  policyValueOf,
  temperatureOf,
  unitsOf,
  updatesOf,
} from "./steps.ts";

/** Policy and Q-functions of continuous actions in [-1, 1]. */
export interface SacModel {
  /** Policy. */
  readonly policy: SacPolicy<ReparameterizedDistribution>;
  /** Form of the Q-functions. */
  readonly qf: QFunction;
}

/** Options of {@link sacUpdate}. */
export interface SacUpdateOptions extends SacTargetOptions {
  /**
   * Optimizer of policy and critics; each has its own state.
   *
   * @default adam()
   */
  readonly optimizer?: Optimizer;
  /**
   * Optimizer of the temperature.
   *
   * @default optimizer
   */
  readonly temperatureOptimizer?: Optimizer;
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
  /**
   * Largest target quantiles that are left out, of each critic that has quantiles (TQC).
   *
   * @default 0
   */
  readonly droppedQuantiles?: number;
  /**
   * Estimate next values by target networks; false by the critics themselves, in one
   * pass with their estimates (CrossQ).
   *
   * @default true
   */
  readonly targetNetworks?: boolean;
}

/**
 * Makes the updates of SAC and of TQC, CrossQ, REDQ and DroQ, whose critics differ, as
 * pure functions of tensors, which can be traced and compiled.
 *
 * The order is that of Stable-Baselines3: all losses use the temperature before the
 * update; the critics take one step; the policy takes its step against the new critics;
 * finally the target networks are updated.
 *
 * - `J_Q = sum_i mean(w (Q_i(s, a) - y)^2) / 2` with `y = r + b + gamma (1 - d) (min_i
 *   Q'_i(s', a') - alpha log pi(a' | s'))`, where `b` is 0 except for n-step replay
 *   (`entropyBonus`); of quantiles `quantileLosses`, with the smallest ones of all
 *   critics instead of the minimum
 * - `J_pi = mean(alpha log pi(a | s) - min_i Q_i(s, a))`, or the mean over critics
 * - `J(alpha) = -log(alpha) mean(log pi(a | s) + targetEntropy)`
 *
 * Source: Haarnoja et al. 2018 (https://arxiv.org/abs/1812.05905), algorithm 1;
 * `SAC.train` of Stable-Baselines3. TQC: Kuznetsov et al. 2020
 * (https://arxiv.org/abs/2005.04269); REDQ: Chen et al. 2021
 * (https://arxiv.org/abs/2101.05982); DroQ: Hiraoka et al. 2022
 * (https://arxiv.org/abs/2110.02034); CrossQ: Bhatt et al. 2024
 * (https://arxiv.org/abs/1902.05605).
 *
 * @param model Policy and form of the Q-functions.
 * @param options Optimizer, discount, target entropy, form of the targets.
 * @returns The update, and that of the critics alone for a delayed policy.
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
 * const { learn } = sacUpdate(model, { gamma: 0.98 });
 * const { stats } = learn(state, {
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
  model: SacModel,
  options: SacUpdateOptions = {},
): SacUpdates {
  const { policy, qf } = model;
  const { optimizer = adam(), temperatureOptimizer = optimizer } = options;
  const size = policy.distribution.actionShape
    .reduce((size, it) => size * it, 1);
  const { targetEntropy = -size } = options;
  const valueOf = policyValueOf(options);
  return updatesOf<SacInputs>({
    critics: criticsOf(model, options),
    policy(state, batch, { inputs, critics }) {
      const { observations } = batch;
      const alpha = temperatureOf(state, inputs);
      const { weights, running } = splitRunning(state.policy);
      return descend(
        (params) => {
          const drawn = sample(policy, { ...params, ...running }, {
            ...{ observations, noise: inputs.noise },
            training: true,
          });
          const actions = drawn.action;
          const q = estimatesOf(qf, critics, {
            ...{ observations, actions, inputs },
            pass: "policy",
          });
          const values = softValues(valueOf(q), drawn.logProb, { alpha });
          const loss = reparameterizedPolicyLoss(values);
          return { loss, aux: { ...drawn.running, logProb: drawn.logProb } };
        },
        { params: weights, slots: state.policySlots },
        { optimizer, learningRate: inputs.learningRate },
      );
    },
    targetEntropy: () => targetEntropy,
    optimizer: temperatureOptimizer,
  });
}

/** Samples an action in each state, with its log-probability. */
function sample(
  { apply, distribution }: SacModel["policy"],
  params: Params,
  { observations, noise, training = false }: {
    readonly observations: tf.Tensor;
    readonly noise: tf.Tensor2D;
    readonly training?: boolean;
  },
) {
  const output = apply(params, observations, { training });
  const { running } = output;
  return { running, ...distribution.sampleWithLogProb(output.policy, noise) };
}

/** Makes the gradient step of all critics. */
function criticsOf({ policy, qf }: SacModel, options: SacUpdateOptions) {
  const { optimizer = adam(), gamma = 0.99 } = options;
  if ("components" in policy.distribution) {
    throw new TypeError(
      "Cannot update a mixture without a V function, as the choice of its component has no gradient: use sacV1Update of @bellman/sac-v1",
    );
  }
  const passOf = options.targetNetworks === false ? jointPass : separatePass;

  return (
    state: SacState,
    batch: ReplayBatch,
    inputs: SacInputs,
  ): CriticStep => {
    const alpha = temperatureOf(state, inputs);
    const { learningRate, criticLearningRate = learningRate } = inputs;
    const next = sample(policy, state.policy, {
      observations: batch.nextObservations,
      noise: inputs.nextNoise,
    });
    const between = batch.betweenObservations && sample(policy, state.policy, {
      observations: batch.betweenObservations,
      noise: inputs.betweenNoise!,
    });
    const targetsOf = (estimates: Estimates) =>
      criticTargets({
        ...batch,
        nextValues: softValues(
          nextEstimates(estimates, options),
          next.logProb,
          { alpha },
        ),
        bonus: between &&
          entropyBonus(between.logProb, batch.betweenDiscounts!, { alpha }),
      }, { ...inputs, discount: batch.discounts ?? gamma });
    const pass = passOf(qf, { state, batch, inputs }, {
      ...options,
      nextActions: next.action,
      targetsOf,
    });
    return criticStep(state, pass, {
      weights: batch.weights,
      optimizer,
      learningRate: criticLearningRate,
    });
  };
}

/** Values `[batch]` or quantiles `[batch, K]` of each critic. */
type Estimates = CriticPass["estimates"];

/** Estimates values of actions by each critic in evaluation mode. */
function estimatesOf(
  qf: QFunction,
  critics: Params,
  { observations, actions, inputs, pass }: {
    readonly observations: tf.Tensor;
    readonly actions: tf.Tensor;
    readonly inputs: SacInputs;
    readonly pass: Parameters<typeof unitsOf>[1];
  },
): Estimates {
  const [rows] = observations.shape;
  return eachCritic(critics, (params, critic) => {
    const dropout = unitsOf(inputs, pass, { critic, rows });
    return qf.estimate(params, observations, actions, { dropout }).values;
  });
}

/** Inputs of one pass over all critics. */
interface PassInputs {
  readonly state: SacState;
  readonly batch: ReplayBatch;
  readonly inputs: SacInputs;
}

/** Options of one pass over all critics. */
interface PassOptions extends SacUpdateOptions {
  /** Actions in the next observations. */
  readonly nextActions: tf.Tensor;
  /** Computes targets from estimates of the next actions. */
  readonly targetsOf: (estimates: Estimates) => tf.Tensor1D | tf.Tensor2D;
}

/** Estimates by the critics, whose targets come from target networks. */
function separatePass(
  qf: QFunction,
  { state, batch, inputs }: PassInputs,
  { nextActions, targetsOf, ...options }: PassOptions,
): (critics: Params) => CriticPass {
  const { observations, nextObservations, actions } = batch;
  const targets = targetsOf(
    estimatesOf(qf, chosenTargets(state, inputs, options), {
      observations: nextObservations,
      actions: nextActions,
      ...{ inputs, pass: "targets" },
    }),
  );
  return (critics) => ({
    estimates: estimatesOf(qf, critics, {
      ...{ observations, actions, inputs },
      pass: "critics",
    }),
    targets,
  });
}

/**
 * Estimates by the critics in one pass over both observations, so that both are
 * normalized by the same statistics; the next ones make the targets (CrossQ).
 */
function jointPass(
  qf: QFunction,
  { batch, inputs }: PassInputs,
  { nextActions, targetsOf }: PassOptions,
): (critics: Params) => CriticPass {
  const rows = batch.rewards.shape[0];
  const observations = tf.concat([batch.observations, batch.nextObservations]);
  const actions = tf.concat([batch.actions, nextActions]);
  return (critics) => {
    const running: Params = {}, estimates: Estimates = {}, next: Estimates = {};
    const both = eachCritic(critics, (params, critic) => {
      const dropout = unitsOf(inputs, "both", { critic, rows });
      const options = { training: true, dropout };
      return qf.estimate(params, observations, actions, options);
    });
    for (
      const [name, { values, running: moved = {} }] of Object.entries(both)
    ) {
      Object.assign(running, addPrefix(moved, name));
      const halves = tf.split<tf.Tensor1D | tf.Tensor2D>(values, [rows, rows]);
      [estimates[name], next[name]] = [halves[0], constant(halves[1])];
    }
    return { estimates, targets: targetsOf(next), running };
  };
}

/** Returns a tensor that no gradient flows through. */
function constant<T extends tf.Tensor>(x: T): T {
  const still = customGradient<T>((x) => ({
    value: tf.clone(x as T),
    gradFunc: (dy) => tf.zerosLike(dy),
  }));
  return still(x);
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
    /**
     * Number of Q-functions.
     *
     * @default 2
     */
    readonly numCritics?: number;
    /**
     * Make target networks.
     *
     * @default true
     */
    readonly targetNetworks?: boolean;
  } = {},
): SacState {
  const { optimizer = adam(), initialAlpha = 1 } = options;
  const { numCritics = 2, targetNetworks = true } = options;
  if (initialAlpha !== null && !(initialAlpha > 0 && initialAlpha < Infinity)) {
    throw new RangeError(
      `Cannot start with a temperature of ${initialAlpha}: expected a number above 0`,
    );
  }
  const temperature: Params = initialAlpha === null
    ? {}
    : { logAlpha: tf.scalar(Math.log(initialAlpha)) };
  const policy = model.policy.init(random);
  const critics = initCritics(model.qf, random, numCritics);
  return {
    policy,
    critics,
    targets: targetNetworks ? cloneParams(critics) : {},
    temperature,
    policySlots: optimizer.init(splitRunning(policy).weights),
    criticSlots: optimizer.init(splitRunning(critics).weights),
    temperatureSlots: initialAlpha === null ? {} : optimizer.init(temperature),
  };
}
