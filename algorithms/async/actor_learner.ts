import {
  type AgentContext,
  type AgentParts,
  type AgentRuntime,
  type Arrays,
  type Decision,
  type Exploration,
  type SavedState,
  Windows,
} from "@bellman/agent";
import {
  clipByGlobalNorm,
  cloneParams,
  flatParams,
  flattenParams,
  mapParams,
  nest,
  type Params,
  type RandomStream,
  scope,
  type TensorData,
  tidy,
  valueAndGradients,
  viewParams,
} from "@bellman/compute";
import type { Policy } from "@bellman/policies";
import { schedule } from "@bellman/schedulers";
import type { StateTree, VecStep } from "@bellman/types";
import * as tf from "@tensorflow/tfjs";
import type { AsyncConfig } from "./config.ts";
import type { Learner, LearnerBatch } from "./learners.ts";
import { type ParameterServer, SharedParameters } from "./parameter_server.ts";

/** Form of a method: its windows and its pushes. */
export interface MethodForm {
  /**
   * True for the one-step methods: parameters are pulled before each action, gradients
   * accumulate over `updateInterval` steps, and the target network is updated first.
   */
  readonly isOneStep: boolean;
  /** True for Sarsa, whose target takes the next action. */
  readonly takesNextAction?: boolean;
  /** True for methods with a target network, which explore by the epsilon-greedy policy. */
  readonly learnsQ: boolean;
}

/** Options of {@link actorLearner}. */
export interface ActorLearnerOptions {
  /** All settings. */
  readonly config: AsyncConfig;
  /** Spaces and length of the run. */
  readonly context: AgentContext;
  /** Windows and pushes. */
  readonly form: MethodForm;
  /**
   * Connects it to the server that it learns with.
   *
   * @default a server of its own: the sequential form
   */
  readonly connect?: ServerConnection;
}

/** Gives the server of an agent: of the first parameters, where there is none yet. */
export type ServerConnection = (
  params: Float32Array,
  config: AsyncConfig,
) => ParameterServer;

/**
 * Makes the parts of one actor-learner: an agent that acts by a copy of the shared
 * parameters, computes gradients of windows of its steps, and pushes them to the server.
 *
 * @param learner Policy and gradient.
 * @param options Settings, form of the method, server.
 * @returns The parts of an agent in one environment.
 *
 * @example
 * ```ts
 * import { Agent, type AlgorithmDefinition } from "@bellman/agent";
 * import { actorLearner, type AsyncConfig, asyncQ, qLearner, qPolicy } from "@bellman/async";
 * import { selectBackend } from "@bellman/compute";
 * import { makeVec } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * await selectBackend("cpu");
 * // One-step Q-learning with a network of one's own.
 * const mine: AlgorithmDefinition<AsyncConfig> = {
 *   ...asyncQ,
 *   build: (config, context) =>
 *     actorLearner(qLearner(qPolicy({ ...context, hiddenSizes: [8] })), {
 *       config,
 *       context,
 *       form: { isOneStep: true, learnsQ: true },
 *     }),
 * };
 * const agent = new Agent(mine, makeVec("CartPole-v1", { numEnvs: 1 }));
 * assertEquals(agent.params["dense0/kernel"].shape, [4, 8]);
 * agent.close();
 * ```
 */
export function actorLearner<P extends Policy>(
  learner: Learner<P>,
  options: ActorLearnerOptions,
): AgentParts<P> {
  const { config, context: { actionSpace }, form } = options;
  const { policy } = learner;
  let flat: Float32Array;
  let held: SavedState;
  let made: Omit<ActorStepsOptions, keyof ActorLearnerOptions>;
  let steps: ActorSteps;
  const learn =
    (pushes: boolean): AgentParts["update"] => (state, batch, numbers) =>
      tidy(() => {
        const { policy: params, sum } = state, target = scope(batch, "target");
        const window = { ...batch, target } as unknown as LearnerBatch;
        const { loss, aux, gradients } = valueAndGradients(
          learner.lossOf(params, window, numbers),
          params,
        );
        const clipped = clipByGlobalNorm(gradients, config.maxGradNorm);
        const add = (it: tf.Tensor, path: string) =>
          sum ? tf.add(sum[path], it) : it;
        const gradient = mapParams(clipped.gradients, add);
        const left = pushes ? mapParams(params, tf.zerosLike) : gradient;
        const all = flattenParams(gradient, Object.keys(params));
        return {
          state: { policy: cloneParams(params), ...(sum && { sum: left }) },
          stats: { loss, ...aux, grad_norm: clipped.norm },
          ...(pushes && { results: { gradient: all } }),
        };
      });
  return {
    policy,
    init(random) {
      const params = policy.init(random);
      flat = flatParams(params);
      held = { policy: viewParams(flat, params) };
      const own = options.connect === undefined
        ? SharedParameters.from(flat, { ...config, workers: 1 })
        : undefined;
      const server = own?.connect(0) ?? options.connect!(flat, config);
      const target = viewParams(flat.slice(), params);
      made = { server, own, target, finalEpsilon: drawEpsilon(config, random) };
      const sum = mapParams(params, tf.zerosLike);
      return { policy: params, ...(form.isOneStep && { sum }) };
    },
    experience: (runtime) =>
      steps = new ActorSteps(runtime, { ...options, ...made }),
    renew() {
      if (!form.isOneStep && steps.length > 0) return undefined;
      return made.server.pull(flat, "params") ? held : undefined;
    },
    update: learn(!form.isOneStep),
    fullUpdate: form.isOneStep
      ? { isDue: () => steps.isPushDue, update: learn(true) }
      : undefined,
    numbers: () => ({
      learningRate: steps.rate,
      entropyCoefficient: config.entropyCoefficient,
    }),
    ...(form.learnsQ && actionSpace.type === "discrete" && {
      actionValues: {
        part: "policy",
        estimate: (params: Params, observations: tf.Tensor) =>
          policy.apply(params, observations).policy,
      },
      explore: ({ random, sample }: Exploration) => {
        const { n, start = 0 } = actionSpace;
        if (random.uniform() >= steps.epsilon) return sample();
        return Int32Array.of(start + random.integer(n));
      },
    }),
  };
}

/** Draws the final exploration rate of a worker. */
function drawEpsilon(
  { finalEpsilons, finalEpsilonProbabilities }: AsyncConfig,
  random: RandomStream,
): number {
  let left = random.split("epsilon").uniform();
  const at = finalEpsilonProbabilities.findIndex((p) => (left -= p) < 0);
  return finalEpsilons.at(at)!;
}

/** Settings of {@link ActorSteps}. */
interface ActorStepsOptions extends ActorLearnerOptions {
  readonly server: ParameterServer;
  /** Memory of the server, where it is this agent's alone. */
  readonly own: SharedParameters | undefined;
  readonly finalEpsilon: number;
  /** Views of the memory of the target network. */
  readonly target: ReturnType<typeof viewParams>;
}

/** Steps of an actor-learner: windows that become gradients, which become pushes. */
class ActorSteps extends Windows {
  readonly #options: ActorStepsOptions;
  readonly #target: Float32Array;
  /** Its parts by their names in the batch. */
  readonly #targetParts: Record<string, TensorData> = {};
  #finalEpsilon: number;
  /** Gradients since the start. */
  #count = 0;

  constructor(runtime: AgentRuntime, options: ActorStepsOptions) {
    const { config, form, target } = options;
    super(runtime, {
      maxSteps: form.isOneStep ? 1 : config.maxSteps,
      gamma: config.gamma,
      takesNextAction: form.takesNextAction,
    });
    this.#options = options;
    this.#finalEpsilon = options.finalEpsilon;
    this.#target = new Float32Array(Object.values(target)[0].data.buffer);
    const parts = form.learnsQ ? nest(target, "target") : {};
    for (const path in parts) {
      const { data, shape } = parts[path];
      this.#targetParts[path] = data;
      this.batch = { ...this.batch, [path]: { shape, dtype: "float32" } };
    }
  }

  /** True where the next gradient is the last before a push. */
  get isPushDue(): boolean {
    const { updateInterval } = this.#options.config;
    return this.hasEnded || (this.#count + 1) % updateInterval === 0;
  }

  /** Present learning rate. */
  get rate(): number {
    const { server, config, context } = this.#options;
    const share = schedule(config.learningRateSchedule);
    return config.learningRate * share(server.steps / context.totalTimesteps);
  }

  /** Present exploration rate. */
  get epsilon(): number {
    const { server, config } = this.#options;
    const share = Math.min(server.steps / config.epsilonSteps, 1);
    return 1 + share * (this.#finalEpsilon - 1);
  }

  get stats(): Record<string, number> {
    return this.#options.form.learnsQ ? { epsilon: this.epsilon } : {};
  }

  override add(decision: Decision, step: VecStep): void {
    super.add(decision, step);
    this.#options.server.step();
  }

  override draw(): Arrays {
    const { form, server } = this.#options;
    if (form.learnsQ) server.pull(this.#target, "target");
    return { ...super.draw(), ...this.#targetParts };
  }

  override learned({ gradient }: Arrays): void {
    const { form: { isOneStep }, server } = this.#options;
    super.learned();
    this.#count++;
    if (isOneStep) server.syncTarget();
    if (gradient) server.push(gradient as Float32Array, this.rate);
    if (!isOneStep) server.syncTarget();
  }

  override save(): StateTree {
    return {
      window: super.save(),
      finalEpsilon: this.#finalEpsilon,
      count: this.#count,
      own: this.#options.own?.save() ?? null,
    };
  }

  override load(state: StateTree): void {
    const saved = state as Record<string, StateTree>;
    super.load(saved.window);
    this.#finalEpsilon = saved.finalEpsilon as number;
    this.#count = saved.count as number;
    this.#options.own?.load(saved.own);
  }
}
