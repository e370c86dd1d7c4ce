import type { AgentState, ReplayBatch, Update } from "@bellman/agent";
import {
  adam,
  cloneParams,
  descend,
  type Optimizer,
  type OptimizerState,
  type Params,
  polyak,
  tidy,
} from "@bellman/compute";
import {
  criticStep,
  criticTargets,
  eachCritic,
  initCritics,
  nextEstimates,
  type Policy,
  type QFunction,
} from "@bellman/policies";
import type { RandomSource } from "@bellman/types";
import * as tf from "@tensorflow/tfjs";

/** Policy and form of the Q-functions, of actions in [-1, 1]. */
export interface Td3Model {
  /** Deterministic policy. */
  readonly policy: Pick<Policy, "init" | "apply" | "mode">;
  /** Form of the Q-functions. */
  readonly qf: QFunction;
}

/** Hyperparameters of an update, and noise of the target policy. */
export interface Td3Inputs {
  /** Learning rate of the policy. */
  readonly learningRate: tf.Scalar;
  /**
   * Learning rate of the critics.
   *
   * @default learningRate
   */
  readonly criticLearningRate?: tf.Scalar;
  /** Soft update rate of the target networks: 1 copies the parameters. */
  readonly tau: tf.Scalar;
  /**
   * Standard normal noise, one number for each action dimension `[batch, size]`.
   *
   * @default no noise
   */
  readonly nextNoise?: tf.Tensor2D;
}

/** Training state of TD3. */
export type Td3State = {
  /** Parameters of the policy. */
  policy: Params;
  /** Parameters of the Q-functions, under `qf1/` and so on. */
  critics: Params;
  /** Target network of the policy. */
  targetPolicy: Params;
  /** Target networks of the Q-functions, with the same paths. */
  targets: Params;
  /** Optimizer state of the policy. */
  policySlots: OptimizerState;
  /** Optimizer state of the critics. */
  criticSlots: OptimizerState;
};

/** Options of {@link td3Update} and {@link initTd3State}. */
export interface Td3UpdateOptions {
  /**
   * Optimizer of policy and critics; each has its own state.
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
   * Standard deviation of the noise added to the target policy's actions.
   *
   * @default 0.2
   */
  readonly targetNoise?: number;
  /**
   * Clip of that noise.
   *
   * @default 0.5
   */
  readonly targetNoiseClip?: number;
  /**
   * Number of Q-functions.
   *
   * @default 2
   */
  readonly numCritics?: number;
  /**
   * Largest target quantiles that are left out, of each Q-function that has quantiles.
   *
   * @default 0
   */
  readonly droppedQuantiles?: number;
  /**
   * Weight alpha of the Q-values beside the distance from the batch's actions, as TD3+BC
   * has them; 0 leaves the distance out.
   *
   * @default 0
   */
  readonly bcAlpha?: number;
}

/** Update as a pure function from one training state to the next. */
export type Td3Update = Update<Td3State & AgentState, ReplayBatch, Td3Inputs>;

/**
 * Makes the two updates of TD3, each one pure function of tensors: `critics` updates
 * only the Q-functions; `learn` also the policy, against the new Q-functions, and all
 * target networks. DDPG is `learn` with one Q-function and without noise.
 *
 * - `J_Q = sum_i mean(w (Q_i(s, a) - y)^2)` with `y = r + gamma (1 - d) min_i Q'_i(s',
 *   a')`, where `a' = clip(pi'(s') + clip(targetNoise e, -c, c), -1, 1)`
 * - `J_pi = -mean(Q_1(s, pi(s)))`, or with `bcAlpha` `-lambda mean(Q_1(s, pi(s))) +
 *   mean((pi(s) - a)^2)` and `lambda = bcAlpha / mean(|Q_1(s, pi(s))|)`, a constant
 *
 * Source: Fujimoto et al. 2018 (https://arxiv.org/abs/1802.09477), algorithm 1;
 * Lillicrap et al. 2016 (https://arxiv.org/abs/1509.02971); Fujimoto and Gu 2021
 * (https://arxiv.org/abs/2106.06860).
 *
 * @param model Policy and form of the Q-functions.
 * @param options Optimizer, discount, noise of the target policy.
 * @returns The updates by name.
 *
 * @example
 * ```ts
 * import { RandomStream } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { deterministicPolicy, qFunction } from "@bellman/policies";
 * import { initTd3State, td3Update } from "@bellman/td3";
 * import { assert, assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const box = { type: "box", low: -1, high: 1, dtype: "float32" } as const;
 * const spaces = {
 *   observationSpace: { ...box, shape: [3] },
 *   actionSpace: { ...box, shape: [1] },
 *   networkOptions: { hiddenSizes: [8] },
 * };
 * const model = { policy: deterministicPolicy(spaces), qf: qFunction(spaces) };
 * const state = initTd3State(model, new RandomStream(1));
 * const { critics } = td3Update(model, { gamma: 0.98 });
 * const { stats, state: after } = critics(state, {
 *   observations: tf.zeros([4, 3]),
 *   actions: tf.zeros([4, 1]),
 *   rewards: tf.ones([4]),
 *   terminated: tf.zeros([4]),
 *   nextObservations: tf.ones([4, 3]),
 * }, {
 *   learningRate: tf.scalar(0.001),
 *   tau: tf.scalar(0.005),
 *   nextNoise: tf.zeros([4, 1]),
 * });
 * assert(stats.q_loss!.dataSync()[0] > 0);
 * assertEquals(after.policy, state.policy);
 * ```
 */
export function td3Update(
  { policy, qf }: Td3Model,
  options: Td3UpdateOptions = {},
): { readonly learn: Td3Update; readonly critics: Td3Update } {
  const { optimizer = adam(), gamma = 0.99 } = options;
  const { targetNoise = 0.2, targetNoiseClip: bound = 0.5 } = options;
  const { bcAlpha = 0 } = options;
  const act = (params: Params, x: tf.Tensor) =>
    policy.mode(policy.apply(params, x));
  const estimate = (critics: Params, x: tf.Tensor, actions: tf.Tensor) =>
    eachCritic(critics, (params) => qf.estimate(params, x, actions).values);

  function nextActions(params: Params, x: tf.Tensor, noise?: tf.Tensor2D) {
    const actions = act(params, x);
    if (noise === undefined) return actions;
    const step = tf.clipByValue(tf.mul(noise, targetNoise), -bound, bound);
    const moved = tf.add(actions, tf.reshape(step, actions.shape));
    return tf.clipByValue(moved, -1, 1);
  }

  const critics: Td3Update = (state, batch, inputs) => {
    const { observations, actions, nextObservations: next, weights } = batch;
    const { learningRate, criticLearningRate = learningRate } = inputs;
    const best = nextActions(state.targetPolicy, next, inputs.nextNoise);
    const nextValues = nextEstimates(
      estimate(state.targets, next, best),
      options,
    );
    const discount = batch.discounts ?? gamma;
    const targets = criticTargets({ ...batch, nextValues }, { discount });
    const pass = (params: Params) => ({
      estimates: estimate(params, observations, actions),
      targets,
    });
    const rate = { optimizer, learningRate: criticLearningRate };
    const step = criticStep(state, pass, { ...rate, weights, scale: 2 });
    return {
      state: { ...state, critics: step.params, criticSlots: step.slots },
      stats: { ...step.stats, q_loss: step.loss },
      results: { tdErrors: step.tdErrors },
    };
  };

  /** Weight of the Q-values, a constant: the inverse of their mean absolute value. */
  function scaleOf(critics: Params, x: tf.Tensor, policy: Params): tf.Tensor {
    const { qf1 } = estimate(critics, x, act(policy, x));
    return tf.div(bcAlpha, tf.mean(tf.abs(qf1)));
  }

  const learn: Td3Update = (before, batch, inputs) => {
    const { state, stats, results } = critics(before, batch, inputs);
    const { observations } = batch, { learningRate, tau } = inputs;
    const scale = bcAlpha === 0
      ? undefined
      : scaleOf(state.critics, observations, state.policy);
    const actor = descend(
      (params) => {
        const actions = act(params, observations);
        const { qf1 } = estimate(state.critics, observations, actions);
        const q = tf.neg(tf.mean(qf1)) as tf.Scalar;
        if (bcAlpha === 0) return { loss: q };
        const distance = tf.squaredDifference(actions, batch.actions);
        const loss = tf.add(tf.mul(q, scale!), tf.mean(distance));
        return { loss: loss as tf.Scalar };
      },
      { params: state.policy, slots: state.policySlots },
      { optimizer, learningRate },
    );
    return {
      state: {
        ...state,
        policy: actor.params,
        policySlots: actor.slots,
        targetPolicy: polyak(state.targetPolicy, actor.params, { tau }),
        targets: polyak(state.targets, state.critics, { tau }),
      },
      stats: { ...stats, policy_loss: actor.loss },
      results,
    };
  };

  return {
    learn: (...given) => tidy(() => learn(...given)),
    critics: (...given) => tidy(() => critics(...given)),
  };
}

/**
 * Makes the initial training state of {@link td3Update}. The target networks are
 * copies.
 *
 * @param model Policy and form of the Q-functions.
 * @param random Random stream.
 * @param options Optimizer and number of Q functions.
 * @returns Training state, in new tensors.
 *
 * @example
 * ```ts
 * import { RandomStream } from "@bellman/compute";
 * import { deterministicPolicy, qFunction } from "@bellman/policies";
 * import { initTd3State } from "@bellman/td3";
 * import { assertEquals } from "@std/assert";
 *
 * const box = { type: "box", low: -1, high: 1, dtype: "float32" } as const;
 * const spaces = {
 *   observationSpace: { ...box, shape: [3] },
 *   actionSpace: { ...box, shape: [1] },
 *   networkOptions: { hiddenSizes: [] },
 * };
 * const model = { policy: deterministicPolicy(spaces), qf: qFunction(spaces) };
 * const random = new RandomStream(1);
 * const { targets } = initTd3State(model, random, { numCritics: 1 });
 * assertEquals(Object.keys(targets), ["qf1/head/kernel", "qf1/head/bias"]);
 * ```
 */
export function initTd3State(
  model: Td3Model,
  random: RandomSource,
  { optimizer = adam(), numCritics }: Td3UpdateOptions = {},
): Td3State {
  const policy = model.policy.init(random);
  const critics = initCritics(model.qf, random, numCritics);
  return {
    policy,
    critics,
    targetPolicy: cloneParams(policy),
    targets: cloneParams(critics),
    policySlots: optimizer.init(policy),
    criticSlots: optimizer.init(critics),
  };
}
