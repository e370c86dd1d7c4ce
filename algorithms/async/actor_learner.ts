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
  type RandomStream,
  tidy,
  valueAndGradients,
  viewParams,
} from "@bellman/compute";
import type { Policy } from "@bellman/policies";
import { schedule } from "@bellman/schedulers";
import type { StateTree, VecStep } from "@bellman/types";
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
  let made: Pick<ActorStepsOptions, "server" | "own" | "finalEpsilon">;
  let steps: ActorSteps;
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
      made = { server, own, finalEpsilon: drawEpsilon(config, random) };
      return { policy: params };
    },
    experience: (runtime) =>
      steps = new ActorSteps(runtime, { ...options, ...made }),
    renew() {
      if (!form.isOneStep && steps.length > 0) return undefined;
      return made.server.pull(flat, "params") ? held : undefined;
    },
    update: (state, batch, numbers) =>
      tidy(() => {
        const params = state.policy;
        const { loss, aux, gradients } = valueAndGradients(
          learner.lossOf(params, batch as unknown as LearnerBatch, numbers),
          params,
        );
        const clipped = clipByGlobalNorm(gradients, config.maxGradNorm);
        const gradient = flattenParams(clipped.gradients, Object.keys(params));
        return {
          state: { policy: cloneParams(params) },
          stats: { loss, ...aux, grad_norm: clipped.norm },
          results: { gradient },
        };
      }),
    numbers: () => ({
      learningRate: steps.rate,
      entropyCoefficient: config.entropyCoefficient,
    }),
    ...(form.learnsQ && actionSpace.type === "discrete" && {
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
}

/** Steps of an actor-learner: windows that become gradients, which become pushes. */
class ActorSteps extends Windows {
  readonly #options: ActorStepsOptions;
  readonly #target: Float32Array;
  /** Gradient since the last push. */
  readonly #gradient: Float32Array;
  #finalEpsilon: number;
  /** Gradients since the start. */
  #count = 0;

  constructor(runtime: AgentRuntime, options: ActorStepsOptions) {
    const { config, form, server: { size } } = options;
    super(runtime, {
      maxSteps: form.isOneStep ? 1 : config.maxSteps,
      gamma: config.gamma,
      takesNextAction: form.takesNextAction,
    });
    this.#options = options;
    this.#target = new Float32Array(form.learnsQ ? size : 0);
    this.#gradient = new Float32Array(form.isOneStep ? size : 0);
    this.#finalEpsilon = options.finalEpsilon;
    if (!form.learnsQ) return;
    const target = { shape: [size], dtype: "float32" } as const;
    this.batch = { ...this.batch, target };
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
    if (!form.learnsQ) return super.draw();
    server.pull(this.#target, "target");
    return { ...super.draw(), target: this.#target };
  }

  override learned({ gradient }: Arrays): void {
    const { form, server, config } = this.#options;
    const { hasEnded } = this;
    super.learned();
    this.#count++;
    if (!form.isOneStep) {
      server.push(gradient as Float32Array, this.rate);
      server.syncTarget();
      return;
    }
    const sum = this.#gradient;
    for (let i = 0; i < sum.length; i++) sum[i] += gradient[i];
    server.syncTarget();
    if (!hasEnded && this.#count % config.updateInterval !== 0) return;
    server.push(sum, this.rate);
    sum.fill(0);
  }

  override save(): StateTree {
    return {
      window: super.save(),
      gradient: this.#gradient.slice(),
      finalEpsilon: this.#finalEpsilon,
      count: this.#count,
      own: this.#options.own?.save() ?? null,
    };
  }

  override load(state: StateTree): void {
    const saved = state as Record<string, StateTree>;
    super.load(saved.window);
    this.#gradient.set(saved.gradient as Float32Array);
    this.#finalEpsilon = saved.finalEpsilon as number;
    this.#count = saved.count as number;
    this.#options.own?.load(saved.own);
  }
}
