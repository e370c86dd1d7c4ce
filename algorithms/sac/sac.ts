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
  Replay,
  unusedLayers,
  unusedNoise,
  unusedReplay,
  warmupActions,
} from "@bellman/agent";
import type { Params } from "@bellman/compute";
import {
  discreteQFunction,
  functionOptions,
  pickPrefix,
  qFunction,
  type StochasticPolicy,
  stochasticPolicy,
} from "@bellman/policies";
import { scheduledOverRun } from "@bellman/schedulers";
import type * as tf from "@tensorflow/tfjs";
import { type SacConfig, sacConfigSchema } from "./config.ts";
import { discreteSacUpdate } from "./updates/discrete_update.ts";
import { sacPresets } from "./presets.ts";
import { type SettledConfig, settledConfig } from "./settled_config.ts";
import { initSacState, sacUpdate } from "./updates/update.ts";

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
    summary: "Soft actor-critic, off-policy (Haarnoja et al. 2018)",
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
 * discrete ones Christodoulou's form of it. The first paper's SAC is `@bellman/sac-v1`.
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
  /** Update. */
  readonly learn: AnyUpdate;
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
  const { state, learn, estimate, ...form } = formOf(config, context);
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
    memory: new Replay(context, policy, { ...config, between }),
    inputs: (progress, draw) => ({ ...noises(draw), ...numbers(progress) }),
    learn: () => learn,
    explore: randomActions(context, warmupActions(config)),
    qFunction: {
      part: "critics",
      estimate: (critics, observations, actions) =>
        estimate(pickPrefix(critics, "qf1"), observations, actions!),
    },
  };
}

/** Makes networks, initial state and update for an action space. */
function formOf(config: SettledConfig, context: BuildContext): SacForm {
  const { observationSpace, actionSpace, random } = context;
  const layers = { observationSpace, ...functionOptions(config) };
  const { temperature, initialTemperature, gamma, targetEntropy } = config;
  const initialAlpha = temperature === null ? initialTemperature : null;
  if (actionSpace.type === "discrete") {
    const spaces = { ...layers, actionSpace }, { n, start = 0 } = actionSpace;
    const policy = stochasticPolicy(spaces), qf = discreteQFunction(spaces);
    const learn = discreteSacUpdate({ policy, qf }, {
      gamma,
      start,
      targetEntropyFactor: targetEntropy === null
        ? config.targetEntropyFactor
        : n === 1
        ? 0 // There is no other entropy.
        : targetEntropy / Math.log(n),
    });
    return {
      policy,
      estimate: (params, x) => qf.apply(params, x),
      noises: [],
      state: initSacState({ policy, qf }, random, { initialAlpha }),
      learn,
    };
  }
  if (actionSpace.type !== "box") {
    throw new TypeError(
      `Cannot run SAC with actions of type ${actionSpace.type}: expected box or discrete`,
    );
  }
  const spaces = { ...layers, actionSpace };
  const policy = stochasticPolicy({ ...config, ...spaces });
  const qf = qFunction(spaces), model = { policy, qf }, estimate = qf.apply;
  return {
    ...{ policy, estimate },
    noises: ["noise", "nextNoise"],
    state: initSacState(model, random, { initialAlpha }),
    learn: sacUpdate(model, {
      gamma,
      targetEntropy: targetEntropy ?? undefined,
    }),
  };
}

/** Makes a function that draws the noise of an update. */
function noisesOf(
  { policy, noises }: Pick<SacForm, "policy" | "noises">,
  { batchSize, nSteps }: SettledConfig,
  between: boolean,
): (draw: Draw) => Record<string, ReturnType<Draw>> {
  const { noise } = policy.distribution;
  const rows = noises.map((name) => [name, batchSize] as const);
  if (between && noises.length > 0) {
    rows.push(["betweenNoise", batchSize * (nSteps - 1)]);
  }
  return (draw) =>
    Object.fromEntries(rows.map(([name, rows]) => [name, draw(noise, rows)]));
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
  const { actionSpace } = context;
  checkReplay(settledConfig(config, context), { of: "SAC", ...context });
  if (config.useSde && actionSpace.type !== "box") {
    throw new TypeError(
      "Cannot run SAC with useSde and discrete actions: expected box actions",
    );
  }
}
