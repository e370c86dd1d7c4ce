import {
  type A2CBatch,
  type A2CState,
  objectiveOf,
  onPolicyModel,
  onPolicyRates,
  onPolicyRollout,
  unusedOnPolicy,
} from "@bellman/a2c";
import {
  Agent,
  type AgentContext,
  type AgentOptions,
  type AgentSpaces,
  type Algorithm,
  type Arrays,
  type BuildContext,
  type KnownSpaces,
  type Parts,
  type SavedState,
} from "@bellman/agent";
import type { KfacArrays } from "@bellman/kfac";
import { type ActorCritic, addPrefix, pickPrefix } from "@bellman/policies";
import { type AcktrConfig, acktrConfigSchema } from "./config.ts";
import { acktrPresets } from "./presets.ts";
import {
  type AcktrInputs,
  type AcktrStep,
  acktrUpdate,
  actorCriticLayers,
} from "./update.ts";

/**
 * Actor-critic with a Kronecker-factored trust region (ACKTR) as an algorithm, for
 * `Agent` and the command line: A2C with natural gradient steps.
 *
 * Source: Wu et al. 2017 (https://arxiv.org/abs/1708.05144), as in baselines/acktr.
 */
export const acktr: Algorithm<AcktrConfig, ActorCritic> = {
  meta: {
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
    // Observations and rewards must be scaled: steps for values in the hundreds are
    // bounded, and inputs of small variance are damped away.
    runDefaults: { normalizeObservation: true, normalizeReward: true },
    unusedSettings: unusedOf,
  },
  check: checkConfig,
  build: partsOf,
};

/** Throws if settings exclude each other. */
function checkConfig(
  { objective, valueNetwork, numSteps }: AcktrConfig,
  { numEnvs }: AgentContext,
): void {
  if (objective === "separate" && valueNetwork !== "separate") {
    throw new RangeError(
      `Cannot run ACKTR with objective: separate and valueNetwork: ${valueNetwork}: expected valueNetwork: separate`,
    );
  }
  if (numEnvs * numSteps > 1) return;
  throw new RangeError(
    "Cannot run ACKTR with numEnvs = 1 and numSteps = 1: expected at least 2 steps for the factors of an update, as those of 1 have rank 1",
  );
}

/** Lists settings that have no effect given the others. */
function unusedOf(
  config: AcktrConfig,
  spaces: KnownSpaces,
): Record<string, string> {
  const isShared = objectiveOf(config) === "shared";
  return {
    ...unusedOnPolicy(config, spaces),
    ...(isShared && { valueKlClip: "one step for both losses has klClip" }),
    ...(config.klClip === null && (isShared || config.valueKlClip === null) &&
      { klClipKind: "no step is bounded" }),
  };
}

function partsOf(
  config: AcktrConfig,
  context: BuildContext,
): Parts<ActorCritic, A2CState, A2CBatch, AcktrInputs> {
  const policy = onPolicyModel(config, context);
  const params = policy.init(context.random);
  const update = acktrUpdate(policy, actorCriticLayers(policy, params), config);
  const { learningRate, entropyCoefficient, fisherActions } = config;
  const coldRatio = (config.coldLearningRate ?? learningRate) / learningRate;
  const rates = onPolicyRates(config, context);
  const rows = context.numEnvs * config.numSteps;
  const isFull = (updates: number) =>
    config.covUpdateEvery === 1 || update.needsStatistics(updates);
  const { noise } = policy.distribution;
  const none = (size: number) => ({
    data: new Float32Array(rows * size),
    shape: [rows, size],
  });
  const noValueNoise = none(1), noActionNoise = none(noise.size);
  return {
    policy,
    state: update.init(params),
    memory: onPolicyRollout(context, policy, config),
    inputs(progress, draw) {
      // Only updates of the factors need noise.
      const isDrawn = isFull(progress.updates);
      const valueNoise = { kind: "normal", size: 1 } as const;
      return {
        ...rates(progress),
        entropyCoefficient,
        coldRatio,
        valueNoise: isDrawn ? draw(valueNoise, rows) : noValueNoise,
        ...(fisherActions === "sampled" && {
          actionNoise: isDrawn ? draw(noise, rows) : noActionNoise,
        }),
      };
    },
    learn: ({ updates }) => isFull(updates) ? update.apply : update.applyLight,
    afterUpdate({ progress, results, read, notify }) {
      const line = nonFinite(update.steps, results);
      if (line !== undefined) notify(line);
      return refreshed(update.steps, progress.updates - 1, read);
    },
  };
}

/** Inverts the factors after an update, when they are due. */
function refreshed(
  steps: readonly AcktrStep[],
  update: number,
  read: () => SavedState,
): SavedState | undefined {
  let state: SavedState | undefined;
  for (const { name, kfac } of steps) {
    const inverted = kfac.refresh(update, () => {
      state ??= read();
      return pickPrefix(state.optimizer, name) as KfacArrays;
    });
    if (inverted === undefined) continue;
    const inverses = addPrefix(inverted, name) as SavedState[string];
    state = { ...state!, optimizer: { ...state!.optimizer, ...inverses } };
  }
  return state;
}

/** Describes a step that was skipped because of a number that is not finite. */
function nonFinite(
  steps: readonly AcktrStep[],
  finite: Arrays,
): string | undefined {
  return steps.map(({ name, kfac }) => kfac.nonFinite(finite[name]))
    .find((line) => line !== undefined);
}

/**
 * Actor-critic with a Kronecker-factored trust region (ACKTR): collects a rollout of
 * `numSteps` steps of each environment, then takes one natural gradient step on A2C's
 * loss.
 *
 * `update` returns the statistics of `A2C`, `trust_region_factor`, the factor that
 * shortened the step, and `steps_skipped`, 1 if a number in it was not finite. The
 * saved state includes factors and their inverses.
 *
 * @typeParam E Environments, or their spaces: the type of the actions.
 *
 * @example
 * ```ts
 * import { ACKTR } from "@bellman/acktr";
 * import * as tf from "@bellman/compute/tf";
 * import { assert } from "@std/assert";
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
export class ACKTR<const E extends AgentSpaces = AgentSpaces>
  extends Agent<AcktrConfig, E> {
  /** Policy that acts, without its parameters. */
  declare readonly model: ActorCritic;

  /**
   * Creates an agent.
   *
   * @param spaces Spaces and number of environments.
   * @param options Settings, seed, length of the run.
   * @throws {RangeError} If a setting is out of its range, or conflicts with
   * another one.
   * @throws {TypeError} If a space is a dict or tuple.
   */
  constructor(spaces: E, options: AgentOptions<AcktrConfig> = {}) {
    super(acktr, spaces, options);
  }
}
