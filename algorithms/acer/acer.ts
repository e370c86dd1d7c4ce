import {
  Agent,
  type AgentContext,
  type AgentOptions,
  type AgentParts,
  type AgentSpaces,
  type AlgorithmDefinition,
  segments,
  type Tensors,
} from "@bellman/agent";
import { createOptimizer } from "@bellman/compute";
import { type QActorCritic, qActorCritic } from "@bellman/policies";
import { schedule, Scheduler } from "@bellman/schedulers";
import * as tf from "@tensorflow/tfjs";
import { type AcerConfig, acerConfigSchema } from "./config.ts";
import { acerPresets } from "./presets.ts";
import {
  type AcerBatch,
  type AcerState,
  acerUpdate,
  initAcerState,
} from "./update.ts";

/**
 * Actor-critic with experience replay, as `Agent` and the command line know it.
 *
 * Source: Wang et al. 2017 (https://arxiv.org/abs/1611.01224), as in
 * baselines/acer.
 */
export const acer: AlgorithmDefinition<AcerConfig, QActorCritic> = {
  name: "acer",
  title: "ACER",
  summary: "Actor-critic with experience replay (Wang et al. 2017)",
  schema: acerConfigSchema,
  presets: acerPresets,
  hasReplay: true,
  check: checkConfig,
  build: partsOf,
};

function partsOf(
  config: AcerConfig,
  context: AgentContext,
): AgentParts<QActorCritic> {
  const { hiddenSizes, activation, lstmSize, learningRate } = config;
  const policy = qActorCritic({
    ...context,
    network: config.network,
    networkOptions: { hiddenSizes, activation, lstmSize },
    valueNetwork: config.qNetwork,
    orthogonalInit: config.orthogonalInit,
  });
  const optimizer = createOptimizer(config.optimizer, {
    decay: config.rmspropDecay,
    epsilon: config.rmspropEpsilon,
  });
  const update = acerUpdate(policy, {
    ...config,
    optimizer,
    numEnvs: context.numEnvs,
  });
  const rate = new Scheduler({
    value: learningRate,
    numValues: context.totalTimesteps,
    schedule: schedule(config.learningRateSchedule),
  });
  const { actionSpace, numEnvs } = context;
  const start = actionSpace.type === "discrete" ? actionSpace.start ?? 0 : 0;
  /** Steps of the environments in one segment. */
  const collected = numEnvs * config.numSteps;
  return {
    policy,
    experience: segments(config),
    init: (random) => initAcerState(policy.init(random), optimizer),
    update: (state, batch, { learningRate }) =>
      update(
        state as AcerState,
        encoded(batch, policy, start),
        { learningRate },
      ),
    // The original counts the steps before those of the segment.
    numbers: ({ steps }) => ({
      learningRate: rate.valueAt(Math.max(0, steps - collected)),
    }),
    actionValues: {
      part: "policy",
      estimate: (params, observations) => policy.apply(params, observations).q,
    },
  };
}

/** Makes the batch of an update: actions counted from 0, and probabilities. */
function encoded(
  { behaviour, ...batch }: Tensors,
  policy: QActorCritic,
  start: number,
): AcerBatch {
  const rows = batch as unknown as AcerBatch;
  return {
    ...rows,
    observations: policy.encode(rows.observations),
    actions: tf.sub(rows.actions, tf.scalar(start, "int32")),
    mu: tf.softmax(behaviour as tf.Tensor2D),
  };
}

/** Refuses settings that exclude each other. */
function checkConfig(config: AcerConfig, { actionSpace }: AgentContext): void {
  const { numSteps, bufferSize, replayRatio, replayStart, burnIn } = config;
  const refuse = (setting: string, wanted: string): never => {
    throw new RangeError(`Cannot run ACER with ${setting}: expected ${wanted}`);
  };
  if (actionSpace.type !== "discrete") {
    throw new TypeError(
      `Cannot run ACER with ${actionSpace.type} actions: expected discrete actions`,
    );
  }
  if (burnIn >= numSteps) {
    refuse(`burnIn = ${burnIn}`, `less than numSteps, ${numSteps}`);
  }
  if (burnIn > 0 && !config.network.includes("lstm")) {
    refuse(
      `burnIn = ${burnIn} and network: ${config.network}`,
      "a recurrent network, as lstm",
    );
  }
  if (replayRatio === 0) return;
  if (bufferSize % numSteps !== 0) {
    refuse(
      `bufferSize = ${bufferSize}`,
      `a multiple of numSteps, ${numSteps}`,
    );
  }
  if (replayStart > bufferSize) {
    refuse(
      `replayStart = ${replayStart}`,
      `at most bufferSize, ${bufferSize}`,
    );
  }
}

/**
 * Actor-critic with experience replay: acts, learns from each new segment of
 * `numSteps` steps, and then from some that it keeps. Everything that it holds can
 * be saved and restored, bit for bit, its segments included.
 *
 * `update` returns the statistics of baselines/acer: {@linkcode AcerStatistics}.
 *
 * @example
 * ```ts
 * import { ACER } from "@bellman/acer";
 * import { assert } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
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
 * assert(agent.update()!.loss_q > 0);
 * assert(agent.updates >= 1); // replayed segments are drawn by chance
 * agent.close();
 * ```
 */
export class ACER extends Agent<AcerConfig, QActorCritic> {
  /**
   * Estimates values of all actions in one state.
   *
   * @param observation One observation, as the environment gives it.
   * @param actions Not used.
   * @returns Values `[n]`, a new array.
   */
  declare readonly qValues: NonNullable<Agent["qValues"]>;

  /**
   * Creates a new agent; the TensorFlow.js backend must have been chosen.
   *
   * @param spaces Spaces of one environment, and number of environments.
   * @param options Settings, seed, length of the run.
   * @throws {RangeError} If a setting is out of its range, or does not go
   * together with another one.
   * @throws {TypeError} If the actions are not discrete.
   */
  constructor(spaces: AgentSpaces, options: AgentOptions<AcerConfig> = {}) {
    super(acer, spaces, options);
  }

  /** Steps of all environments that can be replayed. */
  get replaySize(): number {
    return this.experience.length;
  }
}
