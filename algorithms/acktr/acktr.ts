import {
  type A2CBatch,
  type A2CState,
  idleSettings,
  objectiveOf,
  onPolicyParts,
} from "@bellman/a2c";
import {
  Agent,
  type AgentOptions,
  type AgentParts,
  type AgentSpaces,
  type AlgorithmDefinition,
  type Arrays,
  type BuildContext,
  type ExperienceSpec,
  type KnownSpaces,
  type SavedState,
} from "@bellman/agent";
import type { KfacArrays } from "@bellman/kfac";
import { type ActorCritic, nest, scope } from "@bellman/policies";
import { type AcktrConfig, acktrConfigSchema } from "./config.ts";
import { acktrPresets } from "./presets.ts";
import {
  type AcktrInputs,
  type AcktrStep,
  acktrUpdate,
  actorCriticLayers,
} from "./update.ts";

/**
 * Definition of the actor-critic with a Kronecker-factored trust region, for `Agent`
 * and the command line: A2C with natural steps.
 *
 * Source: Wu et al. 2017 (https://arxiv.org/abs/1708.05144), as in
 * baselines/acktr.
 */
export const acktr: AlgorithmDefinition<AcktrConfig, ActorCritic> = {
  name: "acktr",
  title: "ACKTR",
  summary: "Actor-critic with natural gradients by K-FAC (Wu et al. 2017)",
  schema: acktrConfigSchema,
  presets: acktrPresets,
  statistics: {
    trust_region_factor: ["Factor of the trust region", "trust_region"],
    steps_skipped: ["Steps skipped"],
  },
  smallConfig: {
    numSteps: 5,
    hiddenSizes: [8],
    coldUpdates: 2,
    invertEvery: 3,
  },
  // Steps of values in the hundreds are bounded, and inputs of small variance are
  // damped away: both must be scaled.
  runDefaults: { normalizeObservation: true, normalizeReward: true },
  idle: idleOf,
  check(config, { numEnvs }) {
    const { objective, valueNetwork, numSteps } = config;
    if (objective === "separate" && valueNetwork !== "separate") {
      throw new RangeError(
        `Cannot run ACKTR with objective: separate and valueNetwork: ${valueNetwork}: expected valueNetwork: separate`,
      );
    }
    if (numEnvs * numSteps > 1) return;
    throw new RangeError(
      "Cannot run ACKTR with numEnvs = 1 and numSteps = 1: expected at least 2 steps for the factors of an update, as those of 1 have rank 1",
    );
  },
  build: partsOf,
};

/** Finds settings without effect. */
function idleOf(
  config: AcktrConfig,
  spaces: KnownSpaces,
): Record<string, string> {
  const isShared = objectiveOf(config) === "shared";
  return {
    ...idleSettings(config, spaces),
    ...(isShared && { valueKlClip: "one step for both losses has klClip" }),
    ...(config.klClip === null && (isShared || config.valueKlClip === null) &&
      { klClipKind: "no step is bounded" }),
  };
}

function partsOf(
  config: AcktrConfig,
  context: BuildContext,
): AgentParts<ActorCritic, A2CState, A2CBatch, AcktrInputs> {
  const { policy, ...base } = onPolicyParts(config, context);
  const params = policy.init(context.random);
  const update = acktrUpdate(policy, actorCriticLayers(policy, params), config);
  const { coldLearningRate, learningRate, fisherActions } = config;
  const coldRatio = (coldLearningRate ?? learningRate) / learningRate;
  const isAlwaysFull = config.covUpdateEvery === 1;
  const rows = context.numEnvs * config.numSteps;
  // Only updates of the factors need noise.
  const ofStatistics = { rows, only: isAlwaysFull ? "learn" : "full" };
  const valueNoise = { kind: "normal", size: 1, ...ofStatistics } as const;
  const { noise } = policy.distribution;
  return {
    ...base,
    policy,
    state: update.init(params),
    experience: warning(base.experience, update.steps),
    programs: isAlwaysFull
      ? { learn: update.apply }
      : { learn: update.applyLight, full: update.apply },
    choose: ({ updates }) =>
      !isAlwaysFull && update.needsStatistics(updates) ? "full" : "learn",
    inputs: {
      ...base.inputs,
      coldRatio: () => coldRatio,
      valueNoise,
      ...(fisherActions === "sampled" && {
        actionNoise: { ...noise, ...ofStatistics },
      }),
    },
    sync(when, { updates }, read) {
      if (when === "update") return refreshed(update.steps, updates - 1, read);
    },
  };
}

/** Inverts the factors after an update, where the schedule says so. */
function refreshed(
  steps: readonly AcktrStep[],
  update: number,
  read: () => SavedState,
): SavedState | undefined {
  let state: SavedState | undefined;
  for (const { name, kfac } of steps) {
    const inverted = kfac.refresh(update, () => {
      state ??= read();
      return scope(state.optimizer, name) as KfacArrays;
    });
    if (inverted === undefined) continue;
    const own = nest(inverted, name) as SavedState[string];
    state = { ...state!, optimizer: { ...state!.optimizer, ...own } };
  }
  return state;
}

/** Warns once where a step was skipped because a number was not finite. */
function warning(
  { make, ...spec }: ExperienceSpec,
  steps: readonly AcktrStep[],
): ExperienceSpec {
  const warn = (finite: Arrays): boolean => {
    const line = steps.map(({ name, kfac }) => kfac.nonFinite(finite[name]))
      .find((it) => it !== undefined);
    // deno-lint-ignore no-console -- warnings go there
    if (line !== undefined) console.warn(line);
    return line !== undefined;
  };
  return {
    ...spec,
    make(runtime) {
      const experience = make(runtime);
      const learned = experience.learned.bind(experience);
      let hasWarned = false;
      experience.learned = (finite) => {
        if (!hasWarned) hasWarned = warn(finite);
        return learned({});
      };
      return experience;
    },
  };
}

/**
 * Actor-critic with a Kronecker-factored trust region: acts, records `numSteps`
 * steps of each environment and then takes one natural step on A2C's loss.
 *
 * `update` returns the statistics of `A2C`, `trust_region_factor`, the factor by which
 * the step was shortened, and `steps_skipped`, 1 where a number in it was not
 * finite. Factors and their inverses are saved and restored with the rest.
 *
 * @example
 * ```ts
 * import { ACKTR } from "@bellman/acktr";
 * import { assert } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const agent = new ACKTR({
 *   observationSpace: { type: "discrete", n: 2 },
 *   actionSpace: { type: "discrete", n: 2 },
 *   numEnvs: 2,
 * }, { config: { numSteps: 1, hiddenSizes: [8] }, seed: 1 });
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
 * assert(agent.update()!.grad_norm > 0);
 * agent.close();
 * ```
 */
export class ACKTR extends Agent<AcktrConfig, ActorCritic> {
  /**
   * Creates a new agent.
   *
   * @param spaces Spaces of one environment, and number of environments.
   * @param options Settings, seed, length of the run.
   * @throws {RangeError} If a setting is out of its range, or conflicts with
   * another one.
   * @throws {TypeError} If a space is a dict or tuple.
   */
  constructor(spaces: AgentSpaces, options: AgentOptions<AcktrConfig> = {}) {
    super(acktr, spaces, options);
  }
}
