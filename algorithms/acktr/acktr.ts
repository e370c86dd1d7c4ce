import { a2c, defaultA2CConfig } from "@bellman/a2c";
import {
  Agent,
  type AgentContext,
  type AgentOptions,
  type AgentParts,
  type AgentSpaces,
  type AlgorithmDefinition,
  type Experience,
  type SavedState,
} from "@bellman/agent";
import type { KfacArrays } from "@bellman/kfac";
import { type ActorCritic, nest, scope } from "@bellman/policies";
import { type AcktrConfig, acktrConfigSchema } from "./config.ts";
import { acktrPresets } from "./presets.ts";
import {
  type AcktrApply,
  type AcktrStep,
  type AcktrUpdate,
  acktrUpdate,
  actorCriticLayers,
} from "./update.ts";

/**
 * Actor-critic with a Kronecker-factored trust region, as `Agent` and the command
 * line know it: A2C with natural steps.
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
  // Steps of values in the hundreds are bounded, and inputs of small variance are
  // damped away: both have to be scaled.
  runDefaults: { normalizeObservation: true, normalizeReward: true },
  idle({ objective, valueNetwork }): Record<string, string> {
    if ((objective ?? valueNetwork) === "shared") {
      const why = "one step for both losses has";
      return {
        valueLearningRate: `${why} learningRate`,
        valueKlClip: `${why} klClip`,
      };
    }
    const why = "with separate objectives no loss is weighed against another";
    return {
      valueCoefficient:
        `${why}; valueLearningRate and valueKlClip are the value's`,
    };
  },
  check(config, { numEnvs }) {
    const { objective, valueNetwork, numSteps, exampleEvery } = config;
    if (objective === "separate" && valueNetwork !== "separate") {
      throw new RangeError(
        `Cannot run ACKTR with objective: separate and valueNetwork: ${valueNetwork}: expected valueNetwork: separate`,
      );
    }
    if (numEnvs * numSteps > exampleEvery) return;
    throw new RangeError(
      `Cannot run ACKTR with numEnvs = ${numEnvs}, numSteps = ${numSteps} and exampleEvery = ${exampleEvery}: expected at least 2 steps for the factors of an update, as those of 1 have rank 1`,
    );
  },
  build: partsOf,
};

function partsOf(
  config: AcktrConfig,
  context: AgentContext,
): AgentParts<ActorCritic> {
  // The optimizer of A2C's parts is not used.
  const base = a2c.build({ ...defaultA2CConfig, ...config }, context);
  const { policy } = base;
  // Layers are found in the first parameters, which an agent asks for first.
  let update: AcktrUpdate;
  const rows = context.numEnvs * config.numSteps;
  const { coldLearningRate, learningRate, fisherActions } = config;
  const coldRatio = (coldLearningRate ?? learningRate) / learningRate;
  const isAlwaysFull = config.covUpdateEvery === 1;
  const ofStatistics = { rows, fullOnly: !isAlwaysFull };
  const encoding =
    (kind: "apply" | "applyLight"): AgentParts["update"] =>
    (state, batch, numbers) => {
      const observations = policy.encode(batch.observations);
      const inputs = { ...batch, observations };
      const given = [state.policy, state.optimizer, inputs, numbers];
      const made = update[kind](...given as unknown as Parameters<AcktrApply>);
      return {
        state: { policy: made.params, optimizer: made.optimizerState },
        stats: made.stats,
        results: made.finite,
      };
    };
  return {
    ...base,
    experience: (runtime) => warning(base.experience(runtime), update.steps),
    init(random) {
      const params = policy.init(random);
      update = acktrUpdate(policy, actorCriticLayers(policy, params), config);
      return { policy: params, optimizer: update.init(params) };
    },
    update: encoding(isAlwaysFull ? "apply" : "applyLight"),
    fullUpdate: isAlwaysFull ? undefined : {
      isDue: ({ updates }) => update.needsStatistics(updates),
      update: encoding("apply"),
    },
    numbers: (moment) => ({ ...base.numbers(moment), coldRatio }),
    updateNoise: {
      valueNoise: { kind: "normal", size: 1, ...ofStatistics },
      ...(fisherActions === "sampled" && {
        actionNoise: { ...policy.distribution.noise, ...ofStatistics },
      }),
    },
    close: () => update.steps.forEach(({ kfac }) => kfac.close()),
    refresh({ updates }, read) {
      let state: SavedState | undefined;
      for (const { name, kfac } of update.steps) {
        const inverted = kfac.refresh(updates - 1, () => {
          state ??= read();
          return scope(state.optimizer, name) as KfacArrays;
        });
        if (inverted === undefined) continue;
        const own = nest(inverted, name) as SavedState[string];
        state = { ...state!, optimizer: { ...state!.optimizer, ...own } };
      }
      return state;
    },
  };
}

/** Warns once where a step was skipped, as a number in it was not finite. */
function warning(
  experience: Experience,
  steps: readonly AcktrStep[],
): Experience {
  const learned = experience.learned?.bind(experience);
  let hasWarned = false;
  experience.learned = (finite) => {
    learned?.({});
    if (hasWarned) return;
    const line = steps.map(({ name, kfac }) => kfac.nonFinite(finite[name]))
      .find((it) => it !== undefined);
    if (line === undefined) return;
    hasWarned = true;
    // deno-lint-ignore no-console -- warnings go there
    console.warn(line);
  };
  return experience;
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
   * Creates a new agent; the TensorFlow.js backend must have been chosen.
   *
   * @param spaces Spaces of one environment, and number of environments.
   * @param options Settings, seed, length of the run.
   * @throws {RangeError} If a setting is out of its range, or does not go
   * together with another one.
   * @throws {TypeError} If a space is a dict or tuple.
   */
  constructor(spaces: AgentSpaces, options: AgentOptions<AcktrConfig> = {}) {
    super(acktr, spaces, options);
  }
}
