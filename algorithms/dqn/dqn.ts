import {
  Agent,
  type AgentContext,
  type AgentOptions,
  type AgentParts,
  type AgentSpaces,
  type AlgorithmDefinition,
  type BuildContext,
  checkReplay,
  type Moment,
  randomActions,
  replay,
  type Update,
} from "@bellman/agent";
import { adam } from "@bellman/compute";
import { type QPolicy, qPolicy } from "@bellman/policies";
import { scheduledOverRun } from "@bellman/schedulers";
import type { Statistics } from "@bellman/types";
import * as tf from "@tensorflow/tfjs";
import { type DqnConfig, dqnConfigSchema } from "./config.ts";
import { dqnPresets } from "./presets.ts";
import { returnForm } from "./return_form.ts";
import {
  type DqnBatch,
  type DqnInputs,
  type DqnState,
  dqnUpdate,
  initDqnState,
} from "./update.ts";

/** Share of clipped mass above which a run warns. */
const MUCH_CLIPPED = 0.01;

/** Inputs of an update, and the share of random actions for the log. */
interface Inputs extends DqnInputs {
  readonly epsilon: tf.Scalar;
}

/**
 * Deep Q-learning as `Agent`, the command line and the benches know it.
 *
 * Source: Mnih et al. 2015 (https://doi.org/10.1038/nature14236), with the options of
 * Hessel et al. 2018 (https://arxiv.org/abs/1710.02298).
 */
export const dqn: AlgorithmDefinition<DqnConfig, QPolicy> = {
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
  idle: idleOf,
  check: checkConfig,
  build: partsOf,
};

function partsOf(
  config: DqnConfig,
  context: BuildContext,
): AgentParts<QPolicy, DqnState, DqnBatch, Inputs> {
  const { hiddenSizes, activation, dueling, sigma0 } = config;
  const { actionSpace, random, numEnvs } = context;
  const isNoisy = config.exploration === "noisy", returns = returnForm(config);
  const policy = qPolicy({
    ...context,
    ...returns,
    network: config.network,
    networkOptions: {
      hiddenSizes,
      activation,
      partNetworks: config.partNetworks,
    },
    initializer: config.initializer,
    dueling,
    ...(isNoisy && { sigma0 }),
  });
  const optimizer = adam({ epsilon: config.adamEpsilon });
  const start = actionSpace.type === "discrete" ? actionSpace.start : 0;
  const update = dqnUpdate(policy, { ...config, returns, optimizer, start });
  const rate = scheduledOverRun(config.learningRate, {
    ...context,
    schedule: config.learningRateSchedule,
  });
  const program =
    (tau?: number): Update<DqnState, DqnBatch, Inputs> =>
    (state, batch, { epsilon, ...inputs }) => {
      const { stats, ...made } = update(state, batch, {
        ...inputs,
        ...(tau !== undefined && { tau: tf.scalar(tau) }),
      });
      return { ...made, stats: { ...stats, epsilon } };
    };
  const { initialExploration, repeatExponent, learningStarts } = config;
  const epsilon = (moment: Moment) => isNoisy ? 0 : epsilonAt(config, moment);
  return {
    policy,
    state: initDqnState(policy, random, optimizer),
    experience: replay(config),
    inputs: {
      learningRate: ({ steps }) => rate(steps),
      epsilon,
      ...(isNoisy && {
        noise: { kind: "normal", rows: 3, size: policy.noise.size },
      }),
    } as AgentParts<QPolicy, DqnState, DqnBatch, Inputs>["inputs"],
    programs: { learn: program(), copy: program(config.tau) },
    choose: ({ updates }) =>
      (updates + 1) % config.targetInterval === 0 ? "copy" : "learn",
    explore: randomActions({ actionSpace, numEnvs }, {
      steps: initialExploration === "policy" ? 0 : learningStarts,
      ...(initialExploration === "repeated" && { repeatExponent }),
      ...(!isNoisy && { epsilon }),
    }),
    onStatistics: clippingWarning(),
    actionValues: {
      part: "policy",
      estimate: (params, observations) =>
        policy.apply(params, observations).policy,
    },
  };
}

/** Computes the share of random actions, which falls linearly. */
function epsilonAt(
  { initialEpsilon, finalEpsilon, explorationFraction }: DqnConfig,
  { progress }: Moment,
): number {
  const done = Math.min(progress / explorationFraction, 1);
  return initialEpsilon + done * (finalEpsilon - initialEpsilon);
}

/** Refuses settings that do not fit together. */
function checkConfig(
  config: DqnConfig,
  context: AgentContext,
): void {
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

/** Finds settings without effect. */
function idleOf(config: DqnConfig): Record<string, string> {
  const reasons = (keys: readonly (keyof DqnConfig)[], why: string) =>
    Object.fromEntries(keys.map((key) => [key, why]));
  const { values, exploration, replay, initialExploration } = config;
  return {
    ...(values === "mean"
      ? reasons(["atoms"], "means have one number")
      : reasons(["loss"], `${values} values have their own`)),
    ...(values !== "categorical" &&
      reasons(["valueRange"], "only categorical values have a range")),
    ...(exploration === "noisy"
      ? reasons(
        ["initialEpsilon", "finalEpsilon", "explorationFraction"],
        "the noise of the layers explores",
      )
      : reasons(["sigma0"], "only noisy layers have noise")),
    ...(replay === "uniform" &&
      reasons(
        ["priorityAlpha", "priorityBeta", "priorityEpsilon"],
        "uniform replay has no priorities",
      )),
    ...(initialExploration !== "repeated" &&
      reasons(["repeatExponent"], "initialExploration repeats no action")),
  };
}

/** Makes a function that warns once where targets lie out of the range of categorical values. */
function clippingWarning(): (statistics: Statistics) => void {
  let wasGiven = false;
  return ({ clipped_mass }) => {
    if (wasGiven || !(clipped_mass > MUCH_CLIPPED)) return;
    wasGiven = true;
    const percent = (100 * clipped_mass).toFixed(1);
    // deno-lint-ignore no-console -- warnings go there
    console.warn(
      `DQN clips ${percent} % of the target mass to valueRange: choose a wider range`,
    );
  };
}

/**
 * Deep Q-learning: acts, stores every transition, and learns the values of actions
 * from batches of them. Its whole state, transitions included, can be saved and
 * restored, bit for bit.
 *
 * `update` returns `loss`, `grad_norm`, `q_mean`, `target_mean`, `epsilon`,
 * `learning_rate` and, of categorical values, `clipped_mass`.
 *
 * @example
 * ```ts
 * import { DQN } from "@bellman/dqn";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
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
export class DQN extends Agent<DqnConfig, QPolicy> {
  /**
   * Estimates the values of all actions in one state.
   *
   * @param observation One observation, as the environment gives it.
   * @returns Values `[n]`, a new array.
   */
  declare readonly qValues: NonNullable<Agent["qValues"]>;

  /**
   * Creates a new agent; the TensorFlow.js backend must have been chosen.
   *
   * @param spaces Spaces of one environment, and number of environments.
   * @param options Settings, seed, length of the run.
   * @throws {RangeError} If a setting is out of its range, or sizes do not fit.
   * @throws {TypeError} If actions are not discrete.
   */
  constructor(spaces: AgentSpaces, options: AgentOptions<DqnConfig> = {}) {
    super(dqn, spaces, options);
  }
}
