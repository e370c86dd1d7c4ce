import {
  advantageTargets,
  Agent,
  type AgentContext,
  type AgentOptions,
  type AgentParts,
  type AgentSpaces,
  type AlgorithmDefinition,
  idleLayers,
  idleNoise,
  idleOptimizer,
  type KnownSpaces,
  type Moment,
  type NumberInput,
  rollout,
  type RolloutOptions,
} from "@bellman/agent";
import { createOptimizer, type Optimizer } from "@bellman/compute";
import { type ActorCritic, actorCritic } from "@bellman/policies";
import { scheduledOverRun } from "@bellman/schedulers";
import {
  type A2CConfig,
  a2cConfigSchema,
  type OnPolicyConfig,
} from "./config.ts";
import { a2cPresets } from "./presets.ts";
import {
  type A2CBatch,
  type A2CHyperparameters,
  type A2CState,
  a2cUpdate,
  initA2CState,
} from "./update.ts";

/**
 * Definition of advantage actor-critic, for `Agent`, the command line and the benches.
 *
 * Source: Mnih et al. 2016 (https://arxiv.org/abs/1602.01783), synchronous as
 * in baselines/a2c.
 */
export const a2c: AlgorithmDefinition<A2CConfig, ActorCritic> = {
  name: "a2c",
  title: "A2C",
  summary: "Advantage actor-critic, synchronous (Mnih et al. 2016)",
  schema: a2cConfigSchema,
  presets: a2cPresets,
  smallConfig: { numSteps: 5, hiddenSizes: [8] },
  // One learning rate needs inputs and values of about the same scale.
  runDefaults: { normalizeObservation: true, normalizeReward: true },
  idle: (config, spaces) => ({
    ...idleSettings(config, spaces),
    ...idleOptimizer(config),
  }),
  check({ normalizeAdvantage, numSteps }, { numEnvs }) {
    if (!normalizeAdvantage || numEnvs * numSteps > 1) return;
    throw new RangeError(
      "Cannot run A2C with numEnvs = 1, numSteps = 1 and normalizeAdvantage: true: expected at least 2 steps, as one advantage is its own mean, or normalizeAdvantage: false",
    );
  },
  build(
    config,
    context,
  ): AgentParts<ActorCritic, A2CState, A2CBatch, A2CHyperparameters> {
    const { policy, ...shared } = onPolicyParts(config, context);
    const optimizers = optimizersOf(config);
    return {
      ...shared,
      policy,
      state: initA2CState(policy.init(context.random), optimizers),
      programs: { learn: a2cUpdate(policy, { ...config, ...optimizers }) },
    };
  },
};

/** Creates the optimizer of a configuration, or the two of separate objectives. */
function optimizersOf(
  config: A2CConfig,
): { optimizer: Optimizer; valueOptimizer?: Optimizer } {
  const { optimizer: name, rmspropDecay: decay, rmspropEpsilon } = config;
  const make = () => createOptimizer(name, { decay, epsilon: rmspropEpsilon });
  if (objectiveOf(config) === "shared") return { optimizer: make() };
  return { optimizer: make(), valueOptimizer: make() };
}

/** Settings that say whether losses are minimized together. */
export type ObjectiveConfig = Pick<A2CConfig, "objective" | "valueNetwork">;

/**
 * Returns whether losses are minimized as one weighted sum, or each by its own.
 *
 * @param config Settings.
 * @returns The form of the objective.
 *
 * @example
 * ```ts
 * import { defaultA2CConfig, objectiveOf } from "@bellman/a2c";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(objectiveOf(defaultA2CConfig), "separate");
 * ```
 */
export function objectiveOf(
  { objective, valueNetwork }: ObjectiveConfig,
): "shared" | "separate" {
  return objective ?? valueNetwork;
}

/** Settings of {@linkcode idleSettings}. */
export type IdleOnPolicyConfig =
  & ObjectiveConfig
  & Pick<
    OnPolicyConfig,
    "network" | "hiddenSizes" | "partNetworks" | "useSde" | "numSteps"
  >;

/**
 * Returns the settings of actor-critics that learn from rollouts which the others
 * leave without effect, with the reasons.
 *
 * @param config Settings.
 * @param spaces Spaces of the environment, where they are known.
 * @returns Reasons by setting.
 *
 * @example
 * ```ts
 * import { defaultA2CConfig, idleSettings } from "@bellman/a2c";
 * import { assert } from "@std/assert";
 *
 * assert("valueCoefficient" in idleSettings(defaultA2CConfig));
 * ```
 */
export function idleSettings(
  config: IdleOnPolicyConfig,
  spaces: KnownSpaces = {},
): Record<string, string> {
  const why = "with separate objectives no loss is weighed against another";
  return {
    ...idleLayers(config, spaces),
    ...idleNoise(config, spaces),
    ...(config.numSteps === 1 &&
      { gaeLambda: "a rollout of one step has no longer returns" }),
    ...(objectiveOf(config) === "shared"
      ? { valueLearningRate: "one step for both losses has learningRate" }
      : { valueCoefficient: `${why}, and valueLearningRate is the value's` }),
  };
}

/** Options of {@link onPolicyParts}. */
export interface OnPolicyPartsOptions {
  /**
   * Makes the option `recorded` of the rollout.
   *
   * @default none
   */
  readonly recorded?: (policy: ActorCritic) => RolloutOptions["recorded"];
  /**
   * Form of box actions, as in {@linkcode ActorCriticOptions}.
   *
   * @default "gaussian"
   */
  readonly actions?: "gaussian" | "squashed";
}

/** Parts of an agent that {@link onPolicyParts} makes. */
export interface OnPolicyParts
  extends Pick<AgentParts<ActorCritic>, "policy" | "experience" | "noise"> {
  /** Hyperparameters of an update by name. */
  readonly inputs: Record<keyof A2CHyperparameters, NumberInput>;
}

/**
 * Builds the parts of actor-critics that learn from rollouts by advantages: networks,
 * rollout, learning rates and weight of the entropy.
 *
 * @param config Settings.
 * @param context Spaces and length of the run.
 * @param options Form of box actions, and what steps are recorded with beside values.
 * @returns Parts that lack the state and the update.
 *
 * @example
 * ```ts
 * import { defaultA2CConfig, onPolicyParts } from "@bellman/a2c";
 * import { assertEquals } from "@std/assert";
 *
 * const { inputs } = onPolicyParts(defaultA2CConfig, {
 *   observationSpace: { type: "discrete", n: 4 },
 *   actionSpace: { type: "discrete", n: 2 },
 *   numEnvs: 8,
 *   totalTimesteps: 100,
 * });
 * const half = { steps: 51, updates: 1, progress: 0.5 };
 * assertEquals(inputs.learningRate(half), 0.5 * defaultA2CConfig.learningRate);
 * ```
 */
export function onPolicyParts(
  config: OnPolicyConfig,
  context: AgentContext,
  options: OnPolicyPartsOptions = {},
): OnPolicyParts {
  const { numSteps, valueNetwork, learningRate, entropyCoefficient } = config;
  const { sdeSampleFrequency } = config;
  const { hiddenSizes, activation, lstmSize, partNetworks } = config;
  const policy = actorCritic({
    ...context,
    network: config.network,
    networkOptions: { hiddenSizes, activation, lstmSize, partNetworks },
    valueNetwork,
    initialLogStd: config.initialLogStd,
    useSde: config.useSde,
    orthogonalInit: config.orthogonalInit,
    actions: options.actions,
  });
  const rate = scheduledOverRun(learningRate, {
    ...context,
    schedule: config.learningRateSchedule,
  });
  // The original advances its scheduler once per sample and uses the last value.
  const rateAt = ({ steps }: Moment) => rate(steps - 1);
  const valueRate = config.valueLearningRate ?? learningRate;
  const hasOwnValues = valueNetwork === "separate" && policy.stateSize === 0;
  const every = sdeSampleFrequency === -1 ? numSteps : sdeSampleFrequency;
  return {
    policy,
    experience: rollout({
      numSteps,
      // A separate value network runs once instead of at each step: the parameters are
      // the same, and so are the values.
      values: hasOwnValues ? "end" : "acting",
      bootstrapTruncated: config.bootstrapTruncated,
      recorded: options.recorded?.(policy),
      ...advantageTargets(config),
    }),
    inputs: {
      learningRate: rateAt,
      valueLearningRate: (moment) => rateAt(moment) * valueRate / learningRate,
      entropyCoefficient: () => entropyCoefficient,
    },
    noise: {
      renews: (step) => step % numSteps % every === 0,
      sampleFrequency: sdeSampleFrequency,
    },
  };
}

/**
 * Advantage actor-critic: acts, records `numSteps` steps of each environment and
 * then takes one gradient step on the shared or the separate objectives.
 *
 * `update` returns `policy_loss`, `value_loss`, `entropy`, `loss`,
 * `grad_norm`, `explained_variance` and `learning_rate`.
 *
 * @example
 * ```ts
 * import { A2C } from "@bellman/a2c";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const algorithm = new A2C({
 *   observationSpace: { type: "discrete", n: 2 },
 *   actionSpace: { type: "discrete", n: 2 },
 *   numEnvs: 2,
 * }, { config: { numSteps: 1, hiddenSizes: [8], learningRate: 0.01 }, seed: 1 });
 *
 * const observations = new Int32Array([0, 1]);
 * const actions = algorithm.act(observations);
 * algorithm.observe({
 *   observations,
 *   rewards: Float64Array.from(actions),
 *   terminated: new Uint8Array([1, 1]),
 *   truncated: new Uint8Array(2),
 *   finalObservations: observations,
 * });
 * assertEquals(algorithm.update()?.learning_rate, 0.01 * (1 - 1 / 200000));
 * algorithm.close();
 * ```
 */
export class A2C extends Agent<A2CConfig, ActorCritic> {
  /**
   * Creates a new agent.
   *
   * @param spaces Spaces of one environment, and number of environments.
   * @param options Settings, seed, length of the run.
   * @throws {RangeError} If a setting is out of its range.
   * @throws {TypeError} If a space is a dict or tuple, or gSDE is set for
   * actions that are not box.
   */
  constructor(spaces: AgentSpaces, options: AgentOptions<A2CConfig> = {}) {
    super(a2c, spaces, options);
  }
}
