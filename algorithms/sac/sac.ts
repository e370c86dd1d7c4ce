import {
  Agent,
  type AgentContext,
  type AgentOptions,
  type AgentParts,
  type AgentSpaces,
  type AlgorithmDefinition,
  checkReplay,
} from "@bellman/agent";
import type { StochasticPolicy } from "@bellman/policies";
import { schedule, Scheduler } from "@bellman/schedulers";
import { type SacConfig, sacConfigSchema } from "./config.ts";
import { explorationOf } from "./exploration.ts";
import { sacPresets } from "./presets.ts";
import { type SettledConfig, settledConfig, variantOf } from "./variants.ts";

/** Options of {@link SAC}. */
export interface SacOptions extends AgentOptions<SacConfig> {
  /**
   * Factor of the rewards by the number of updates before (`scale_reward` as a
   * function of the iteration).
   *
   * @default config.rewardScale
   */
  readonly rewardScale?: (iteration: number) => number;
}

/** Soft actor-critic, as `Agent` and the command line know it. */
export const sac: AlgorithmDefinition<SacConfig, StochasticPolicy> = {
  name: "sac",
  title: "SAC",
  summary: "Soft actor-critic, off-policy (Haarnoja et al. 2018)",
  schema: sacConfigSchema,
  presets: sacPresets,
  runDefaults: { numEnvs: 1 },
  hasReplay: true,
  check: checkConfig,
  build: partsOf,
};

/**
 * Soft actor-critic: acts, remembers every transition, and learns from batches
 * of them how to be rewarded and yet stay as random as it can. Everything that
 * it holds can be saved and restored, bit for bit, its transitions included.
 *
 * Box actions take the form that is used today (two Q functions, a learned
 * temperature) or, with `critics: "value"`, that of the first paper; discrete
 * ones take Christodoulou's.
 *
 * Source: Haarnoja et al. 2018 (https://arxiv.org/abs/1812.05905) and its
 * forerunner (https://arxiv.org/abs/1801.01290); Christodoulou 2019
 * (https://arxiv.org/abs/1910.07207).
 *
 * @example
 * ```ts
 * import { SAC } from "@bellman/sac";
 * import { assert } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const agent = new SAC({
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
export class SAC extends Agent<SacConfig, StochasticPolicy> {
  /**
   * Estimates values of actions in one state, by the first Q function.
   *
   * @param observation One observation, as the environment gives it.
   * @param actions Box actions `[count, ...]` in [-1, 1]; left out for discrete
   * actions, whose values are all returned.
   * @returns Values `[count]`, a new array.
   */
  declare readonly qValues: NonNullable<Agent["qValues"]>;

  /**
   * Creates a new agent; the TensorFlow.js backend must have been chosen.
   *
   * @param spaces Spaces of one environment, and number of environments.
   * @param options Settings, seed, length of the run.
   * @throws {RangeError} If a setting is out of its range.
   * @throws {TypeError} If settings exclude each other, or a space is neither
   * box nor discrete.
   */
  constructor(spaces: AgentSpaces, options: SacOptions = {}) {
    const build: typeof sac.build = (...given) =>
      partsOf(...given, options.rewardScale);
    super({ ...sac, build }, spaces, options);
  }

  /** Transitions that it can learn from. */
  get replaySize(): number {
    return this.experience.length;
  }
}

function partsOf(
  given: SacConfig,
  context: AgentContext,
  rewardScale?: SacOptions["rewardScale"],
): AgentParts<StochasticPolicy> {
  const config = settledConfig(given, context);
  const variant = variantOf(config, context);
  const { trainFrequency, sdeSampleFrequency } = config;
  const every = sdeSampleFrequency === -1 ? trainFrequency : sdeSampleFrequency;
  return {
    ...variant,
    numbers: numbersOf(config, context, rewardScale),
    ...explorationOf(config, context, variant.policy),
    stateDependentNoise: {
      renews: (step) => step % every === 0,
      sampleFrequency: sdeSampleFrequency,
    },
  };
}

/** Makes the numbers of each update: rates, step of the target networks, scale. */
function numbersOf(
  config: SettledConfig,
  { totalTimesteps }: AgentContext,
  rewardScale: (iteration: number) => number = () => config.rewardScale,
): AgentParts["numbers"] {
  const { learningRate, tau, targetUpdateInterval, temperature } = config;
  const scheduled = (value: number | null) =>
    new Scheduler({
      value: value ?? learningRate,
      numValues: totalTimesteps,
      schedule: schedule(config.learningRateSchedule),
    });
  const rate = scheduled(learningRate);
  const criticRate = scheduled(config.criticLearningRate);
  const temperatureRate = scheduled(config.temperatureLearningRate);
  return ({ steps, updates }) => {
    const scale = rewardScale(updates);
    if (!Number.isFinite(scale)) {
      throw new RangeError(
        `Cannot scale rewards by ${scale} at update ${updates}: expected a finite number`,
      );
    }
    return {
      learningRate: rate.valueAt(steps),
      criticLearningRate: criticRate.valueAt(steps),
      temperatureLearningRate: temperatureRate.valueAt(steps),
      tau: updates % targetUpdateInterval === 0 ? tau : 0,
      rewardScale: scale,
      ...(temperature !== null && { alpha: temperature }),
    };
  };
}

/** Refuses settings that exclude each other. */
function checkConfig(
  config: SacConfig,
  context: AgentContext,
): void {
  const { numEnvs, actionSpace } = context;
  checkReplay(settledConfig(config, context), { of: "SAC", numEnvs });
  const { critics, policy, useSde, reparameterize, temperature } = config;
  const refuse = (settings: string, wanted: string): never => {
    throw new TypeError(`Cannot run SAC with ${settings}: expected ${wanted}`);
  };
  const boxOnly = {
    "critics: value": critics === "value",
    useSde,
    "policy: mixture": policy === "mixture",
  };
  for (const [setting, isChosen] of Object.entries(boxOnly)) {
    if (!isChosen || actionSpace.type === "box") continue;
    refuse(`${setting} and discrete actions`, "box actions");
  }
  if (critics === "value" && temperature !== null) {
    refuse(
      "temperature and critics: value",
      "rewardScale, which stands in its place",
    );
  }
  const why = "as the choice of a component has no gradient";
  if (policy === "mixture" && critics !== "value") {
    refuse("policy: mixture and critics: twin_q", `critics: value, ${why}`);
  }
  if (policy === "mixture" && reparameterize === true) {
    refuse("policy: mixture and reparameterize: true", `false, ${why}`);
  }
}
