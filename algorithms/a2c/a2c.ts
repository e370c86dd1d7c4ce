import {
  advantageTargets,
  Agent,
  type AgentContext,
  type AgentOptions,
  type AgentSpaces,
  type Algorithm,
  type BuildContext,
  type KnownSpaces,
  type Progress,
  Rollout,
  type RolloutOptions,
  unusedLayers,
  unusedNoise,
  unusedOptimizer,
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
import { type A2CBatch, a2cUpdate, initA2CState } from "./update.ts";

/**
 * Advantage actor-critic (A2C) as an algorithm, for `Agent` and the command line.
 *
 * Source: Mnih et al. 2016 (https://arxiv.org/abs/1602.01783), synchronous as in
 * baselines/a2c.
 */
export const a2c: Algorithm<A2CConfig, ActorCritic> = {
  meta: {
    name: "a2c",
    title: "A2C",
    summary: "Advantage actor-critic, synchronous (Mnih et al. 2016)",
    schema: a2cConfigSchema,
    presets: a2cPresets,
    smallConfig: { numSteps: 5, hiddenSizes: [8] },
    // A single learning rate needs inputs and values of about the same scale.
    runDefaults: { normalizeObservation: true, normalizeReward: true },
    unusedSettings: (config, spaces) => ({
      ...unusedOnPolicy(config, spaces),
      ...unusedOptimizer(config),
    }),
  },
  check: checkConfig,
  build(config, context) {
    const policy = onPolicyModel(config, context);
    const optimizers = optimizersOf(config);
    const update = a2cUpdate(policy, { ...config, ...optimizers });
    const rates = onPolicyRates(config, context);
    return {
      policy,
      state: initA2CState(policy.init(context.random), optimizers),
      memory: onPolicyRollout(context, policy, config),
      inputs: (progress) => ({
        ...rates(progress),
        entropyCoefficient: config.entropyCoefficient,
      }),
      learn: () => update,
    };
  },
};

/** Throws if settings exclude each other. */
function checkConfig(
  { normalizeAdvantage, numSteps }: A2CConfig,
  { numEnvs }: AgentContext,
): void {
  if (!normalizeAdvantage || numEnvs * numSteps > 1) return;
  throw new RangeError(
    "Cannot run A2C with numEnvs = 1, numSteps = 1 and normalizeAdvantage: true: expected at least 2 steps, as one advantage is its own mean, or normalizeAdvantage: false",
  );
}

/** Makes the optimizer of a configuration, or both of separate objectives. */
function optimizersOf(
  config: A2CConfig,
): { optimizer: Optimizer; valueOptimizer?: Optimizer } {
  const { optimizer: name, rmspropDecay: decay, rmspropEpsilon } = config;
  const make = () => createOptimizer(name, { decay, epsilon: rmspropEpsilon });
  if (objectiveOf(config) === "shared") return { optimizer: make() };
  return { optimizer: make(), valueOptimizer: make() };
}

/**
 * Returns the form of the objective: one weighted sum of the losses, or each on its
 * own.
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
  { objective, valueNetwork }: Pick<A2CConfig, "objective" | "valueNetwork">,
): "shared" | "separate" {
  return objective ?? valueNetwork;
}

/**
 * Lists settings of on-policy actor-critics that have no effect given the others.
 *
 * @param config Settings.
 * @param spaces Spaces of the environment, if known.
 * @returns Reasons by setting.
 *
 * @example
 * ```ts
 * import { defaultA2CConfig, unusedOnPolicy } from "@bellman/a2c";
 * import { assert } from "@std/assert";
 *
 * assert("valueCoefficient" in unusedOnPolicy(defaultA2CConfig));
 * ```
 */
export function unusedOnPolicy(
  config: Pick<
    A2CConfig,
    | ("objective" | "valueNetwork" | "network" | "hiddenSizes")
    | ("partNetworks" | "useSde" | "numSteps")
  >,
  spaces: KnownSpaces = {},
): Record<string, string> {
  const why = "with separate objectives no loss is weighed against another";
  return {
    ...unusedLayers(config, spaces),
    ...unusedNoise(config, spaces),
    ...(config.numSteps === 1 &&
      { gaeLambda: "a rollout of one step has no longer returns" }),
    ...(objectiveOf(config) === "shared"
      ? { valueLearningRate: "one step for both losses has learningRate" }
      : { valueCoefficient: `${why}, and valueLearningRate is the value's` }),
  };
}

/**
 * Makes the policy and value function of on-policy actor-critics.
 *
 * @param config Network and gSDE settings.
 * @param context Spaces.
 * @param actions Distribution of box actions: `gaussian` or `squashed`.
 * @returns The policy with its gSDE resampling schedule.
 *
 * @example
 * ```ts
 * import { defaultA2CConfig, onPolicyModel } from "@bellman/a2c";
 * import { assertEquals } from "@std/assert";
 *
 * const { noiseSchedule } = onPolicyModel({ ...defaultA2CConfig, numSteps: 5 }, {
 *   observationSpace: { type: "discrete", n: 4 },
 *   actionSpace: { type: "discrete", n: 2 },
 * });
 * const steps = [0, 1, 2, 3, 4, 5].filter((step) => noiseSchedule!.renews(step));
 * assertEquals(steps, [0, 5]);
 * ```
 */
export function onPolicyModel(
  config: OnPolicyModelConfig,
  context: Pick<AgentContext, "observationSpace" | "actionSpace">,
  actions?: "gaussian" | "squashed",
): ActorCritic {
  const { numSteps, sdeSampleFrequency } = config;
  const { hiddenSizes, activation, lstmSize, partNetworks } = config;
  const model = actorCritic({
    ...context,
    network: config.network,
    networkOptions: { hiddenSizes, activation, lstmSize, partNetworks },
    valueNetwork: config.valueNetwork,
    initialLogStd: config.initialLogStd,
    useSde: config.useSde,
    orthogonalInit: config.orthogonalInit,
    actions,
  });
  const every = sdeSampleFrequency === -1 ? numSteps : sdeSampleFrequency;
  return {
    ...model,
    noiseSchedule: {
      renews: (step) => step % numSteps % every === 0,
      sampleFrequency: sdeSampleFrequency,
    },
  };
}

/** Settings of {@linkcode onPolicyModel}. */
export type OnPolicyModelConfig = Pick<
  OnPolicyConfig,
  | "activation"
  | "hiddenSizes"
  | "initialLogStd"
  | "lstmSize"
  | "network"
  | "numSteps"
  | "orthogonalInit"
  | "partNetworks"
  | "sdeSampleFrequency"
  | "useSde"
  | "valueNetwork"
>;

/**
 * Creates the rollout buffer of on-policy actor-critics, with advantages and returns.
 *
 * @param context Observations and number of environments.
 * @param policy Policy and value function.
 * @param config Number of steps, discount, GAE lambda, normalization, and additional
 * results recorded at each step.
 * @returns The rollout buffer.
 *
 * @example
 * ```ts
 * import { a2c, onPolicyRollout } from "@bellman/a2c";
 * import { Agent } from "@bellman/agent";
 * import { assertEquals } from "@std/assert";
 *
 * const spaces = {
 *   observationSpace: { type: "discrete", n: 4 },
 *   actionSpace: { type: "discrete", n: 2 },
 *   numEnvs: 2,
 * } as const;
 * const agent = new Agent({
 *   ...a2c,
 *   build(config, context) {
 *     const parts = a2c.build(config, context);
 *     const memory = onPolicyRollout(context, parts.policy, { ...config, numSteps: 3 });
 *     return { ...parts, memory };
 *   },
 * }, spaces, { engine: "eager" });
 * assertEquals(agent.memory.batch.returns.shape, [6]);
 * agent.close();
 * ```
 */
export function onPolicyRollout<B = A2CBatch>(
  context: BuildContext,
  policy: ActorCritic,
  config: OnPolicyConfig & Pick<RolloutOptions, "recorded">,
): Rollout<B> {
  const { numSteps, valueNetwork, bootstrapTruncated } = config;
  const hasOwnValues = valueNetwork === "separate" && policy.stateSize === 0;
  return new Rollout(context, policy, {
    numSteps,
    // A separate value network runs once for the rollout instead of at each step: the
    // parameters, and so the values, are the same.
    values: hasOwnValues ? "end" : "acting",
    bootstrapTruncated,
    recorded: config.recorded,
    ...advantageTargets(config),
  });
}

/**
 * Makes the learning rates of policy and value, as a function of progress.
 *
 * @param config Learning rates and their schedule.
 * @param context Length of the run.
 * @returns The function.
 *
 * @example
 * ```ts
 * import { defaultA2CConfig, onPolicyRates } from "@bellman/a2c";
 * import { assertEquals } from "@std/assert";
 *
 * const rates = onPolicyRates(defaultA2CConfig, { totalTimesteps: 100 });
 * const { learningRate } = rates({ steps: 51, updates: 1, fraction: 0.5 });
 * assertEquals(learningRate, 0.5 * defaultA2CConfig.learningRate);
 * ```
 */
export function onPolicyRates(
  config: OnPolicyConfig,
  { totalTimesteps }: Pick<AgentContext, "totalTimesteps">,
): (progress: Progress) => { learningRate: number; valueLearningRate: number } {
  const { learningRate: first, valueLearningRate: valueRate } = config;
  const schedule = config.learningRateSchedule;
  const rate = scheduledOverRun(first, { totalTimesteps, schedule });
  return ({ steps }) => {
    // The original advances its scheduler once per sample and uses the last value.
    const learningRate = rate(steps - 1);
    const valueLearningRate = learningRate * (valueRate ?? first) / first;
    return { learningRate, valueLearningRate };
  };
}

/**
 * Advantage actor-critic (A2C): collects a rollout of `numSteps` steps of each
 * environment, then takes one gradient step on the shared or separate objectives.
 *
 * `update` returns `policy_loss`, `value_loss`, `entropy`, `loss`, `grad_norm`,
 * `explained_variance` and `learning_rate`.
 *
 * @typeParam E Environments, or their spaces: the type of the actions.
 *
 * @example
 * ```ts
 * import { A2C } from "@bellman/a2c";
 * import * as tf from "@bellman/compute/tf";
 * import { assertEquals } from "@std/assert";
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
export class A2C<const E extends AgentSpaces = AgentSpaces>
  extends Agent<A2CConfig, E> {
  /** Policy that acts, without its parameters. */
  declare readonly model: ActorCritic;

  /**
   * Creates an agent.
   *
   * @param spaces Spaces and number of environments.
   * @param options Settings, seed, length of the run.
   * @throws {RangeError} If a setting is out of its range.
   * @throws {TypeError} If a space is a dict or tuple, or gSDE is used for actions that
   * are not a box.
   */
  constructor(spaces: E, options: AgentOptions<A2CConfig> = {}) {
    super(a2c, spaces, options);
  }
}
