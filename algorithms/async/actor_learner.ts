import {
  type BuildContext,
  type NStepBatch,
  NStepRollout,
  type Parts,
  type PolicyStep,
  randomActions,
  type Sample,
  type Tensors,
  type Update,
} from "@bellman/agent";
import {
  addPrefix,
  clipByGlobalNorm,
  cloneParams,
  mapParams,
  type Params,
  pickPrefix,
  type RandomStream,
  ravel,
  type TensorData,
  type TensorType,
  tidy,
  unravelArray,
  valueAndGradients,
} from "@bellman/compute";
import { loadAtomically } from "@bellman/files";
import type { Policy } from "@bellman/policies";
import { schedule } from "@bellman/schedulers";
import type { StateTree } from "@bellman/types";
import * as tf from "@tensorflow/tfjs";
import type { AsyncConfig } from "./config.ts";
import type { Learner } from "./losses.ts";
import { type ParameterServer, SharedParameters } from "./parameter_server.ts";

/** Form of a method: windows and pushes. */
export interface MethodForm {
  /**
   * True for one-step methods: parameters are pulled before each action, gradients
   * accumulate over `updateInterval` steps, and the target network is updated first.
   */
  readonly isOneStep: boolean;
  /** True for Sarsa, which bootstraps from the next action taken. */
  readonly takesNextAction?: boolean;
  /** True for Q-learning methods, with a target network and epsilon-greedy exploration. */
  readonly learnsQ: boolean;
}

/** Options of {@link actorLearner}. */
export interface ActorLearnerOptions {
  /** All settings. */
  readonly config: AsyncConfig;
  /** Spaces, length of the run, random stream of the initial parameters. */
  readonly context: BuildContext;
  /** Windows and pushes. */
  readonly form: MethodForm;
  /**
   * Parameter server to learn with.
   *
   * @default a server of its own: the sequential form
   */
  readonly connect?: ServerConnection;
}

/**
 * Returns the parameter server of an agent; the first call creates it from the initial
 * parameters.
 */
export type ServerConnection = (
  params: Float32Array,
  config: AsyncConfig,
) => ParameterServer;

/**
 * Makes the parts of an actor-learner: an agent that acts with a copy of the shared
 * parameters, computes gradients of rollout windows, and pushes them to the server.
 *
 * @param learner Policy and gradient.
 * @param options Settings, form of the method, server.
 * @returns The parts of an agent in one environment.
 *
 * @example
 * ```ts
 * import { Agent, type Algorithm } from "@bellman/agent";
 * import { actorLearner, type AsyncConfig, asyncQ, qLearner } from "@bellman/async";
 * import { selectBackend } from "@bellman/compute";
 * import { makeVec } from "@bellman/envs";
 * import { qPolicy } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * await selectBackend("cpu");
 * // One-step Q-learning with a custom network.
 * const mine: Algorithm<AsyncConfig> = {
 *   ...asyncQ,
 *   build: (config, context) =>
 *     actorLearner(qLearner(qPolicy({ ...context, networkOptions: { hiddenSizes: [8] } })), {
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
): Parts<P> {
  const { policy } = learner, { actionSpace, random, totalTimesteps } = context;
  const params = policy.init(random);
  const flat = tidy(() => Float32Array.from(ravel(params).dataSync()));
  const held = { policy: unravelArray(flat, params) };
  const own = connect === undefined
    ? SharedParameters.from(flat, { ...config, workers: 1 })
    : undefined;
  const server = own?.connect(0) ?? connect!(flat, config);
  const progress: ActorProgress = {
    finalEpsilon: drawEpsilon(config, random),
    gradients: 0,
    pending: 0,
    hasEnded: false,
  };
  const share = schedule(config.learningRateSchedule);
  const rate = () => config.learningRate * share(server.steps / totalTimesteps);
  const epsilon = () => {
    const share = Math.min(server.steps / config.epsilonSteps, 1);
    return 1 + share * (progress.finalEpsilon - 1);
  };
  const learn = (pushes: boolean): Update => (state, batch, inputs) =>
    tidy(() => {
      const { policy: params, sum } = state,
        target = pickPrefix(batch, "target");
      const window = { ...batch as NStepBatch & Tensors, target };
      const { loss, aux, gradients } = valueAndGradients(
        learner.lossOf(params, window, inputs as Numbers),
        params,
      );
      const clipped = clipByGlobalNorm(gradients, config.maxGradNorm);
      const add = (it: tf.Tensor, path: string) =>
        sum ? tf.add(sum[path], it) : it;
      const gradient = mapParams(clipped.gradients, add);
      const left = pushes ? mapParams(params, tf.zerosLike) : gradient;
      const flatGradient = ravel(gradient, Object.keys(params));
      return {
        state: { policy: cloneParams(params), ...(sum && { sum: left }) },
        stats: { loss, ...aux, grad_norm: clipped.norm },
        ...(pushes && { results: { gradient: flatGradient } }),
      };
    });
  const accumulate = learn(false), push = learn(true);
  const memory = new ActorSteps(context, policy, {
    ...{ config, form, server, own, progress, epsilon },
    target: unravelArray(flat.slice(), params),
  });
  const isPushDue = () =>
    !form.isOneStep || progress.hasEnded ||
    (progress.gradients + 1) % config.updateInterval === 0;
  const learnsDiscrete = form.learnsQ && actionSpace.type === "discrete";
  const greedy = learnsDiscrete
    ? randomActions(context, { steps: 0, epsilon })
    : undefined;
  return {
    policy,
    state: {
      policy: params,
      ...(form.isOneStep && { sum: mapParams(params, tf.zerosLike) }),
    },
    memory,
    inputs: () => ({
      learningRate: rate(),
      ...(!form.learnsQ && { entropyCoefficient: config.entropyCoefficient }),
    }),
    learn: () => isPushDue() ? push : accumulate,
    explore: {
      act(exploration) {
        const isWithinWindow = !form.isOneStep && progress.pending > 0;
        if (!isWithinWindow && server.pull(flat, "params")) {
          exploration.write?.(held);
        }
        return greedy?.act(exploration) ?? exploration.sample();
      },
    },
    afterUpdate({ results: { gradient } }) {
      memory.note();
      progress.gradients++;
      if (form.isOneStep) server.syncTarget();
      if (gradient) server.push(gradient as Float32Array, rate());
      if (!form.isOneStep) server.syncTarget();
      // If other workers learn too, parameters are pulled when the next window begins.
      const isNext = own !== undefined && memory.ready() === 0;
      return isNext && server.pull(flat, "params") ? held : undefined;
    },
    ...(learnsDiscrete && {
      qFunction: {
        part: "policy",
        estimate: (params: Params, observations: tf.Tensor) =>
          policy.apply(params, observations).policy,
      },
    }),
  };
}

type Numbers = Readonly<Record<string, tf.Scalar>>;

/** Samples the final exploration rate of a worker. */
function drawEpsilon(
  { finalEpsilons, finalEpsilonProbabilities }: AsyncConfig,
  random: RandomStream,
): number {
  let left = random.split("epsilon").uniform();
  const at = finalEpsilonProbabilities.findIndex((p) => (left -= p) < 0);
  return finalEpsilons.at(at)!;
}

/** Progress of an actor-learner. */
interface ActorProgress {
  /** Final exploration rate. */
  finalEpsilon: number;
  /** Number of gradients so far. */
  gradients: number;
  /** Steps not yet learned from. */
  pending: number;
  /** True if the next window ended an episode. */
  hasEnded: boolean;
}

/** Settings of {@link ActorSteps}. */
interface ActorStepsOptions
  extends Pick<ActorLearnerOptions, "config" | "form"> {
  readonly server: ParameterServer;
  /** Shared memory of the server, if no other agent uses it. */
  readonly own: SharedParameters | undefined;
  readonly progress: ActorProgress;
  /** Current exploration rate. */
  readonly epsilon: () => number;
  /** Views of the target network's memory. */
  readonly target: ReturnType<typeof unravelArray>;
}

/** Rollout windows of an actor-learner, with the target network to learn each by. */
class ActorSteps extends NStepRollout {
  readonly #options: ActorStepsOptions;
  readonly #target: Float32Array;
  /** Parts of the target network by name in the batch. */
  readonly #targetParts: Record<string, TensorData> = {};

  constructor(
    context: BuildContext,
    policy: Policy,
    options: ActorStepsOptions,
  ) {
    const { config, form, target } = options;
    super(context, policy, {
      maxSteps: form.isOneStep ? 1 : config.maxSteps,
      gamma: config.gamma,
      takesNextAction: form.takesNextAction,
    });
    this.#options = options;
    this.#target = new Float32Array(Object.values(target)[0].data.buffer);
    const parts = form.learnsQ ? addPrefix(target, "target") : {};
    const types: Record<string, TensorType> = {};
    for (const path in parts) {
      const { data, shape } = parts[path];
      this.#targetParts[path] = data;
      types[path] = { shape, dtype: "float32" };
    }
    this.batch = { ...this.batch, ...types };
  }

  override add(step: PolicyStep): void {
    super.add(step);
    this.#options.server.step();
    this.note();
  }

  override endEpisodes(): void {
    super.endEpisodes();
    this.note();
  }

  /** Records the progress at the start of the next window. */
  note(): void {
    const { progress } = this.#options;
    progress.pending = this.length;
    progress.hasEnded = this.hasEnded;
  }

  override sample(): Sample {
    const { form, server, epsilon } = this.#options;
    if (form.learnsQ) server.pull(this.#target, "target");
    const batch = { ...super.sample().batch, ...this.#targetParts };
    return { batch, stats: form.learnsQ ? { epsilon: epsilon() } : {} };
  }

  override save(): StateTree {
    const { finalEpsilon, gradients } = this.#options.progress;
    return {
      window: super.save(),
      finalEpsilon,
      count: gradients,
      own: this.#options.own?.save() ?? null,
    };
  }

  override load(state: StateTree): void {
    const { progress, own } = this.#options;
    const { window, finalEpsilon, count, ...saved } = state as Record<
      string,
      StateTree
    >;
    if (typeof finalEpsilon !== "number" || typeof count !== "number") {
      throw new TypeError(
        `Cannot restore a worker with finalEpsilon ${finalEpsilon} and ${count} gradients: expected numbers`,
      );
    }
    loadAtomically({ window, shared: saved.own }, {
      save: () => ({ window: super.save(), shared: own?.save() ?? null }),
      load: ({ window, shared }) => {
        super.load(window);
        own?.load(shared);
      },
    });
    progress.finalEpsilon = finalEpsilon;
    progress.gradients = count;
    this.note();
  }
}
