import type {
  AgentContext,
  AlgorithmDefinition,
  ConfigSchema,
} from "@bellman/agent";
import type { ActorCritic, Policy } from "@bellman/policies";
import { actorLearner, type MethodForm } from "./actor_learner.ts";
import {
  type AsyncConfig,
  asyncConfigSchema,
  defaultAsyncConfig,
} from "./config.ts";
import {
  a3cLearner,
  a3cPolicy,
  type Learner,
  qLearner,
  qPolicy,
} from "./learners.ts";
import { asyncPresets } from "./presets.ts";
import { MAX_STEPS, type ParameterServer } from "./parameter_server.ts";

/**
 * An asynchronous method: an algorithm whose agents learn with a server. As an
 * `AlgorithmDefinition` it is the sequential form, one worker with parameters of
 * its own.
 */
export interface AsyncMethod<P extends Policy = Policy>
  extends AlgorithmDefinition<AsyncConfig, P> {
  /**
   * Makes the definition of a worker that learns with others.
   *
   * @param server Its view of the shared parameters.
   */
  with(server: ParameterServer): AlgorithmDefinition<AsyncConfig, P>;
}

/** Settings that a method does not use. */
const OF_Q = [
  "targetInterval",
  "finalEpsilons",
  "finalEpsilonProbabilities",
  "epsilonSteps",
] as const;
const OF_A3C = [
  "valueCoefficient",
  "entropyCoefficient",
  "lstmSize",
  "valueNetwork",
] as const;

/** Name, form and learner of a method. */
interface MethodOptions<P extends Policy>
  extends Pick<AsyncMethod, "name" | "title" | "summary" | "presets"> {
  readonly form: MethodForm;
  /** Settings that it does not use. */
  readonly unused: readonly (keyof AsyncConfig)[];
  /**
   * Settings whose schema differs.
   *
   * @default {}
   */
  readonly properties?: ConfigSchema["properties"];
  learner(config: AsyncConfig, context: AgentContext): Learner<P>;
}

function methodOf<P extends Policy>(
  { form, unused, properties, learner, ...named }: MethodOptions<P>,
): AsyncMethod<P> {
  const all = asyncConfigSchema.properties;
  const hidden = new Set<string>(unused);
  const schema: ConfigSchema = {
    properties: Object.fromEntries(
      Object.entries({ ...all, ...properties })
        .filter(([key]) => !hidden.has(key)),
    ),
  };
  const define = (
    server?: ParameterServer,
  ): AlgorithmDefinition<AsyncConfig, P> => ({
    ...named,
    family: "async",
    schema,
    // A worker has one environment; a run logs at every tenth stop.
    runDefaults: { numEnvs: 1, logInterval: 10 },
    check: (config, context) => checkConfig(config, context, named.title!),
    build: (given, context) => {
      const config = { ...defaultAsyncConfig, ...given };
      const made = learner(config, context);
      return actorLearner(made, { config, context, form, server });
    },
  });
  return { ...define(), with: define };
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
  if (
    finalEpsilons.length === probabilities.length && Math.abs(sum - 1) < 1e-6
  ) return;
  throw new RangeError(
    `Cannot run ${title} with finalEpsilonProbabilities of sum ${sum} for ${finalEpsilons.length} finalEpsilons: expected one each, of sum 1`,
  );
}

const SOURCE = "Mnih et al. 2016";

function qMethod(
  { form, ...named }:
    & Pick<MethodOptions<Policy>, "name" | "title" | "summary" | "presets">
    & { form: Omit<MethodForm, "learnsQ"> },
): AsyncMethod {
  return methodOf({
    ...named,
    form: { ...form, learnsQ: true },
    properties: {
      network: {
        ...asyncConfigSchema.properties.network,
        enum: ["mlp", "cnn", "cnn_small", "conv_only"],
      },
    },
    unused: [...OF_A3C, form.isOneStep ? "maxSteps" : "updateInterval"],
    learner: (config, context) => {
      const { actionSpace: space } = context;
      const start = space.type === "discrete" ? space.start : 0;
      return qLearner(qPolicy({ ...config, ...context }), { start });
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
  summary: `Asynchronous one-step Q-learning (${SOURCE})`,
  presets: asyncPresets["async-q"],
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
  summary: `Asynchronous one-step Sarsa (${SOURCE})`,
  presets: asyncPresets["async-sarsa"],
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
  summary: `Asynchronous n-step Q-learning (${SOURCE})`,
  presets: asyncPresets["async-nstep-q"],
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
  summary: `Asynchronous advantage actor-critic (${SOURCE})`,
  presets: asyncPresets.a3c,
  form: { isOneStep: false, learnsQ: false },
  unused: [...OF_Q, "updateInterval"],
  learner: (config, context) => a3cLearner(a3cPolicy(config, context), config),
});

/** All asynchronous methods. */
export const asyncMethods: readonly AsyncMethod[] = [
  a3c,
  asyncQ,
  asyncNStepQ,
  asyncSarsa,
];

/**
 * Finds an asynchronous method.
 *
 * @param name Name of the method.
 * @returns The method.
 * @throws {RangeError} If there is none of that name.
 */
export function methodNamed(name: string): AsyncMethod {
  const method = asyncMethods.find((it) => it.name === name);
  if (method !== undefined) return method;
  const names = asyncMethods.map((it) => it.name).join(", ");
  throw new RangeError(
    `Unknown asynchronous method '${name}': expected ${names}`,
  );
}
