import {
  Agent,
  type AgentContext,
  type AgentOptions,
  type AgentSpaces,
  type Algorithm,
  type AnyUpdate,
  type BuildContext,
  type Draw,
  type KnownSpaces,
  type Parts,
  sequenceRows,
  Sequences,
  unusedLayers,
  unusedNoise,
  unusedOptimizer,
  unusedReplay,
} from "@bellman/agent";
import {
  createOptimizer,
  type Params,
  type RandomStream,
} from "@bellman/compute";
import {
  actorCritic,
  networkNames,
  pickPrefix,
  type Policy,
  qActorCritic,
  qFunction,
} from "@bellman/policies";
import { scheduledOverRun } from "@bellman/schedulers";
import type { BoxSpace, DiscreteSpace } from "@bellman/types";
import * as tf from "@tensorflow/tfjs";
import { type AcerConfig, acerConfigSchema } from "./config.ts";
import {
  type ContinuousAcerBatch,
  continuousAcerUpdate,
  initDuelingModel,
} from "./continuous.ts";
import { acerPresets } from "./presets.ts";
import {
  type AcerBatch,
  type AcerInputs,
  type AcerState,
  acerUpdate,
  type AcerUpdateOptions,
  initAcerState,
} from "./update.ts";

/**
 * Actor-critic with experience replay (ACER) as an algorithm, for `Agent` and the
 * command line.
 *
 * Source: Wang et al. 2017 (https://arxiv.org/abs/1611.01224), as in baselines/acer.
 */
export const acer: Algorithm<AcerConfig> = {
  meta: {
    name: "acer",
    title: "ACER",
    summary: "Actor-critic with experience replay (Wang et al. 2017)",
    schema: acerConfigSchema,
    presets: acerPresets,
    // A single learning rate needs values of about the same scale.
    runDefaults: { normalizeReward: true },
    statistics: {
      truncated_loss: ["Policy loss: truncated importance sampling", "loss_f"],
      bias_correction_loss: ["Policy loss: bias correction", "loss_bc"],
      policy_grad_norm: ["Gradient norm: policy", "norm_grads_policy"],
      q_grad_norm: ["Gradient norm: Q function", "norm_grads_q"],
      kl_gradient_norm: ["Gradient norm: divergence", "avg_norm_k"],
      gain_gradient_norm: ["Gradient norm: gain", "avg_norm_g"],
      projected_gradient_norm: [
        "Gradient norm: projected gain",
        "avg_norm_grads_f",
      ],
      kl_gain_product: [
        "Product of the gradients of divergence and gain",
        "avg_norm_k_dot_g",
      ],
      trust_region_adjustment: [
        "Adjustment by the trust region",
        "avg_norm_adj",
      ],
      steps_dropped: ["Steps dropped"],
    },
    smallConfig: {
      numSteps: 5,
      hiddenSizes: [8],
      bufferSize: 200,
      replayStart: 40,
    },
    hasReplay: true,
    unusedSettings: unusedOf,
  },
  check: checkConfig,
  build: partsOf,
};

function partsOf(
  config: AcerConfig,
  context: BuildContext,
): Parts<Policy, AcerState> {
  const { actionSpace, numEnvs, totalTimesteps, random } = context;
  const { numSteps, learningRate, sdeSampleFrequency } = config;
  const optimizer = createOptimizer(config.optimizer, {
    decay: config.rmspropDecay,
    epsilon: config.rmspropEpsilon,
  });
  const options = { ...config, optimizer, numEnvs };
  const { init, update, noises, qFunction, ...parts } =
    actionSpace.type === "discrete"
      ? discreteParts(options, { ...context, actionSpace })
      : duelingParts(options, context);
  const rate = scheduledOverRun(learningRate, {
    totalTimesteps,
    schedule: config.learningRateSchedule,
  });
  /** Environment steps in one segment. */
  const collected = numEnvs * numSteps;
  const every = sdeSampleFrequency === -1 ? numSteps : sdeSampleFrequency;
  const policy = {
    ...parts.policy,
    noiseSchedule: {
      renews: (step: number) => step % numSteps % every === 0,
      sampleFrequency: sdeSampleFrequency,
    },
  };
  const learn = update(options);
  const plain = update({ ...options, partNorms: false });
  // Only the statistics of the last update are read.
  const quiet: AnyUpdate = (...given) => ({ ...plain(...given), stats: {} });
  return {
    policy,
    state: initAcerState(init(random), optimizer),
    memory: new Sequences(context, policy, config),
    inputs: ({ steps }, draw) => ({
      ...noises?.(draw),
      // The original counts the steps before those of the segment.
      learningRate: rate(Math.max(0, steps - collected)),
    }),
    learn: ({ isLast = true }) => isLast ? learn : quiet,
    qFunction,
  };
}

/** Parts of an agent that depend on its action space. */
interface ActionParts extends Pick<Parts, "policy" | "qFunction"> {
  readonly init: (random: RandomStream) => Params;
  /** Makes an update with or without the norms of the gradients' parts. */
  readonly update: (options: Options) => AnyUpdate;
  /** Draws the noise of an update, if it needs some. */
  readonly noises?: (draw: Draw) => Record<Noises, ReturnType<Draw>>;
}

type Options = Omit<AcerConfig, "optimizer"> & AcerUpdateOptions;

/** Options of the networks before the heads. */
function networkOf(config: Options) {
  const { hiddenSizes, activation, lstmSize, partNetworks } = config;
  return {
    network: config.network,
    networkOptions: { hiddenSizes, activation, lstmSize, partNetworks },
    valueNetwork: config.qNetwork,
    orthogonalInit: config.orthogonalInit,
  };
}

/** Segments of discrete actions as the agent samples them from replay. */
type DiscreteSegments = Omit<AcerBatch, "mu"> & {
  readonly behaviour: tf.Tensor2D;
};

/** Noise inputs of an update for other actions. */
type Noises = "noise" | "sampleNoise";

/** Makes a network for the policy and the Q-values of all actions. */
function discreteParts(
  options: Options,
  context: AgentContext & { readonly actionSpace: DiscreteSpace },
): ActionParts {
  const policy = qActorCritic({ ...context, ...networkOf(options) });
  const { start = 0 } = context.actionSpace;
  return {
    policy,
    init: (random) => policy.init(random),
    update(options) {
      const update = acerUpdate(policy, options);
      return (
        state: AcerState,
        { behaviour, actions, ...rows }: DiscreteSegments,
        inputs: AcerInputs,
      ) =>
        update(state, {
          ...rows,
          actions: tf.sub(actions, tf.scalar(start, "int32")),
          mu: tf.softmax(behaviour),
        }, inputs);
    },
    qFunction: {
      part: "policy",
      estimate: (params, observations) => policy.apply(params, observations).q,
    },
  };
}

/** Makes a stochastic dueling network, for any action distribution. */
function duelingParts(options: Options, context: AgentContext): ActionParts {
  const { hiddenSizes, activation, partNetworks } = options;
  const { useSde, initialLogStd } = options;
  const exploration = { useSde, initialLogStd };
  const policy = actorCritic({
    ...context,
    ...networkOf(options),
    ...exploration,
  });
  const isRecurrent = policy.stateSize > 0;
  const advantage = qFunction({
    observationSpace: isRecurrent
      ? hiddenSpace(options.lstmSize)
      : context.observationSpace,
    actionSpace: context.actionSpace as BoxSpace,
    network: isRecurrent ? "mlp" : options.network,
    networkOptions: { hiddenSizes, activation, partNetworks },
  });
  const model = { policy, advantage };
  const { numSteps, truncationsPerSegment } = options;
  const rows = context.numEnvs * sequenceRows(numSteps, truncationsPerSegment);
  const { noise } = policy.distribution;
  return {
    policy,
    init: (random) => initDuelingModel(model, random),
    update(options) {
      const update = continuousAcerUpdate(model, options);
      return (
        state: AcerState,
        batch: Omit<ContinuousAcerBatch, Noises>,
        { learningRate, ...noises }:
          & AcerInputs
          & Pick<ContinuousAcerBatch, Noises>,
      ) => update(state, { ...batch, ...noises }, { learningRate });
    },
    noises: (draw) => ({
      noise: draw(noise, rows),
      sampleNoise: draw(noise, options.advantageSamples * rows),
    }),
    qFunction: {
      part: "policy",
      estimate(params, observations, actions) {
        const { value, features } = policy.apply(params, observations);
        const advantageParams = pickPrefix(params, "advantage"),
          x = features ?? observations;
        return tf.add(value, advantage.apply(advantageParams, x, actions!));
      },
    },
  };
}

/** Returns the space of a recurrent network's hidden state. */
function hiddenSpace(size: number): BoxSpace {
  return { type: "box", shape: [size], low: -1, high: 1, dtype: "float32" };
}

/** Lists settings that have no effect given the others. */
function unusedOf(
  config: AcerConfig,
  spaces: KnownSpaces,
): Record<string, string> {
  const layers = unusedLayers(config, spaces);
  const none = "replayRatio 0 keeps no segments";
  const average = "there is no trust region";
  return {
    ...unusedReplay(config),
    ...layers,
    ...unusedNoise(config, spaces),
    ...unusedOptimizer(config),
    ...(layers.lstmSize !== undefined && { initialState: layers.lstmSize }),
    ...(config.replayRatio === 0 &&
      Object.fromEntries(OF_REPLAY.map((key) => [key, none]))),
    ...(!config.trustRegion &&
      { delta: average, averageDecay: average, averageOrder: average }),
    ...(spaces.actionSpace?.type === "discrete" &&
      { advantageSamples: "the values of discrete actions are all known" }),
  };
}

/** Settings that need replayed segments. */
const OF_REPLAY = [
  "bufferSize",
  "replayStart",
  "replay",
  "priorityAlpha",
  "priorityBeta",
  "priorityEpsilon",
  "replayStorage",
  "saveReplay",
  "burnIn",
] as const;

/** Throws if settings exclude each other. */
function checkConfig(config: AcerConfig, { actionSpace }: AgentContext): void {
  const { numSteps, bufferSize, replayRatio, replayStart, burnIn } = config;
  const { type } = actionSpace;
  const { network } = config, isKept = replayRatio > 0;
  // A custom network may be recurrent.
  const isFeedForward = networkNames.includes(network) &&
    !network.includes("lstm");
  const rules: [isBroken: boolean, setting: string, wanted: string][] = [
    [
      type !== "box" && config.useSde,
      `useSde and ${type} actions`,
      "box actions",
    ],
    [
      burnIn >= numSteps,
      `burnIn = ${burnIn}`,
      `less than numSteps, ${numSteps}`,
    ],
    [
      burnIn > 0 && isFeedForward,
      `burnIn = ${burnIn} and network: ${network}`,
      "a recurrent network, as lstm",
    ],
    [
      isKept && bufferSize % numSteps !== 0,
      `bufferSize = ${bufferSize}`,
      `a multiple of numSteps, ${numSteps}`,
    ],
    [
      isKept && replayStart > bufferSize,
      `replayStart = ${replayStart}`,
      `at most bufferSize, ${bufferSize}`,
    ],
  ];
  const broken = rules.find(([isBroken]) => isBroken);
  if (broken === undefined) return;
  const [, setting, wanted] = broken;
  throw new RangeError(`Cannot run ACER with ${setting}: expected ${wanted}`);
}

/**
 * Actor-critic with experience replay (ACER): learns from each new segment of
 * `numSteps` steps, then from some that it replays. The saved state includes the replay
 * buffer; a restored agent continues bit for bit.
 *
 * `update` returns the statistics of baselines/acer: {@linkcode AcerStatistics}.
 *
 * @typeParam E Environments, or their spaces: the type of the actions.
 *
 * @example
 * ```ts
 * import { ACER } from "@bellman/acer";
 * import * as tf from "@bellman/compute/tf";
 * import { assert } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const agent = new ACER({
 *   observationSpace: { type: "discrete", n: 2 },
 *   actionSpace: { type: "discrete", n: 2 },
 *   numEnvs: 2,
 * }, {
 *   config: { numSteps: 1, hiddenSizes: [8], bufferSize: 10, replayStart: 1 },
 *   seed: 1,
 * });
 *
 * const observations = new Int32Array([0, 1]);
 * const actions = agent.act(observations);
 * agent.observe({
 *   observations,
 *   rewards: Float64Array.from(actions),
 *   terminated: new Uint8Array([1, 1]),
 *   truncated: new Uint8Array(2),
 *   finalObservations: observations,
 * });
 * assert(agent.update()!.q_loss > 0);
 * assert(agent.updates >= 1); // replayed segments are drawn by chance
 * agent.close();
 * ```
 */
export class ACER<const E extends AgentSpaces = AgentSpaces>
  extends Agent<AcerConfig, E> {
  /**
   * Estimates Q-values in one state: of all discrete actions, or of the given ones.
   *
   * @param observation Observation, as the environment returns it.
   * @param actions Actions `[count, ...]`; omit for discrete ones.
   * @returns Q-values, a new array.
   */
  declare readonly qValues: NonNullable<Agent["qValues"]>;

  /**
   * Creates an agent.
   *
   * @param spaces Spaces and number of environments.
   * @param options Settings, seed, length of the run.
   * @throws {RangeError} If a setting is out of its range, or conflicts with
   * another one.
   * @throws {TypeError} If the actions are of a dict or tuple space.
   */
  constructor(spaces: E, options: AgentOptions<AcerConfig> = {}) {
    super(acer, spaces, options);
  }
}
