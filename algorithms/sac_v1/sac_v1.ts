import {
  Agent,
  type AgentContext,
  type AgentOptions,
  type AgentSpaces,
  type Algorithm,
  type AnyParts,
  type BuildContext,
  checkReplay,
  type KnownSpaces,
  randomActions,
  replayWithData,
  unusedLayers,
  unusedReplay,
  warmupActions,
} from "@bellman/agent";
import {
  functionOptions,
  pickPrefix,
  qFunction,
  stochasticPolicy,
  valueFunction,
} from "@bellman/policies";
import { scheduledOverRun } from "@bellman/schedulers";
import type { BoxSpace } from "@bellman/types";
import { type SacV1Config, sacV1ConfigSchema } from "./config.ts";
import { sacV1Presets } from "./presets.ts";
import { initSacV1State, sacV1Update } from "./update.ts";

/** Options of {@link SACv1}. */
export interface SacV1Options extends AgentOptions<SacV1Config> {
  /**
   * Reward scale by the number of updates so far (`scale_reward` as a function of the
   * iteration).
   *
   * @default config.rewardScale
   */
  readonly rewardScale?: (iteration: number) => number;
}

/** SAC of the first paper as an algorithm, for `Agent` and the command line. */
export const sacV1: Algorithm<SacV1Config> = {
  meta: {
    name: "sac-v1",
    title: "SAC (2018)",
    summary: "SAC's first paper, with a V function (Haarnoja et al. 2018)",
    schema: sacV1ConfigSchema,
    presets: sacV1Presets,
    statistics: {
      policy_kl_loss: ["Policy loss: divergence"],
      policy_regularization_loss: [
        "Policy loss: regularization",
        "policy_reg_loss",
      ],
      value_mean: ["Value: mean", "vf-avg"],
      value_std: ["Value: standard deviation", "vf-std"],
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
 * Soft actor-critic (SAC) as in its first paper: stores transitions in a replay buffer,
 * and learns two Q-functions, a value function V with a target network, and a policy of
 * box actions, Gaussian or a mixture of Gaussians. A scale of the rewards stands in
 * place of a temperature. The saved state includes the replay buffer; a restored agent
 * continues bit for bit.
 *
 * Source: Haarnoja et al. 2018 (https://arxiv.org/abs/1801.01290).
 *
 * @typeParam E Environments, or their spaces: the type of the actions.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { SACv1 } from "@bellman/sac-v1";
 * import { assert } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const agent = new SACv1({
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
 * assert(agent.update()!.value_loss > 0);
 * agent.close();
 * ```
 */
export class SACv1<const E extends AgentSpaces = AgentSpaces>
  extends Agent<SacV1Config, E> {
  /**
   * Creates an agent.
   *
   * @param spaces Spaces and number of environments.
   * @param options Settings, seed, length of the run.
   * @throws {RangeError} If a setting is out of its range, or a bound of the actions
   * is infinite.
   * @throws {TypeError} If actions are not box, or a mixture is reparameterized.
   */
  constructor(spaces: E, options: SacV1Options = {}) {
    const { rewardScale, ...others } = options ?? {};
    const build: typeof sacV1.build = (config, context) =>
      partsOf(config, context, rewardScale);
    // What is no object is refused there.
    super(
      { ...sacV1, build },
      spaces,
      "rewardScale" in Object(options) ? others : options,
    );
  }
}

function partsOf(
  config: SacV1Config,
  context: BuildContext,
  rewardScale: SacV1Options["rewardScale"] = () => config.rewardScale,
): AnyParts {
  const { batchSize, nSteps, learningRate, tau, reparameterize } = config;
  const spaces = {
    observationSpace: context.observationSpace,
    actionSpace: context.actionSpace as BoxSpace,
    ...functionOptions(config),
  };
  const { squashCorrection, components, policy: distribution } = config;
  const policy = stochasticPolicy({
    ...spaces,
    squashCorrection,
    components,
    distribution,
  });
  const qf = qFunction(spaces), vf = valueFunction(spaces);
  const model = { policy, qf, vf };
  const schedule = config.learningRateSchedule;
  const scheduled = (value: number) =>
    scheduledOverRun(value, { ...context, schedule });
  const rate = scheduled(learningRate);
  const criticRate = scheduled(config.criticLearningRate ?? learningRate);
  const { noise } = policy.distribution;
  // Updates need the observations between the rewards of an n-step return.
  const between = nSteps > 1 && config.nStepEntropy === "all";
  const learn = sacV1Update(model, {
    ...config,
    reparameterize: reparameterize ?? undefined,
  });
  return {
    policy,
    state: initSacV1State(model, context.random),
    memory: replayWithData(context, policy, { ...config, between }),
    inputs: ({ steps, updates }, draw) => ({
      noise: draw(noise, batchSize),
      ...(between && { betweenNoise: draw(noise, batchSize * (nSteps - 1)) }),
      learningRate: rate(steps),
      criticLearningRate: criticRate(steps),
      tau,
      rewardScale: checkedScale(rewardScale(updates), updates),
    }),
    learn: () => learn,
    explore: randomActions(context, warmupActions(config)),
    qFunction: {
      part: "critics",
      estimate: (critics, observations, actions) =>
        qf.apply(pickPrefix(critics, "qf1"), observations, actions!),
    },
  };
}

/** Returns a reward scale. Throws if it is not finite. */
function checkedScale(scale: number, updates: number): number {
  if (Number.isFinite(scale)) return scale;
  throw new RangeError(
    `Cannot scale rewards by ${scale} at update ${updates}: expected a finite number`,
  );
}

/** Lists settings that have no effect given the others. */
function unusedOf(
  config: SacV1Config,
  spaces: KnownSpaces,
): Record<string, string> {
  const noMixture = "it is for policy: mixture";
  return {
    ...unusedReplay(config),
    ...unusedLayers(config, { ...spaces, endsInLayers: true }),
    ...(config.nSteps === 1 && { nStepEntropy: "nSteps is 1" }),
    ...(config.initialExploration !== "repeated" &&
      { repeatExponent: "initialExploration repeats no action" }),
    ...(config.policy !== "mixture" &&
      { components: noMixture, haarnojaMixtureGradient: noMixture }),
  };
}

/** Throws if actions are not a box, or settings do not fit together. */
function checkConfig(config: SacV1Config, context: AgentContext): void {
  const of = "SAC (2018)", { type } = context.actionSpace;
  if (type !== "box") {
    const others = type === "discrete" ? "SAC, DQN or PPO" : "PPO";
    throw new TypeError(
      `Cannot run ${of} with actions of type ${type}: expected box, or ${others} for ${type} ones`,
    );
  }
  checkReplay(config, { of, ...context });
  if (config.policy === "mixture" && config.reparameterize === true) {
    throw new TypeError(
      `Cannot run ${of} with policy: mixture and reparameterize: true: expected false, as the choice of a component has no gradient`,
    );
  }
}
