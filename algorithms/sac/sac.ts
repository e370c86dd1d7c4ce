import {
  Agent,
  type AgentContext,
  type AgentOptions,
  type AgentSpaces,
  type Algorithm,
  type AnyUpdate,
  type BuildContext,
  checkReplay,
  type Draw,
  type KnownSpaces,
  type Parts,
  type Progress,
  randomActions,
  replayWithData,
  unusedLayers,
  unusedNoise,
  unusedReplay,
  warmupActions,
} from "@bellman/agent";
import { adam, type Params } from "@bellman/compute";
import {
  discreteQFunction,
  functionOptions,
  networkFor,
  observationEncoder,
  pickPrefix,
  qFunction,
  type StochasticPolicy,
  stochasticPolicy,
} from "@bellman/policies";
import { scheduledOverRun } from "@bellman/schedulers";
import type { DiscreteSpace, Space } from "@bellman/types";
import type * as tf from "@tensorflow/tfjs";
import { type SacConfig, sacConfigSchema } from "./config.ts";
import {
  discreteSacUpdate,
  type DiscreteSacUpdateOptions,
} from "./updates/discrete_update.ts";
import { sacPresets } from "./presets.ts";
import {
  hasTargetNetworks,
  METHOD_SETTINGS,
  type SettledConfig,
  settledConfig,
} from "./settled_config.ts";
import {
  initSacState,
  sacUpdate,
  type SacUpdateOptions,
} from "./updates/update.ts";

/** Options of {@link SAC}. */
export interface SacOptions extends AgentOptions<SacConfig> {
  /**
   * Reward scale by the number of updates so far (`scale_reward` as a function of the
   * iteration).
   *
   * @default config.rewardScale
   */
  readonly rewardScale?: (iteration: number) => number;
}

/** Soft actor-critic (SAC) as an algorithm, for `Agent` and the command line. */
export const sac: Algorithm<SacConfig, StochasticPolicy> = {
  meta: {
    name: "sac",
    title: "SAC",
    summary:
      "Soft actor-critic, off-policy, with TQC, CrossQ, REDQ and DroQ (Haarnoja et al. 2018)",
    schema: sacConfigSchema,
    presets: sacPresets,
    statistics: {
      temperature_loss: ["Temperature loss", "ent_coef_loss"],
      temperature: ["Temperature", "ent_coef"],
      q1_mean: ["First Q value: mean", "qf1-avg"],
      q1_std: ["First Q value: standard deviation", "qf1-std"],
      q2_mean: ["Second Q value: mean", "qf2-avg"],
      q2_std: ["Second Q value: standard deviation", "qf2-std"],
      q_difference: ["Difference of both Q values", "mean-qf-diff"],
      q1_bellman_error: [
        "First Q value: squared Bellman error",
        "mean-sq-bellman-error1",
      ],
      q2_bellman_error: [
        "Second Q value: squared Bellman error",
        "mean-sq-bellman-error2",
      ],
    },
    smallConfig: {
      hiddenSizes: [8],
      batchSize: 8,
      bufferSize: 400,
      learningStarts: 20,
    },
    runDefaults: { numEnvs: 1 },
    hasReplay: true,
    defaultedBy: { method: METHOD_SETTINGS },
    unusedSettings: unusedOf,
  },
  check: checkConfig,
  build: (config, context) => partsOf(config, context),
};

/**
 * Soft actor-critic (SAC): stores transitions in a replay buffer, and maximizes reward
 * and entropy from sampled batches. The saved state includes the replay buffer; a
 * restored agent continues bit for bit.
 *
 * Box actions use two Q-functions with target networks and a learned temperature,
 * discrete ones Christodoulou's form of it; `method` chooses TQC, CrossQ, REDQ or DroQ.
 * The first paper's SAC is `@bellman/sac-v1`.
 *
 * Source: Haarnoja et al. 2018 (https://arxiv.org/abs/1812.05905); Christodoulou 2019
 * (https://arxiv.org/abs/1910.07207).
 *
 * @typeParam E Environments, or their spaces: the type of the actions.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { SAC } from "@bellman/sac";
 * import { assert } from "@std/assert";
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
export class SAC<const E extends AgentSpaces = AgentSpaces>
  extends Agent<SacConfig, E> {
  /** Policy that acts, without its parameters. */
  declare readonly model: StochasticPolicy;

  /**
   * Estimates Q-values in one state, by the first Q-function.
   *
   * @param observation Observation, as the environment returns it.
   * @param actions Box actions `[count, ...]` in [-1, 1]; omit for discrete actions, to
   * get all Q-values.
   * @returns Q-values `[count]`, a new array.
   */
  declare readonly qValues: NonNullable<Agent["qValues"]>;

  /**
   * Creates an agent.
   *
   * @param spaces Spaces and number of environments.
   * @param options Settings, seed, length of the run.
   * @throws {RangeError} If a setting is out of its range.
   * @throws {TypeError} If settings exclude each other, or a space is neither
   * box nor discrete.
   */
  constructor(spaces: E, options: SacOptions = {}) {
    const { rewardScale, ...others } = options ?? {};
    const build: typeof sac.build = (config, context) =>
      partsOf(config, context, rewardScale);
    // What is no object is refused there.
    super(
      { ...sac, build },
      spaces,
      "rewardScale" in Object(options) ? others : options,
    );
  }

  /** Number of stored transitions. */
  get replaySize(): number {
    return this.memory.store!.buffer.length;
  }
}

/** Parts that depend on the kind of actions. */
interface SacForm extends Pick<Parts<StochasticPolicy>, "policy" | "state"> {
  /** Updates of critics and policy, and of the critics alone. */
  readonly updates: Record<"learn" | "critics", AnyUpdate>;
  /** Names of the update's noise inputs. */
  readonly noises: readonly string[];
  /** Q-function of an action, or of all discrete ones. */
  estimate(params: Params, x: tf.Tensor, actions: tf.Tensor): tf.Tensor;
}

function partsOf(
  requested: SacConfig,
  context: BuildContext,
  rewardScale?: SacOptions["rewardScale"],
): Parts<StochasticPolicy> {
  const config = settledConfig(requested, context);
  const { state, updates, estimate, ...form } = formOf(config, context);
  const { trainFrequency, sdeSampleFrequency, nSteps } = config;
  const every = sdeSampleFrequency === -1 ? trainFrequency : sdeSampleFrequency;
  const policy = {
    ...form.policy,
    noiseSchedule: {
      renews: (step: number) => step % every === 0,
      sampleFrequency: sdeSampleFrequency,
    },
  };
  // Updates need the observations between the rewards of an n-step return.
  const between = nSteps > 1 && config.nStepEntropy === "all";
  const noises = noisesOf(form, config, between);
  const numbers = numbersOf(config, context, rewardScale);
  return {
    policy,
    state,
    memory: replayWithData(context, policy, { ...config, between }),
    inputs: (progress, draw) => ({ ...noises(draw), ...numbers(progress) }),
    learn: (progress) => {
      const isDelayed = (progress.updates + 1) % config.policyDelay !== 0;
      return isDelayed ? updates.critics : updates.learn;
    },
    explore: randomActions(context, warmupActions(config)),
    qFunction: {
      part: "critics",
      estimate: (critics, observations, actions) =>
        estimate(pickPrefix(critics, "qf1"), observations, actions!),
    },
  };
}

/** Makes networks, initial state and updates for an action space. */
function formOf(config: SettledConfig, context: BuildContext): SacForm {
  const { observationSpace, actionSpace, random } = context;
  const layers = { observationSpace, ...functionOptions(config) };
  const { normalization, dropout, quantiles, numCritics } = config;
  const ofCritics = {
    ...{ observationSpace, normalization, dropout },
    ...functionOptions({ ...config, hiddenSizes: config.criticHiddenSizes }),
  };
  const initial = {
    ...{ numCritics, targetNetworks: config.targetNetworks },
    initialAlpha: config.temperature === null
      ? config.initialTemperature
      : null,
  };
  const options = updateOptions(config);
  if (actionSpace.type === "discrete") {
    const policy = stochasticPolicy({ ...layers, actionSpace });
    const qf = discreteQFunction({ ...ofCritics, actionSpace });
    const model = { policy, qf };
    const ofActions = discreteOptions(config, actionSpace);
    return {
      policy,
      estimate: (params, x) => qf.apply(params, x),
      noises: [],
      state: initSacState(model, random, initial),
      updates: discreteSacUpdate(model, { ...options, ...ofActions }),
    };
  }
  if (actionSpace.type !== "box") {
    throw new TypeError(
      `Cannot run SAC with actions of type ${actionSpace.type}: expected box or discrete`,
    );
  }
  const policy = stochasticPolicy({
    ...config,
    ...{ ...layers, actionSpace, dropout: 0 },
    normalization: normalization === "batch" ? "batch" : "none",
  });
  const qf = qFunction({ ...ofCritics, actionSpace, quantiles });
  const model = { policy, qf };
  return {
    ...{ policy, estimate: qf.apply },
    noises: ["noise", "nextNoise"],
    state: initSacState(model, random, initial),
    updates: sacUpdate(model, options),
  };
}

/** Returns what updates of any actions take from the settings. */
function updateOptions(config: SettledConfig): SacUpdateOptions {
  const { quantiles, targetCritics, dropout } = config;
  const hasMean = quantiles !== null || targetCritics !== null || dropout > 0;
  return {
    ...config,
    optimizer: adam({ beta1: config.adamBeta1 }),
    temperatureOptimizer: adam(),
    targetEntropy: config.targetEntropy ?? undefined,
    policyValue: hasMean ? "mean" : "smallest",
  };
}

/** Returns what updates of discrete actions take in addition. */
function discreteOptions(
  { targetEntropy, targetEntropyFactor }: SettledConfig,
  { n, start = 0 }: DiscreteSpace,
): Pick<DiscreteSacUpdateOptions, "start" | "targetEntropyFactor"> {
  if (targetEntropy === null) return { start, targetEntropyFactor };
  // A single action has no entropy.
  const factor = n === 1 ? 0 : targetEntropy / Math.log(n);
  return { start, targetEntropyFactor: factor };
}

/** Makes a function that draws the random numbers of an update. */
function noisesOf(
  { policy, noises }: Pick<SacForm, "policy" | "noises">,
  config: SettledConfig,
  between: boolean,
): (draw: Draw) => Record<string, ReturnType<Draw>> {
  const { batchSize, nSteps, numCritics, criticHiddenSizes } = config;
  const { noise } = policy.distribution;
  const drawn: Record<string, Parameters<Draw>> = {};
  for (const name of noises) drawn[name] = [noise, batchSize];
  if (between && noises.length > 0) {
    drawn.betweenNoise = [noise, batchSize * (nSteps - 1)];
  }
  if (config.targetCritics !== null) {
    drawn.criticOrder = [{ kind: "permutation", size: numCritics }, 1];
  }
  if (config.dropout > 0) {
    const size = criticHiddenSizes.reduce((sum, it) => sum + it, 0);
    // One for each pass of a critic.
    const rows = 3 * numCritics * batchSize;
    drawn.dropout = [{ kind: "uniform", size }, rows];
  }
  return (draw) =>
    Object.fromEntries(
      Object.entries(drawn).map(([name, numbers]) => [name, draw(...numbers)]),
    );
}

/**
 * Returns the scheduled hyperparameters of an update: learning rates, target update
 * rate, reward scale.
 */
function numbersOf(
  config: SettledConfig,
  { totalTimesteps }: AgentContext,
  rewardScale: (iteration: number) => number = () => config.rewardScale,
): (progress: Progress) => Record<string, number> {
  const { learningRate, tau, temperature } = config;
  const schedule = config.learningRateSchedule;
  const scheduled = (value: number | null) =>
    scheduledOverRun(value ?? learningRate, { totalTimesteps, schedule });
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
      learningRate: rate(steps),
      criticLearningRate: criticRate(steps),
      temperatureLearningRate: temperatureRate(steps),
      tau,
      rewardScale: scale,
      ...(temperature !== null && { alpha: temperature }),
    };
  };
}

/** Lists settings that have no effect given the others. */
function unusedOf(
  config: SacConfig,
  spaces: KnownSpaces,
): Record<string, string> {
  const { temperature, targetEntropy } = config;
  const isDiscrete = spaces.actionSpace?.type === "discrete";
  const isBox = spaces.actionSpace?.type === "box";
  const unused = (why: string, ...keys: (keyof SacConfig)[]) =>
    Object.fromEntries(keys.map((key) => [key, why]));
  // The meaning of null depends on the actions.
  const first = config.initialExploration ??
    (isBox ? "uniform" : isDiscrete ? "repeated" : undefined);
  return {
    ...unusedReplay(config),
    ...unusedLayers(config, { ...spaces, endsInLayers: true }),
    ...unusedNoise(config, spaces),
    ...(config.nSteps === 1 && unused("nSteps is 1", "nStepEntropy")),
    ...((config.criticHiddenSizes ?? config.hiddenSizes).length === 0 &&
      unused("the critics have no hidden layers", "dropout")),
    ...(!hasTargetNetworks(config) &&
      unused("there are no target networks", "tau")),
    ...(first !== undefined && first !== "repeated" &&
      unused("initialExploration repeats no action", "repeatExponent")),
    ...(isBox &&
      unused("only discrete actions have it", "targetEntropyFactor")),
    ...(isDiscrete &&
      unused("discrete actions are not squashed", "squashCorrection")),
    ...(targetEntropy !== null &&
      unused("targetEntropy is given", "targetEntropyFactor")),
    ...(temperature !== null &&
      unused(
        "the temperature is fixed",
        "initialTemperature",
        "temperatureLearningRate",
        "targetEntropy",
        "targetEntropyFactor",
      )),
  };
}

/** Throws if settings exclude each other. */
function checkConfig(
  config: SacConfig,
  context: AgentContext,
): void {
  const settled = settledConfig(config, context);
  checkReplay(settled, { of: "SAC", ...context });
  const { actionSpace, observationSpace } = context;
  const { numCritics, targetCritics, quantiles } = settled;
  const { normalization, targetNetworks } = settled;
  const refuse = (settings: string, wanted: string): never => {
    throw new TypeError(`Cannot run SAC with ${settings}: expected ${wanted}`);
  };
  if (config.useSde && actionSpace.type !== "box") {
    refuse("useSde and discrete actions", "box actions");
  }
  if (targetCritics !== null && targetCritics > numCritics) {
    refuse(
      `targetCritics: ${targetCritics} and numCritics: ${numCritics}`,
      `numCritics of at least ${targetCritics}`,
    );
  }
  if (normalization === "batch" && targetNetworks) {
    refuse(
      "normalization: batch and targetNetworks: true",
      "targetNetworks: false, as both observations share the statistics",
    );
  }
  if (normalization !== "batch" && !targetNetworks) {
    refuse(
      `targetNetworks: false and normalization: ${normalization}`,
      "normalization: batch, which stands in their place",
    );
  }
  if (targetCritics !== null && !targetNetworks) {
    refuse("targetCritics and no target networks", "targetNetworks: true");
  }
  if (quantiles === null && normalization !== "batch") return;
  // Names what was set: the method, where it gave the setting.
  const [key, own] = quantiles !== null
    ? ["quantiles", "quantiles"] as const
    : ["normalization", "normalization: batch"] as const;
  const isOf = config[key] === null ? `method: ${config.method}` : own;
  const others = "or method: sac, redq or droq";
  if (context.masked) refuse(`${isOf} and action masks`, `none, ${others}`);
  if (actionSpace.type === "discrete") {
    refuse(`${isOf} and discrete actions`, `box actions, ${others}`);
  }
  const image = imageNetwork(config, observationSpace);
  if (image !== undefined) {
    refuse(`${isOf} and network: ${image}`, `network: mlp, ${others}`);
  }
}

/** Returns the network for images that the settings choose, if they do. */
function imageNetwork(
  { network, partNetworks }: SacConfig,
  space: Space,
): string | undefined {
  if (typeof network !== "string") return undefined;
  const { observationShape, observationParts: inputParts } = observationEncoder(
    space,
  );
  const name = network === "auto"
    ? networkFor(observationShape, { inputParts, partNetworks })
    : network;
  return name === "mlp" ? undefined : name;
}
