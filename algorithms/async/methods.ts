import {
  type AgentContext,
  type Algorithm,
  type ConfigSchema,
  type Meta,
  unusedLayers,
} from "@bellman/agent";
import {
  type ActorCritic,
  actorCritic,
  networkFor,
  observationEncoder,
  type Policy,
  qPolicy,
} from "@bellman/policies";
import {
  actorLearner,
  type MethodForm,
  type ServerConnection,
} from "./actor_learner.ts";
import {
  type AsyncConfig,
  asyncConfigSchema,
  defaultAsyncConfig,
} from "./config.ts";
import { a3cLearner, type Learner, qLearner } from "./losses.ts";
import { MAX_STEPS } from "./parameter_server.ts";
import { asyncPresets } from "./presets.ts";

/**
 * Asynchronous method: an algorithm whose agents share a parameter server. As an
 * `Algorithm` it is the sequential form, one worker with its own parameters.
 */
export interface AsyncMethod<P extends Policy = Policy>
  extends Algorithm<AsyncConfig, P> {
  /**
   * Returns the algorithm of agents that learn with others.
   *
   * @param connect Returns an agent's view of the shared parameters.
   */
  with(connect?: ServerConnection): Algorithm<AsyncConfig, P>;
  /** Names of its update statistics. */
  readonly statisticNames: readonly string[];
  /**
   * Returns the largest number of a worker's steps between two pushes.
   *
   * @param config Settings of the worker.
   */
  stepsPerPush(
    config: Pick<AsyncConfig, "maxSteps" | "updateInterval">,
  ): number;
}

/** Names and texts of a method. */
type Names = Pick<Meta, "name" | "title" | "summary">;

/** Name, form and learner of a method. */
interface MethodOptions<P extends Policy> extends Names {
  readonly form: MethodForm;
  /** Settings that only other methods use. */
  readonly unused: readonly (keyof AsyncConfig)[];
  /** Settings with another schema. */
  readonly properties?: ConfigSchema["properties"];
  /** Statistics of its loss. */
  readonly aux: readonly string[];
  learner(config: AsyncConfig, context: AgentContext): Learner<P>;
}

function methodOf<P extends Policy>(
  { form, unused, properties, aux, learner, ...names }: MethodOptions<P>,
): AsyncMethod<P> {
  const settings = Object.entries({
    ...asyncConfigSchema.properties,
    ...properties,
  }).filter(([key]) => !unused.includes(key as keyof AsyncConfig));
  const define = (
    connect?: ServerConnection,
  ): Algorithm<AsyncConfig, P> => ({
    meta: {
      ...names,
      summary: `${names.summary} (Mnih et al. 2016)`,
      schema: { properties: Object.fromEntries(settings) },
      presets: asyncPresets[names.name],
      statistics: form.learnsQ ? Q_STATISTICS : {},
      smallConfig: {
        hiddenSizes: [8],
        workerOrder: "fixed",
        stepsPerStop: 80,
        ...(form.learnsQ && { targetInterval: 50 }),
      },
      isGreedy: form.learnsQ,
      // Each worker has a single environment.
      runDefaults: { numEnvs: 1 },
      unusedSettings: ({ optimizer, ...config }, spaces) => ({
        ...unusedLayers(config, spaces),
        ...(optimizer === "momentum_sgd" &&
          { rmspropEpsilon: "the optimizer momentum_sgd is not RMSProp" }),
      }),
    },
    check: (config, context) => checkConfig(config, context, names.title!),
    build: (settings, context) => {
      const config = { ...defaultAsyncConfig, ...settings };
      const builtLearner = learner(config, context);
      return actorLearner(builtLearner, { config, context, form, connect });
    },
  });
  const epsilon = form.learnsQ ? ["epsilon"] : [];
  const statisticNames = [
    ...["loss", ...aux, "grad_norm", ...epsilon, "learning_rate"],
  ];
  return {
    ...define(),
    with: define,
    statisticNames,
    stepsPerPush: ({ maxSteps, updateInterval }) =>
      form.isOneStep ? updateInterval : maxSteps,
  };
}

function checkConfig(
  config: AsyncConfig,
  { totalTimesteps }: AgentContext,
  title: string,
): void {
  if (totalTimesteps > MAX_STEPS) {
    throw new RangeError(
      `Cannot run ${title} for ${totalTimesteps} steps: expected at most ${MAX_STEPS}`,
    );
  }
  const { finalEpsilons, finalEpsilonProbabilities: probabilities } = config;
  if (finalEpsilons === undefined) return;
  const sum = probabilities.reduce((sum, it) => sum + it, 0);
  const { length } = finalEpsilons;
  if (length === probabilities.length && Math.abs(sum - 1) < 1e-6) return;
  throw new RangeError(
    `Cannot run ${title} with finalEpsilonProbabilities of sum ${sum} for ${length} finalEpsilons: expected one each, of sum 1`,
  );
}

const { learningRate, rmspropEpsilon, network, activation } =
  asyncConfigSchema.properties;

const Q_STATISTICS = {
  q_mean: ["Q value: mean", "q"],
  target_mean: ["Target of the Q value: mean", "target"],
  epsilon: ["Exploration rate"],
} as const;

/** Settings that differ for Q-learning: other defaults, fewer networks. */
const Q_PROPERTIES = {
  activation: { ...activation, default: "relu" },
  network: {
    ...network,
    enum: ["auto", "mlp", "cnn", "cnn_2013", "cnn_small", "conv_only"],
  },
};

/** Settings that differ for one-step methods, which accumulate fewer gradients. */
const ONE_STEP_PROPERTIES = {
  ...Q_PROPERTIES,
  learningRate: { ...learningRate, default: 0.001 },
  rmspropEpsilon: { ...rmspropEpsilon, default: 0.0001 },
};

function qMethod(
  { form, ...names }: Names & { form: Omit<MethodForm, "learnsQ"> },
): AsyncMethod {
  return methodOf({
    ...names,
    form: { ...form, learnsQ: true },
    properties: form.isOneStep ? ONE_STEP_PROPERTIES : Q_PROPERTIES,
    unused: [
      "valueCoefficient",
      "entropyCoefficient",
      "lstmSize",
      "valueNetwork",
      form.isOneStep ? "maxSteps" : "updateInterval",
    ],
    aux: ["q_mean", "target_mean"],
    learner({ network, hiddenSizes, activation, partNetworks }, context) {
      const { actionSpace, observationSpace } = context;
      if (actionSpace.type !== "discrete") {
        throw new TypeError(
          `Cannot learn values of ${actionSpace.type} actions: expected discrete actions, or the algorithm a3c`,
        );
      }
      const { observationShape, observationParts } = observationEncoder(
        observationSpace,
      );
      const named = network === "auto"
        ? networkFor(observationShape, {
          inputParts: observationParts,
          partNetworks,
        })
        : network;
      // Image networks without other parts have no mlp after the convolutions.
      const hasLayers = named === "mlp" || named === "parts";
      const sizes = hasLayers ? hiddenSizes : [];
      const networkOptions = { hiddenSizes: sizes, activation, partNetworks };
      const policy = qPolicy({ ...context, network: named, networkOptions });
      return qLearner(policy, actionSpace);
    },
  });
}

/**
 * Asynchronous one-step Q-learning.
 *
 * Source: Mnih et al. 2016, algorithm 1 (https://arxiv.org/abs/1602.01783).
 */
export const asyncQ: AsyncMethod = qMethod({
  name: "async-q",
  title: "asynchronous Q-learning",
  summary: "Asynchronous one-step Q-learning",
  form: { isOneStep: true },
});

/**
 * Asynchronous one-step Sarsa.
 *
 * Source: Mnih et al. 2016, section 4 (https://arxiv.org/abs/1602.01783).
 */
export const asyncSarsa: AsyncMethod = qMethod({
  name: "async-sarsa",
  title: "asynchronous Sarsa",
  summary: "Asynchronous one-step Sarsa",
  form: { isOneStep: true, takesNextAction: true },
});

/**
 * Asynchronous n-step Q-learning.
 *
 * Source: Mnih et al. 2016, algorithm S2 (https://arxiv.org/abs/1602.01783).
 */
export const asyncNStepQ: AsyncMethod = qMethod({
  name: "async-nstep-q",
  title: "asynchronous n-step Q-learning",
  summary: "Asynchronous n-step Q-learning",
  form: { isOneStep: false },
});

/**
 * Asynchronous advantage actor-critic.
 *
 * Source: Mnih et al. 2016, algorithm S3 (https://arxiv.org/abs/1602.01783).
 */
export const a3c: AsyncMethod<ActorCritic> = methodOf({
  name: "a3c",
  title: "A3C",
  summary: "Asynchronous advantage actor-critic",
  form: { isOneStep: false, learnsQ: false },
  unused: [
    "targetInterval",
    "finalEpsilons",
    "finalEpsilonProbabilities",
    "epsilonSteps",
    "updateInterval",
  ],
  aux: ["policy_loss", "value_loss", "entropy"],
  learner: (config, context) => {
    const { network, valueNetwork, partNetworks } = config;
    const { hiddenSizes, activation, lstmSize } = config;
    const networkOptions = { hiddenSizes, activation, lstmSize, partNetworks };
    const options = { ...context, network, networkOptions, valueNetwork };
    return a3cLearner(actorCritic(options), config);
  },
});

/** All asynchronous methods. */
export const asyncMethods: readonly AsyncMethod[] = [
  a3c,
  asyncQ,
  asyncNStepQ,
  asyncSarsa,
];

/**
 * Returns an asynchronous method by its name.
 *
 * @param name Name of the method.
 * @returns The method.
 * @throws {RangeError} If there is none of that name.
 *
 * @example
 * ```ts
 * import { asyncQ, methodNamed } from "@bellman/async";
 * import { assertStrictEquals } from "@std/assert";
 *
 * assertStrictEquals(methodNamed("async-q"), asyncQ);
 * ```
 */
export function methodNamed(name: string): AsyncMethod {
  const method = asyncMethods.find((it) => it.meta.name === name);
  if (method !== undefined) return method;
  const names = asyncMethods.map((it) => it.meta.name).join(", ");
  throw new RangeError(
    `Unknown asynchronous method '${name}': expected ${names}`,
  );
}
