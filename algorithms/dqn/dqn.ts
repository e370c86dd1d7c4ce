import {
  Agent,
  type AgentContext,
  type AgentOptions,
  type AgentSpaces,
  type Algorithm,
  type AnyParts,
  type BuildContext,
  checkReplay,
  type KnownSpaces,
  type Progress,
  randomActions,
  replayWithData,
  unusedLayers,
  unusedReplay,
  warmupActions,
} from "@bellman/agent";
import { adam } from "@bellman/compute";
import { functionOptions, type QPolicy, qPolicy } from "@bellman/policies";
import { scheduledOverRun } from "@bellman/schedulers";
import type { DiscreteSpace } from "@bellman/types";
import { type DqnConfig, dqnConfigSchema } from "./config.ts";
import { dqnPresets } from "./presets.ts";
import { returnForm } from "./loss.ts";
import { dqnUpdate, initDqnState } from "./update.ts";

/** Fraction of clipped probability mass above which a run warns. */
const MUCH_CLIPPED = 0.01;

/**
 * Deep Q-learning (DQN) as an algorithm, for `Agent` and the command line.
 *
 * Source: Mnih et al. 2015 (https://doi.org/10.1038/nature14236), with the options of
 * Hessel et al. 2018 (https://arxiv.org/abs/1710.02298).
 */
export const dqn: Algorithm<DqnConfig, QPolicy> = {
  meta: {
    name: "dqn",
    title: "DQN",
    summary: "Q-learning from replay, up to Rainbow (Mnih et al. 2015)",
    schema: dqnConfigSchema,
    presets: dqnPresets,
    statistics: {
      q_mean: ["Q value: mean", "q"],
      target_mean: ["Target of the Q value: mean", "target"],
      epsilon: ["Exploration rate"],
      clipped_mass: ["Share of target mass beyond valueRange"],
    },
    smallConfig: {
      hiddenSizes: [8],
      batchSize: 8,
      bufferSize: 400,
      learningStarts: 20,
      targetInterval: 5,
    },
    runDefaults: { numEnvs: 1 },
    hasReplay: true,
    isGreedy: true,
    unusedSettings: unusedOf,
  },
  check: checkConfig,
  build: partsOf,
};

function partsOf(config: DqnConfig, context: BuildContext): AnyParts<QPolicy> {
  const { dueling, sigma0, learningRate, targetInterval, tau } = config;
  const isNoisy = config.exploration === "noisy", returns = returnForm(config);
  const policy = qPolicy({
    ...context,
    ...functionOptions(config),
    ...returns,
    dueling,
    ...(isNoisy && { sigma0 }),
  });
  const { start } = context.actionSpace as DiscreteSpace;
  const optimizer = adam({ epsilon: config.adamEpsilon });
  const learn = dqnUpdate(policy, { ...config, returns, optimizer, start });
  const online: typeof learn = (state, batch, { tau: _, ...inputs }) =>
    learn(state, batch, inputs);
  const schedule = config.learningRateSchedule;
  const rate = scheduledOverRun(learningRate, { ...context, schedule });
  const { initialEpsilon: first, finalEpsilon: last } = config;
  const epsilon = ({ fraction }: Progress) =>
    first + Math.min(fraction / config.explorationFraction, 1) * (last - first);
  return {
    policy,
    state: initDqnState(policy, context.random, optimizer),
    memory: replayWithData(context, policy, config),
    inputs: (progress, draw) => ({
      learningRate: rate(progress.steps),
      tau,
      epsilon: isNoisy ? 0 : epsilon(progress),
      ...(isNoisy && { noise: draw(policy.noise, 3) }),
    }),
    learn: ({ updates }) =>
      (updates + 1) % targetInterval === 0 ? learn : online,
    explore: randomActions(context, {
      ...warmupActions(config),
      ...(!isNoisy && { epsilon }),
    }),
    afterUpdate({ statistics: { clipped_mass: clipped }, notify }) {
      if (!(clipped > MUCH_CLIPPED)) return undefined;
      const share = (100 * clipped).toFixed(1);
      notify(
        `DQN clips ${share} % of the target mass to valueRange: choose a wider range`,
      );
    },
    qFunction: {
      part: "policy",
      estimate: (params, observations) =>
        policy.apply(params, observations).policy,
    },
  };
}

/** Throws if settings do not fit together. */
function checkConfig(config: DqnConfig, context: AgentContext): void {
  const { type } = context.actionSpace;
  if (type !== "discrete") {
    const named = type.replace(/[A-Z]/, (it) => `-${it.toLowerCase()}`);
    throw new TypeError(
      `Cannot run DQN with ${named} actions: expected discrete actions; SAC, TD3 and PPO take box actions, PPO several choices at once`,
    );
  }
  checkReplay(config, { of: "DQN", ...context });
  returnForm(config);
}

/** Lists settings that have no effect given the others. */
function unusedOf(
  config: DqnConfig,
  spaces: KnownSpaces,
): Record<string, string> {
  const { values, exploration, initialExploration } = config;
  const noise = "the noise of the layers explores";
  return {
    ...unusedReplay(config),
    ...unusedLayers(config, { ...spaces, endsInLayers: true }),
    ...(values === "mean"
      ? { atoms: "means have one number" }
      : { loss: `${values} values have their own` }),
    ...(values !== "categorical" &&
      { valueRange: "only categorical values have a range" }),
    ...(exploration === "noisy"
      ? {
        initialEpsilon: noise,
        finalEpsilon: noise,
        explorationFraction: noise,
      }
      : { sigma0: "only noisy layers have noise" }),
    ...(initialExploration !== "repeated" &&
      { repeatExponent: "initialExploration repeats no action" }),
  };
}

/**
 * Deep Q-learning (DQN): stores transitions in a replay buffer and learns Q-values from
 * sampled batches. The saved state includes the replay buffer; a restored agent
 * continues bit for bit.
 *
 * `update` returns `loss`, `grad_norm`, `q_mean`, `target_mean`, `epsilon`,
 * `learning_rate` and, for categorical values, `clipped_mass`.
 *
 * @typeParam E Environments, or their spaces: the type of the actions.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { DQN } from "@bellman/dqn";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const agent = new DQN({
 *   observationSpace: { type: "discrete", n: 2 },
 *   actionSpace: { type: "discrete", n: 3 },
 *   numEnvs: 1,
 * }, {
 *   config: { values: "quantile", dueling: true, hiddenSizes: [8], batchSize: 4, learningStarts: 4 },
 *   seed: 1,
 * });
 *
 * const observations = new Int32Array([0]);
 * for (let step = 0; step < 4; step++) {
 *   agent.act(observations);
 *   agent.observe({
 *     observations,
 *     rewards: Float64Array.of(1),
 *     terminated: new Uint8Array([1]),
 *     truncated: new Uint8Array(1),
 *     finalObservations: observations,
 *   });
 * }
 * agent.update();
 * assertEquals(agent.qValues(observations).length, 3);
 * agent.close();
 * ```
 */
export class DQN<const E extends AgentSpaces = AgentSpaces>
  extends Agent<DqnConfig, E> {
  /** Policy that acts, without its parameters. */
  declare readonly model: QPolicy;

  /**
   * Estimates the Q-values of all actions in one state.
   *
   * @param observation Observation, as the environment returns it.
   * @returns Q-values `[n]`, a new array.
   */
  declare readonly qValues: NonNullable<Agent["qValues"]>;

  /**
   * Creates an agent.
   *
   * @param spaces Spaces and number of environments.
   * @param options Settings, seed, length of the run.
   * @throws {RangeError} If a setting is out of its range, or sizes do not fit.
   * @throws {TypeError} If actions are not discrete.
   */
  constructor(spaces: E, options: AgentOptions<DqnConfig> = {}) {
    super(dqn, spaces, options);
  }
}
