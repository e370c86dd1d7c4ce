import {
  type AgentContext,
  type Algorithm,
  type AnyParts,
  type BuildContext,
  type DataBatch,
  DataMemory,
  type Update,
} from "@bellman/agent";
import type { Dataset } from "@bellman/buffers/datasets";
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
  deterministicPolicy,
  diagonalGaussian,
  discreteQFunction,
  type Distribution,
  eachCritic,
  type FunctionOptions,
  functionOptions,
  initCritics,
  pickPrefix,
  type Policy,
  qFunction,
  stochasticPolicy,
  type ValueFunction,
  valueFunction,
  valuesOfActions,
} from "@bellman/policies";
import { scheduledOverRun } from "@bellman/schedulers";
import type { BoxSpace, DiscreteSpace, RandomSource } from "@bellman/types";
import * as tf from "@tensorflow/tfjs";
import { judging, STATISTICS } from "./_held_out.ts";
import { type IqlConfig, iqlConfigSchema } from "./config.ts";

/** Policy, Q-functions and value of implicit Q-learning. */
export interface IqlModel {
  /** Policy. */
  readonly policy: Pick<Policy, "apply" | "mode" | "distribution">;
  /** Estimates the Q-values of the actions taken `[batch]`. */
  qValues(params: Params, x: tf.Tensor, actions: tf.Tensor): tf.Tensor1D;
  /** Value function. */
  readonly value: Pick<ValueFunction, "apply">;
}

/** Training state of implicit Q-learning. */
export type IqlState = {
  /** Parameters of the policy. */
  policy: Params;
  /** Parameters of the Q-functions, under `qf1/` and `qf2/`. */
  critics: Params;
  /** Target networks of the Q-functions, with the same paths. */
  targets: Params;
  /** Parameters of the value function. */
  value: Params;
  /** Optimizer state of the policy. */
  policySlots: OptimizerState;
  /** Optimizer state of the Q-functions. */
  criticSlots: OptimizerState;
  /** Optimizer state of the value function. */
  valueSlots: OptimizerState;
};

/** Inputs of an update. */
export interface IqlInputs {
  /** Learning rate of the policy. */
  readonly learningRate: tf.Scalar;
  /** Learning rate of the Q-functions and the value. */
  readonly criticLearningRate: tf.Scalar;
}

/** Options of {@linkcode iqlUpdate}. */
export interface IqlUpdateOptions {
  /**
   * Optimizer of policy, Q-functions and value; each has its own state.
   *
   * @default adam()
   */
  readonly optimizer?: Optimizer;
  /**
   * Discount factor.
   *
   * @default 0.99
   */
  readonly gamma?: number;
  /**
   * Soft update rate of the target networks.
   *
   * @default 0.005
   */
  readonly tau?: number;
  /**
   * Expectile of the value among the Q-values of the data's actions.
   *
   * @default 0.7
   */
  readonly expectile?: number;
  /**
   * Inverse temperature of the policy's weights.
   *
   * @default 3
   */
  readonly beta?: number;
  /**
   * Largest weight.
   *
   * @default 100
   */
  readonly weightMax?: number;
}

/** Update as a pure function from one training state to the next. */
export type IqlUpdate = Update<IqlState, DataBatch, IqlInputs>;

/**
 * Makes the update of implicit Q-learning as pure functions of tensors: `learn`, and
 * `judge`, which also reports the loss `l` of held-out steps. All losses are of the
 * parameters before the update:
 *
 * - `u = min_i Q'_i(s, a) - V(s)`
 * - `L_V = mean(|expectile - [u < 0]| u^2)`
 * - `L_Q = sum_i mean((Q_i(s, a) - r - (1 - d) gamma V(s'))^2) / 2`
 * - `L_pi = mean(min(exp(beta u), weightMax) l(s, a))` with `l = -log pi(a|s)`, or for a
 *   deterministic policy the squared distance of the actions
 *
 * Source: Kostrikov et al. 2022 (https://arxiv.org/abs/2110.06169).
 *
 * @param model Policy, Q-functions, value.
 * @param options Optimizer, discount, expectile, temperature.
 * @returns The updates by name.
 *
 * @example
 * ```ts
 * import { RandomStream } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { initIqlState, iqlModel, iqlUpdate } from "@bellman/offline";
 * import { assert } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const box = { type: "box", shape: [2], low: -1, high: 1, dtype: "float32" } as const;
 * const model = iqlModel({ observationSpace: box, actionSpace: box });
 * const state = initIqlState(model, new RandomStream(0));
 * const { learn } = iqlUpdate(model);
 * const { stats } = learn(state, {
 *   observations: tf.ones([4, 2]),
 *   actions: tf.zeros([4, 2]),
 *   rewards: tf.ones([4]),
 *   terminated: tf.zeros([4]),
 *   nextObservations: tf.ones([4, 2]),
 *   starts: tf.zeros([4]),
 * }, {
 *   learningRate: tf.scalar(0.001),
 *   criticLearningRate: tf.scalar(0.001),
 * });
 * assert(stats.q_loss!.dataSync()[0] > 0);
 * ```
 */
export function iqlUpdate(
  { policy, qValues, value }: IqlModel,
  options: IqlUpdateOptions = {},
): { readonly learn: IqlUpdate; readonly judge: IqlUpdate } {
  const { optimizer = adam(), gamma = 0.99, tau = 0.005 } = options;
  const { expectile = 0.7, beta = 3, weightMax = 100 } = options;
  const estimate = (critics: Params, x: tf.Tensor, actions: tf.Tensor) =>
    eachCritic(critics, (params) => qValues(params, x, actions));

  /** Losses of the actions `[batch]`, and the most likely ones. */
  function clone(
    params: Params,
    { observations, actions, actionMasks }: Partial<DataBatch>,
  ): { losses: tf.Tensor1D; mode: tf.Tensor } {
    const output = policy.apply(params, observations!, { actionMasks });
    const mode = policy.mode(output);
    if ("logProb" in policy.distribution) {
      const distribution = policy.distribution as Distribution;
      const logProb = distribution.logProb(output.policy, actions!);
      return { losses: tf.neg(logProb), mode };
    }
    const wrong = tf.squaredDifference(mode, actions!);
    return { losses: tf.sum(tf.reshape(wrong, [wrong.shape[0], -1]), 1), mode };
  }

  const learn: IqlUpdate = (state, batch, inputs) => {
    const { observations, actions, nextObservations } = batch;
    const { learningRate, criticLearningRate } = inputs;
    const rate = { optimizer, learningRate: criticLearningRate };
    const best = Object.values(estimate(state.targets, observations, actions))
      .reduce((least, it) => tf.minimum(least, it));
    const before = tf.sub(best, value.apply(state.value, observations));
    const weights = tf.minimum(tf.exp(tf.mul(before, beta)), weightMax);
    const valueStep = descend(
      (params) => {
        const u = tf.sub(best, value.apply(params, observations));
        // Squares of both sides, as comparisons have no gradient.
        const above = tf.mul(tf.square(tf.relu(u)), expectile);
        const below = tf.mul(tf.square(tf.relu(tf.neg(u))), 1 - expectile);
        return { loss: tf.mean(tf.add(above, below)) as tf.Scalar };
      },
      { params: state.value, slots: state.valueSlots },
      rate,
    );
    const nextValues = value.apply(state.value, nextObservations);
    const targets = criticTargets({ ...batch, nextValues }, {
      discount: gamma,
    });
    const step = criticStep(state, (params) => ({
      estimates: estimate(params, observations, actions),
      targets,
    }), rate);
    const actor = descend(
      (params) => {
        const loss = tf.mul(weights, clone(params, batch).losses);
        return { loss: tf.mean(loss) as tf.Scalar };
      },
      { params: state.policy, slots: state.policySlots },
      { optimizer, learningRate },
    );
    const isClipped = tf.greaterEqual(weights, weightMax);
    return {
      state: {
        policy: actor.params,
        critics: step.params,
        targets: polyak(state.targets, step.params, { tau }),
        value: valueStep.params,
        policySlots: actor.slots,
        criticSlots: step.slots,
        valueSlots: valueStep.slots,
      },
      stats: {
        ...step.stats,
        q_loss: step.loss,
        value_loss: valueStep.loss,
        policy_loss: actor.loss,
        q_abs_mean: tf.mean(tf.abs(best)),
        clipped_weights: tf.mean(tf.cast(isClipped, "float32")),
      },
    };
  };
  const judge = judging(learn, policy, (params, steps) => {
    const { losses, mode } = clone(params, steps);
    return { loss: tf.mean(losses), mode };
  });
  return { learn: (...given) => tidy(() => learn(...given)), judge };
}

/** Spaces and layers of {@linkcode iqlModel}. */
export interface IqlModelOptions extends FunctionOptions {
  /** Action space: box or discrete. */
  readonly actionSpace: BoxSpace | DiscreteSpace;
}

/** Networks of implicit Q-learning, with their initial parameters. */
export interface IqlNetworks extends IqlModel {
  /** Policy. */
  readonly policy: Policy;
  /** Estimates Q-values of actions `[batch]`, or of all discrete ones `[batch, actions]`. */
  estimate(params: Params, x: tf.Tensor, actions?: tf.Tensor): tf.Tensor;
  /** Makes the initial parameters of the policy, two Q-functions and the value. */
  init(random: RandomSource): Pick<IqlState, "policy" | "critics" | "value">;
}

/**
 * Makes networks of implicit Q-learning. The policy of box actions is a Gaussian around
 * the tanh of its network, whose deviations do not depend on the state and whose density
 * is not corrected for the tanh; that of discrete actions is a softmax.
 *
 * @param options Spaces and layers.
 * @returns Policy, Q-functions, value.
 * @throws {RangeError} If actions have no finite bounds, or the network does not fit.
 *
 * @example
 * ```ts
 * import { RandomStream } from "@bellman/compute";
 * import { iqlModel } from "@bellman/offline";
 * import { assert } from "@std/assert";
 *
 * const { init } = iqlModel({
 *   observationSpace: { type: "discrete", n: 3 },
 *   actionSpace: { type: "discrete", n: 2 },
 * });
 * assert("qf2/head/bias" in init(new RandomStream(0)).critics);
 * ```
 */
export function iqlModel(options: IqlModelOptions): IqlNetworks {
  const { actionSpace } = options, value = valueFunction(options);
  const networks = (
    policy: Policy,
    qf: Parameters<typeof initCritics>[0],
  ) => ({
    policy,
    value,
    init: (random: RandomSource) => ({
      policy: policy.init(random),
      critics: initCritics(qf, random),
      value: value.init(random),
    }),
  });
  if (actionSpace.type === "discrete") {
    const qf = discreteQFunction({ ...options, actionSpace });
    const { start } = actionSpace;
    return {
      ...networks(stochasticPolicy({ ...options, actionSpace }), qf),
      estimate: (params, x) => qf.apply(params, x),
      qValues: (params, x, actions) =>
        valuesOfActions(qf.apply(params, x), actions, { start }),
    };
  }
  const qf = qFunction({ ...options, actionSpace });
  return {
    ...networks(tanhMeanPolicy({ ...options, actionSpace }), qf),
    estimate: (params, x, actions) => qf.apply(params, x, actions!),
    qValues: qf.apply,
  };
}

/** Makes a Gaussian policy around the tanh of its network, with free deviations. */
function tanhMeanPolicy(
  options: FunctionOptions & { readonly actionSpace: BoxSpace },
): Policy {
  const { init, apply, ...base } = deterministicPolicy(options);
  const { parameterSize: size, actionShape: shape } = base.distribution;
  const distribution = diagonalGaussian(size, { shape });
  return {
    ...base,
    distribution,
    noise: distribution.noise,
    init: (random) => ({ ...init(random), logStd: tf.zeros([size]) }),
    apply: (params, observations) => ({
      policy: tf.tidy(() => {
        const { policy: mean } = apply(params, observations);
        const logStd = tf.clipByValue(params.logStd, -20, 2);
        const all = tf.tile(tf.reshape(logStd, [1, size]), [mean.shape[0], 1]);
        return tf.concat([mean, all], 1) as tf.Tensor2D;
      }),
    }),
    sample: (_, { policy }, { noise }) =>
      tf.clipByValue(distribution.sample(policy, noise), -1, 1),
    mode: ({ policy }) => distribution.mode(policy),
  };
}

/**
 * Makes the initial training state of {@linkcode iqlUpdate}.
 *
 * @param model Networks.
 * @param random Random stream.
 * @param options Optimizer.
 * @returns Training state, in new tensors.
 *
 * @example
 * ```ts
 * import { RandomStream } from "@bellman/compute";
 * import { initIqlState, iqlModel } from "@bellman/offline";
 * import { assertEquals } from "@std/assert";
 *
 * const box = { type: "box", shape: [1], low: -1, high: 1, dtype: "float32" } as const;
 * const model = iqlModel({ observationSpace: box, actionSpace: box });
 * const { critics, targets } = initIqlState(model, new RandomStream(1));
 * assertEquals(Object.keys(critics), Object.keys(targets));
 * ```
 */
export function initIqlState(
  model: Pick<IqlNetworks, "init">,
  random: RandomSource,
  { optimizer = adam() }: Pick<IqlUpdateOptions, "optimizer"> = {},
): IqlState {
  const { policy, critics, value } = model.init(random);
  return {
    ...{ policy, critics, value, targets: cloneParams(critics) },
    policySlots: optimizer.init(policy),
    criticSlots: optimizer.init(critics),
    valueSlots: optimizer.init(value),
  };
}

/**
 * Implicit Q-learning (IQL) as an algorithm, for `Agent` and the command line: learns
 * from recorded steps with rewards, and never asks for the value of an action that the
 * data does not have.
 *
 * Source: Kostrikov et al. 2022 (https://arxiv.org/abs/2110.06169).
 */
export const iql: Algorithm<IqlConfig> = {
  meta: {
    name: "iql",
    title: "IQL",
    summary: "Implicit Q-learning from recorded data (Kostrikov et al. 2022)",
    schema: iqlConfigSchema,
    smallConfig: { hiddenSizes: [8], batchSize: 8, rewardScale: 1 },
    runDefaults: { numEnvs: 1, normalizeObservation: true },
    statistics: STATISTICS,
    hasReplay: true,
    learnsFromData: true,
  },
  check: checkConfig,
  build: partsOf,
};

function partsOf(config: IqlConfig, context: BuildContext): AnyParts {
  const { batchSize, learningRate, policySchedule: schedule } = config;
  const { observationSpace, data } = context;
  const model = iqlModel({
    observationSpace,
    actionSpace: context.actionSpace as BoxSpace | DiscreteSpace,
    ...functionOptions({
      ...config,
      hiddenSizes: config.hiddenSizes ?? [256, 256],
      activation: config.activation ?? "relu",
    }),
  });
  const optimizer = adam();
  const { learn, judge } = iqlUpdate(model, { ...config, optimizer });
  const { policy } = model;
  const rewardScale = config.rewardScale === "returnRange"
    ? data && scaleOf(data)
    : config.rewardScale;
  const rate = scheduledOverRun(learningRate, { ...context, schedule });
  const criticLearningRate = config.criticLearningRate ?? learningRate;
  const memory = new DataMemory(context, policy, { batchSize, rewardScale });
  return {
    policy,
    memory,
    state: initIqlState(model, context.random, { optimizer }),
    inputs: ({ updates }) => ({
      learningRate: rate(updates),
      criticLearningRate,
    }),
    learn: (progress) => memory.judges(progress) ? judge : learn,
    qFunction: {
      part: "critics",
      estimate: (critics, observations, actions) =>
        model.estimate(pickPrefix(critics, "qf1"), observations, actions),
    },
  };
}

/** Scale of rewards by the range of returns; throws where that is 0. */
function scaleOf(data: Dataset): number {
  const { bestReturn, returns, numEpisodes } = data;
  if (returns.some((it) => it < bestReturn)) return data.rewardScale;
  throw new RangeError(
    `Cannot run IQL on such data: all ${numEpisodes} episodes have the return ${bestReturn}, expected returns that differ, a rewardScale such as 1, or BC, which needs no rewards`,
  );
}

/** Throws if there are no such actions. */
function checkConfig(
  _: IqlConfig,
  { actionSpace: { type } }: AgentContext,
): void {
  if (type === "box" || type === "discrete") return;
  throw new TypeError(
    `Cannot run IQL with actions of type ${type}: expected box or discrete ones, or BC, which clones any`,
  );
}
