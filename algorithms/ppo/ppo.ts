import {
  type ActorCriticState,
  actorCriticSteps,
  objectiveOf,
  onPolicyModel,
  onPolicyRates,
  onPolicyRollout,
  unusedOnPolicy,
} from "@bellman/a2c";
import {
  Agent,
  type AgentOptions,
  type AgentSpaces,
  type Algorithm,
  type BuildContext,
  type Parts,
  type Progress,
  type RolloutOptions,
  type Update,
} from "@bellman/agent";
import { adam } from "@bellman/compute";
import {
  type ActorCritic,
  envActionTensor,
  type PolicyOutput,
} from "@bellman/policies";
import { scheduledOverRun } from "@bellman/schedulers";
import type { Space, StatisticTitles } from "@bellman/types";
import * as tf from "@tensorflow/tfjs";
import { type PpoConfig, ppoConfigSchema } from "./config.ts";
import { ppoPresets } from "./presets.ts";
import { type PpoBatch, type PpoInputs, ppoUpdate } from "./update.ts";

const STATISTICS: StatisticTitles = {
  approx_kl: ["KL divergence from the policy that acted"],
  clip_fraction: ["Share of clipped ratios", "clipfrac"],
  clipped_actions: ["Share of actions beyond their bounds"],
  epochs_done: ["Epochs", "n_updates"],
  stopped_early: ["Stopped at the KL divergence"],
};

/**
 * Proximal policy optimization (PPO) as an algorithm, for `Agent` and the command line.
 *
 * Source: Schulman et al. 2017 (https://arxiv.org/abs/1707.06347).
 */
export const ppo: Algorithm<PpoConfig, ActorCritic> = {
  meta: {
    name: "ppo",
    title: "PPO",
    summary: "Proximal policy optimization (Schulman et al. 2017)",
    schema: ppoConfigSchema,
    presets: ppoPresets,
    statistics: STATISTICS,
    smallConfig: { numSteps: 8, epochs: 2, minibatches: 2, hiddenSizes: [8] },
    runDefaults: { normalizeObservation: true, normalizeReward: true },
    unusedSettings: unusedOnPolicy,
  },
  build: partsOf,
};

function partsOf(
  config: PpoConfig,
  context: BuildContext,
): Parts<ActorCritic, ActorCriticState, Recorded, PpoInputs> {
  const { numSteps, epochs, clipRange } = config;
  const { actionSpace } = context;
  const entropyCoefficient = config.entropyCoefficient ??
    (actionSpace.type === "box" ? 0 : 0.01);
  // Each minibatch normalizes its own advantages.
  const shared = { ...config, entropyCoefficient, normalizeAdvantage: false };
  const policy = onPolicyModel(shared, context, config.actions);
  const recorded = recordedOf(policy, config);
  const isRecurrent = policy.stateSize > 0;
  checkSettings(config, context, isRecurrent);
  const rows = context.numEnvs * numSteps;
  const rates = onPolicyRates(shared, context);
  const range = scheduledOverRun(clipRange, {
    ...context,
    schedule: config.clipRangeSchedule,
  });
  const make = () => adam({ epsilon: config.adamEpsilon });
  const options = {
    ...config,
    optimizer: make(),
    ...(objectiveOf(config) === "separate" && { valueOptimizer: make() }),
  };
  const learn = rolloutUpdate(policy, config, {
    actionSpace,
    update: ppoUpdate(policy, options),
  });
  const length = isRecurrent ? config.sequenceLength ?? numSteps : 1;
  const order = { kind: "permutation", size: rows / length } as const;
  return {
    policy,
    state: actorCriticSteps(options).init(policy.init(context.random)),
    memory: onPolicyRollout(context, policy, { ...shared, recorded }),
    inputs(progress, draw) {
      // Learning rates are those of the rollout's first step.
      const steps = progress.steps - rows + 1;
      const start: Progress = { ...progress, steps };
      return {
        ...rates(start),
        entropyCoefficient,
        clipRange: range(steps - 1),
        order: draw(order, epochs),
      };
    },
    learn: () => learn,
  };
}

/** Makes the update of a recorded rollout. */
function rolloutUpdate(
  policy: ActorCritic,
  config: PpoConfig,
  { actionSpace, update }: {
    readonly actionSpace: Space;
    readonly update: ReturnType<typeof ppoUpdate>;
  },
): Update<ActorCriticState, Recorded, PpoInputs> {
  return (state, rollout, inputs) => {
    const updated = update(state, batchOf(policy, config, rollout), inputs);
    if (actionSpace.type !== "box" || policy.squashesActions) return updated;
    const taken = envActionTensor(rollout.actions, actionSpace);
    const clipped = tf.notEqual(taken, rollout.actions);
    const clipped_actions = tf.mean(tf.cast(clipped, "float32"));
    return { ...updated, stats: { ...updated.stats, clipped_actions } };
  };
}

/** Recorded rollout, before old log-probabilities and values are computed. */
interface Recorded extends Omit<PpoBatch, "oldLogProb" | "oldValues"> {
  /** Parameters of the distribution that each action was sampled from. */
  readonly behaviour: tf.Tensor2D;
  /** Recurrent states after each step, if a rollout has several sequences. */
  readonly nextState?: tf.Tensor2D;
}

/** Chooses the additional results recorded at each step. */
function recordedOf(
  { distribution, stateSize }: ActorCritic,
  { numSteps, sequenceLength }: PpoConfig,
): RolloutOptions["recorded"] {
  const float = (size: number, of: (output: PolicyOutput) => tf.Tensor) =>
    ({ shape: [size], dtype: "float32", of }) as const;
  const hasSequences = stateSize > 0 && (sequenceLength ?? numSteps) < numSteps;
  return {
    behaviour: float(distribution.parameterSize, ({ policy }) => policy),
    ...(hasSequences && {
      nextState: float(stateSize, (output) => output.state!),
    }),
  };
}

/** Makes the batch of an update from a recorded rollout. */
function batchOf(
  { distribution }: ActorCritic,
  { sequenceLength, clipRangeValue }: PpoConfig,
  { behaviour, nextState, state, ...batch }: Recorded,
): PpoBatch {
  const { actions, returns, advantages } = batch;
  return {
    ...batch,
    oldLogProb: distribution.logProb(behaviour, actions),
    ...(clipRangeValue !== null && {
      oldValues: tf.sub(returns, advantages) as tf.Tensor1D,
    }),
    ...(state && {
      state: nextState ? statesOf(state, nextState, sequenceLength!) : state,
    }),
  };
}

/**
 * Collects the recurrent states before the sequences of a rollout.
 *
 * @param first Recurrent state before the rollout `[numEnvs, stateSize]`.
 * @param after Recurrent state after each step `[numEnvs * numSteps, stateSize]`.
 * @param length Steps of a sequence.
 * @returns States `[numEnvs * numSteps / length, stateSize]`.
 */
function statesOf(
  first: tf.Tensor2D,
  after: tf.Tensor2D,
  length: number,
): tf.Tensor2D {
  const [numEnvs, size] = first.shape;
  const states = tf.concat([
    tf.reshape(first, [numEnvs, 1, size]),
    tf.reshape(after, [numEnvs, -1, size]),
  ], 1);
  const numSteps = after.shape[0] / numEnvs;
  const before = tf.slice(states, [0, 0, 0], [numEnvs, numSteps, size]);
  return tf.slice2d(tf.reshape(before, [-1, length * size]), [0, 0], [
    -1,
    size,
  ]);
}

/** Throws if settings do not fit together. */
function checkSettings(
  { numSteps, minibatches, ...config }: PpoConfig,
  { numEnvs, actionSpace: { type } }: BuildContext,
  isRecurrent: boolean,
): void {
  const refuseIf = (isWrong: boolean, settings: string, wanted: string) => {
    if (!isWrong) return;
    throw new RangeError(`Cannot run PPO with ${settings}: expected ${wanted}`);
  };
  const named = type.replace(/[A-Z]/, (it) => `-${it.toLowerCase()}`);
  refuseIf(
    config.actions === "squashed" && type !== "box",
    `actions: squashed and ${named} actions`,
    "box actions",
  );
  const sequences = `sequenceLength = ${config.sequenceLength}`;
  refuseIf(
    config.sequenceLength !== null && !isRecurrent,
    `${sequences} and a network without memory`,
    "a recurrent network, or sequenceLength: null",
  );
  const length = isRecurrent ? config.sequenceLength ?? numSteps : 1;
  refuseIf(
    numSteps % length !== 0,
    `${sequences} and numSteps = ${numSteps}`,
    "a divisor of numSteps",
  );
  const units = numEnvs * numSteps / length;
  const name = isRecurrent ? "sequences" : "steps";
  refuseIf(
    units % minibatches !== 0,
    `minibatches = ${minibatches} of ${units} ${name} (numEnvs = ${numEnvs}, numSteps = ${numSteps})`,
    `a divisor of ${units}`,
  );
  refuseIf(
    config.normalizeAdvantage && units * length === minibatches,
    `minibatches = ${minibatches} of one step each and normalizeAdvantage: true`,
    "at least 2 steps, or normalizeAdvantage: false",
  );
}

/**
 * Proximal policy optimization (PPO): collects a rollout of `numSteps` steps of each
 * environment, then takes `epochs` times `minibatches` gradient steps on the clipped
 * objective.
 *
 * `update` returns `policy_loss`, `value_loss`, `entropy`, `loss`, `approx_kl`,
 * `clip_fraction`, `grad_norm`, means over the minibatches that stepped, and
 * `epochs_done`, `stopped_early`, `explained_variance`, `learning_rate` and, for
 * Gaussian actions, `clipped_actions`.
 *
 * @typeParam E Environments, or their spaces: the type of the actions.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { PPO } from "@bellman/ppo";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const agent = new PPO({
 *   observationSpace: { type: "discrete", n: 2 },
 *   actionSpace: { type: "discrete", n: 2 },
 *   numEnvs: 2,
 * }, { config: { numSteps: 2, minibatches: 2, epochs: 3, hiddenSizes: [8] }, seed: 1 });
 *
 * const observations = new Int32Array([0, 1]);
 * for (let step = 0; step < 2; step++) {
 *   agent.observe({
 *     observations,
 *     rewards: Float64Array.from(agent.act(observations)),
 *     terminated: new Uint8Array([1, 1]),
 *     truncated: new Uint8Array(2),
 *     finalObservations: observations,
 *   });
 * }
 * assertEquals(agent.update()?.epochs_done, 3);
 * agent.close();
 * ```
 */
export class PPO<const E extends AgentSpaces = AgentSpaces>
  extends Agent<PpoConfig, E> {
  /** Policy that acts, without its parameters. */
  declare readonly model: ActorCritic;

  /**
   * Creates an agent.
   *
   * @param spaces Spaces and number of environments.
   * @param options Settings, seed, length of the run.
   * @throws {RangeError} If a setting is out of its range, or sizes do not divide
   * each other.
   * @throws {TypeError} If a space is a dict or tuple, or gSDE is used for actions that
   * are not a box.
   */
  constructor(spaces: E, options: AgentOptions<PpoConfig> = {}) {
    super(ppo, spaces, options);
  }
}
