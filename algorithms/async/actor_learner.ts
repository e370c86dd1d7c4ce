import type {
  AgentContext,
  AgentParts,
  AgentRuntime,
  AgentState,
  Arrays,
  Decision,
  Experience,
  Exploration,
  SavedState,
} from "@bellman/agent";
import {
  clipByGlobalNorm,
  cloneParams,
  flattenParams,
  type Params,
  type RandomStream,
  tidy,
  valueAndGradients,
} from "@bellman/compute";
import type { Policy } from "@bellman/policies";
import { schedule } from "@bellman/schedulers";
import type { StateTree, VecStep } from "@bellman/types";
import type { AsyncConfig } from "./config.ts";
import type { Learner } from "./learners.ts";
import { type ParameterServer, SharedParameters } from "./parameter_server.ts";
import { Windows } from "./windows.ts";

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

/** Names of the statistics of an update. */
export const STATISTICS = {
  q: [
    "loss",
    "q_mean",
    "target_mean",
    "grad_norm",
    "epsilon",
    "learning_rate",
  ],
  actorCritic: [
    "loss",
    "policy_loss",
    "value_loss",
    "entropy",
    "grad_norm",
    "learning_rate",
  ],
} as const;

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
 * Copies parameters into one array, in the order of their paths.
 *
 * @param params The parameters.
 * @returns A new array.
 *
 * @example
 * ```ts
 * import { flatParams } from "@bellman/async";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const flat = flatParams({ w: tf.ones([1, 2]), b: tf.zeros([1]) });
 * assertEquals(flat, Float32Array.of(1, 1, 0));
 * ```
 */
export function flatParams(params: Params): Float32Array {
  const flat = tidy(() => flattenParams(params, Object.keys(params)));
  const numbers = Float32Array.from(flat.dataSync());
  flat.dispose();
  return numbers;
}

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
  { config, context, form, connect }: ActorLearnerOptions,
): AgentParts<P> {
  const { policy } = learner;
  const { learningRate, entropyCoefficient, maxGradNorm } = config;
  const rate = schedule(config.learningRateSchedule);
  const { totalTimesteps, actionSpace } = context;
  let random: RandomStream;
  let flat: Float32Array;
  let held: SavedState;
  let own: SharedParameters | undefined;
  let server: ParameterServer;
  let steps: ActorSteps;
  const rateNow = () => learningRate * rate(server.steps / totalTimesteps);
  return {
    policy,
    init(stream) {
      random = stream;
      const params = policy.init(stream);
      flat = flatParams(params);
      held = { policy: partsOf(flat, params) };
      if (connect) server = connect(flat, config);
      else {
        own = SharedParameters.from(flat, { ...config, workers: 1 });
        server = own.connect(0);
      }
      return { policy: params };
    },
    experience: (runtime) =>
      steps = new ActorSteps(runtime, {
        config,
        form,
        server,
        own,
        finalEpsilon: drawEpsilon(config, random),
        rate: rateNow,
      }),
    renew() {
      if (!form.isOneStep && steps.length > 0) return undefined;
      return server.pull(flat, "params") ? held : undefined;
    },
    update: (state: AgentState, batch, numbers) =>
      tidy(() => {
        const params = state.policy;
        const { loss, aux, gradients } = valueAndGradients(
          learner.lossOf(params, batch, numbers),
          params,
        );
        const clipped = clipByGlobalNorm(gradients, maxGradNorm);
        const gradient = flattenParams(clipped.gradients, Object.keys(params));
        return {
          state: { policy: cloneParams(params) },
          stats: { loss, ...aux, grad_norm: clipped.norm },
          results: { gradient },
        };
      }),
    numbers: () => ({ learningRate: rateNow(), entropyCoefficient }),
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

/** Returns the parts of an array of all parameters by path, as an agent takes them. */
function partsOf(flat: Float32Array, params: Params): SavedState[string] {
  let offset = 0;
  const parts = Object.entries(params).map(([path, { shape, size }]) => {
    const data = flat.subarray(offset, offset += size);
    return [path, { data, shape }] as const;
  });
  return Object.fromEntries(parts);
}

/** Settings of {@link ActorSteps}. */
interface ActorStepsOptions
  extends Pick<ActorLearnerOptions, "config" | "form"> {
  readonly server: ParameterServer;
  /** Memory of the server, where it is this agent's alone. */
  readonly own: SharedParameters | undefined;
  readonly finalEpsilon: number;
  /** Learning rate of the next push. */
  readonly rate: () => number;
}

/** Steps of an actor-learner: windows that become gradients, which become pushes. */
class ActorSteps extends Windows implements Experience {
  readonly #options: ActorStepsOptions;
  readonly #target: Float32Array;
  /** Gradient since the last push. */
  readonly #gradient: Float32Array;
  #finalEpsilon: number;
  /** Gradients since the start. */
  #count = 0;

  constructor(runtime: AgentRuntime, options: ActorStepsOptions) {
    const { config: { gamma, maxSteps }, form, server: { size } } = options;
    super(runtime, {
      maxSteps: form.isOneStep ? 1 : maxSteps,
      gamma,
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

  /** Present exploration rate. */
  get epsilon(): number {
    const { server, config: { epsilonSteps } } = this.#options;
    const share = Math.min(server.steps / epsilonSteps, 1);
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
    const window = super.draw();
    if (!form.learnsQ) return window;
    server.pull(this.#target, "target");
    return { ...window, target: this.#target };
  }

  learned({ gradient }: Arrays): void {
    const { form, server, rate, config } = this.#options;
    const { hasEnded } = this;
    this.drop();
    this.#count++;
    if (!form.isOneStep) {
      server.push(gradient as Float32Array, rate());
      server.syncTarget();
      return;
    }
    const sum = this.#gradient;
    for (let i = 0; i < sum.length; i++) sum[i] += gradient[i];
    server.syncTarget();
    if (!hasEnded && this.#count % config.updateInterval !== 0) return;
    server.push(sum, rate());
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
