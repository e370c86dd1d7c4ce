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
  noisyActions,
  replayWithData,
  unusedLayers,
  unusedReplay,
} from "@bellman/agent";
import {
  deterministicPolicy,
  droppedOf,
  functionOptions,
  pickPrefix,
  qFunction,
} from "@bellman/policies";
import { scheduledOverRun } from "@bellman/schedulers";
import type { BoxSpace } from "@bellman/types";
import { ddpgConfigSchema, type Td3Config, td3ConfigSchema } from "./config.ts";
import { td3Presets } from "./presets.ts";
import { initTd3State, td3Update } from "./update.ts";

/** TD3 as an algorithm, for `Agent` and the command line. */
export const td3: Algorithm<Td3Config> = {
  meta: {
    name: "td3",
    title: "TD3",
    summary: "Twin delayed DDPG, off-policy (Fujimoto et al. 2018)",
    schema: td3ConfigSchema,
    presets: td3Presets.td3,
    smallConfig: {
      hiddenSizes: [8],
      batchSize: 8,
      bufferSize: 400,
      learningStarts: 20,
    },
    runDefaults: { numEnvs: 1 },
    hasReplay: true,
    isGreedy: true,
    unusedSettings: unusedOf,
  },
  check: (config, context) => checkConfig("TD3", config, context),
  build: partsOf,
};

/** DDPG as an algorithm: TD3 with one Q-function, without policy delay and target noise. */
export const ddpg: Algorithm<Td3Config> = {
  ...td3,
  meta: {
    ...td3.meta,
    name: "ddpg",
    title: "DDPG",
    summary: "Deep deterministic policy gradient (Lillicrap et al. 2016)",
    schema: ddpgConfigSchema,
    presets: td3Presets.ddpg,
  },
  check: (config, context) => checkConfig("DDPG", config, context),
};

/**
 * Twin delayed DDPG (TD3): stores transitions in a replay buffer and learns Q-functions
 * and a deterministic policy of box actions from sampled batches. The saved state
 * includes replay buffer and noise; a restored agent continues bit for bit.
 *
 * Source: Fujimoto et al. 2018 (https://arxiv.org/abs/1802.09477).
 *
 * @typeParam E Environments, or their spaces: the type of the actions.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { TD3 } from "@bellman/td3";
 * import { assert } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const agent = new TD3({
 *   observationSpace: { type: "discrete", n: 2 },
 *   actionSpace: { type: "box", shape: [1], low: -2, high: 2, dtype: "float32" },
 *   numEnvs: 1,
 * }, {
 *   config: { hiddenSizes: [8], batchSize: 4, learningStarts: 4, bufferSize: 100 },
 *   seed: 1,
 * });
 *
 * const observations = new Int32Array([0]);
 * for (let step = 0; step < 4; step++) {
 *   const [action] = agent.act(observations);
 *   agent.observe({
 *     observations,
 *     rewards: Float64Array.of(-Math.abs(action - 1)),
 *     terminated: new Uint8Array([1]),
 *     truncated: new Uint8Array(1),
 *     finalObservations: observations,
 *   });
 * }
 * assert(agent.update()!.q_loss > 0);
 * agent.close();
 * ```
 */
export class TD3<const E extends AgentSpaces = AgentSpaces>
  extends Agent<Td3Config, E> {
  /**
   * Creates an agent.
   *
   * @param spaces Spaces and number of environments.
   * @param options Settings, seed, length of the run.
   * @throws {RangeError} If a setting is out of its range, or a bound of the actions
   * is infinite.
   * @throws {TypeError} If actions are not box.
   */
  constructor(spaces: E, options: AgentOptions<Td3Config> = {}) {
    super(td3, spaces, options);
  }
}

function partsOf(config: Td3Config, context: BuildContext): AnyParts {
  const { batchSize, tau, learningRate, policyDelay } = config;
  const spaces = {
    ...context,
    actionSpace: context.actionSpace as BoxSpace,
    ...functionOptions(config),
  };
  const { normalization, quantiles } = config;
  const policy = deterministicPolicy(spaces);
  const qf = qFunction({ ...spaces, normalization, quantiles });
  const model = { policy, qf }, size = policy.distribution.parameterSize;
  const schedule = config.learningRateSchedule;
  const scheduled = (value: number) =>
    scheduledOverRun(value, { ...context, schedule });
  const rate = scheduled(learningRate);
  const criticRate = scheduled(config.criticLearningRate ?? learningRate);
  const options = {
    ...config,
    droppedQuantiles: droppedOf(config, { of: "TD3" }),
  };
  const { learn, critics } = td3Update(model, options);
  return {
    policy,
    state: initTd3State(model, context.random, options),
    memory: replayWithData(context, policy, config),
    inputs: ({ steps }, draw) => ({
      learningRate: rate(steps),
      criticLearningRate: criticRate(steps),
      tau,
      ...(config.targetNoise > 0 &&
        { nextNoise: draw({ kind: "normal", size }, batchSize) }),
    }),
    learn: ({ updates }) => (updates + 1) % policyDelay === 0 ? learn : critics,
    explore: noisyActions(context, config),
    qFunction: {
      part: "critics",
      estimate: (critics, observations, actions) =>
        qf.apply(pickPrefix(critics, "qf1"), observations, actions!),
    },
  };
}

/** Lists settings that have no effect given the others. */
function unusedOf(
  config: Td3Config,
  spaces: KnownSpaces,
): Record<string, string> {
  return {
    ...unusedReplay(config),
    ...unusedLayers(config, { ...spaces, endsInLayers: true }),
    ...(config.explorationNoise === 0 &&
      { explorationNoiseType: "explorationNoise is 0" }),
    ...(config.targetNoise === 0 && { targetNoiseClip: "targetNoise is 0" }),
  };
}

/** Throws if actions are not a box, or settings do not fit together. */
function checkConfig(
  title: string,
  config: Td3Config,
  context: AgentContext,
): void {
  const { type } = context.actionSpace;
  if (type !== "box") {
    throw new TypeError(
      `Cannot run ${title} with actions of type ${type}: expected box, or DQN or PPO, which learn ${type} ones${
        type === "discrete" ? ", as IQL does from data" : ""
      }`,
    );
  }
  checkReplay(config, { of: title, ...context });
  droppedOf(config, { of: title });
}
