import {
  type AgentSpaces,
  type AlgorithmDefinition,
  checkRanges,
  defaultsOf,
  type WorkersAlgorithm,
} from "@bellman/agent";
import {
  type BackendName,
  disposeParams,
  type Engine,
  type Params,
  paramTypes,
  RandomStream,
  selectEngine,
} from "@bellman/compute";
import { deriveSeed } from "@bellman/envs";
import { checkSource, type GroupSource } from "@bellman/envs/workers";
import { exportPolicy, type Policy, PolicyActor } from "@bellman/policies";
import type {
  Actor,
  Batch,
  EpisodeStatistics,
  PolicyExport,
  PolicyOptions,
  StateTree,
  Statistics,
  VecEnv,
  VecStep,
} from "@bellman/types";
import { ActorLearners } from "./actor_learners.ts";
import { flatParams, sharedOptions } from "./actor_learner.ts";
import type { AsyncConfig } from "./config.ts";
import { asyncMethods } from "./methods.ts";
import { type ParameterState, SharedParameters } from "./parameter_server.ts";

/** Options of {@link AsyncTraining}. */
export interface AsyncTrainingOptions {
  /** Source of the environments: an id, or a module that workers import. */
  readonly source: GroupSource;
  /** Spaces of one environment. */
  readonly spaces: Pick<
    AgentSpaces,
    "observationSpace" | "actionSpace" | "stackedFrames"
  >;
  /**
   * Workers that learn, each in an environment of its own.
   *
   * @default 2
   */
  readonly workers?: number;
  /**
   * True to step each environment in a process of its own, where it may crash.
   *
   * @default false
   */
  readonly processes?: boolean;
  /**
   * Settings that differ from the defaults.
   *
   * @default {}
   */
  readonly config?: Partial<AsyncConfig>;
  /**
   * Root of the random streams.
   *
   * @default 0
   */
  readonly seed?: number;
  /**
   * Steps of all workers in the whole run: the length of schedules.
   *
   * @default 200000
   */
  readonly totalTimesteps?: number;
  /**
   * Milliseconds without a step after which a worker is replaced.
   *
   * @default 60000
   */
  readonly stepTimeoutMs?: number;
  /**
   * Engine of acting and learning.
   *
   * @default "auto"
   */
  readonly engine?: Engine;
  /**
   * Backend of the eager engine in the workers.
   *
   * @default "cpu"
   */
  readonly backend?: BackendName;
  /**
   * Takes a line about a worker that was replaced.
   *
   * @default console.warn
   */
  readonly onNotice?: (line: string) => void;
}

/** More than any machine has use for: each has a thread and a compiled program. */
const MAX_WORKERS = 1024;

/** Ranges of what is no setting of the method. */
const RUN = {
  properties: {
    workers: { type: "integer", minimum: 1, maximum: MAX_WORKERS },
    totalTimesteps: { type: "integer", minimum: 1 },
    stepTimeoutMs: { type: "number", exclusiveMinimum: 0 },
  },
};

/**
 * Asynchronous training: workers act and learn, each in its environment, on
 * parameters in shared memory. For the training loop it is an algorithm with an
 * environment, `env`, of which one step is `stepsPerStop` steps of the workers.
 *
 * @example
 * ```ts
 * import { AsyncTraining } from "@bellman/async";
 * import { selectBackend } from "@bellman/compute";
 * import { makeVec } from "@bellman/envs";
 * import { train } from "@bellman/training";
 * import { assertEquals } from "@std/assert";
 *
 * await selectBackend("cpu");
 * const algorithm = await AsyncTraining.start("a3c", {
 *   source: "CartPole-v1",
 *   spaces: makeVec("CartPole-v1", { numEnvs: 1 }),
 *   workers: 2,
 *   totalTimesteps: 2000,
 * });
 * const { step } = await train(algorithm, algorithm.env, { totalTimesteps: 2000 });
 * assertEquals([step, algorithm.steps], [2000, 2000]);
 * algorithm.close();
 * ```
 */
export class AsyncTraining implements WorkersAlgorithm {
  /** Environment that the training loop steps: the workers' steps, as one batch. */
  readonly env: VecEnv;
  /** Policy that acts. */
  readonly model: Policy;
  readonly #options: AsyncTrainingOptions;
  readonly #shared: SharedParameters;
  readonly #workers: ActorLearners;
  /** Parameters of evaluations, in one array and by path. */
  readonly #flat: Float32Array;
  readonly #params: Record<string, { data: Float32Array; shape: number[] }>;
  readonly #types: ReturnType<typeof paramTypes>;
  #statistics: Statistics | undefined;

  private constructor(
    options: AsyncTrainingOptions,
    { model, params, shared, workers, stepsPerStop }: {
      model: Policy;
      params: Params;
      shared: SharedParameters;
      workers: ActorLearners;
      stepsPerStop: number;
    },
  ) {
    this.model = model;
    this.#options = options;
    this.#shared = shared;
    this.#workers = workers;
    this.#types = paramTypes(params);
    this.#flat = flatParams(params);
    let offset = 0;
    const parts = Object.entries(params).map(([path, { shape, size }]) => {
      const data = this.#flat.subarray(offset, offset += size);
      return [path, { data, shape }];
    });
    this.#params = Object.fromEntries(parts);
    this.env = stopsOf(this, stepsPerStop, options.spaces);
  }

  /**
   * Starts the workers, and waits until each has made its environment and compiled
   * its program.
   *
   * @param name Name of the method: `a3c`, `async-q`, `async-nstep-q`, `async-sarsa`.
   * @param options Environments, workers, settings.
   * @returns The training, before its first step.
   * @throws {RangeError} If a number among the options or settings is out of its range.
   * @throws {TypeError} If the method cannot use a space, or the source cannot be sent.
   * @throws {Error} What making an environment in a worker threw.
   */
  static async start(
    name: string,
    options: AsyncTrainingOptions,
  ): Promise<AsyncTraining> {
    const training = AsyncTraining.open(name, options);
    try {
      await training.#workers.start();
      return training;
    } catch (error) {
      training.close();
      throw error;
    }
  }

  /**
   * Makes a training without workers, which restores a state and acts by it.
   *
   * @param name Name of the method.
   * @param options Those of the training.
   * @returns The training.
   * @throws {RangeError} If a number among the options or settings is out of its range.
   * @throws {TypeError} If the method cannot use a space, or the source cannot be sent.
   */
  static open(name: string, options: AsyncTrainingOptions): AsyncTraining {
    const { workers = 2, seed = 0, totalTimesteps = 200_000 } = options;
    const { stepTimeoutMs = 60_000, spaces } = options;
    const method = asyncMethods.find((it) => it.name === name);
    if (method === undefined) {
      throw new RangeError(
        `Unknown asynchronous method '${name}': expected ${
          asyncMethods.map(({ name }) => name).join(", ")
        }`,
      );
    }
    const { schema, title = name } = method;
    const run = { workers, totalTimesteps, stepTimeoutMs };
    const config = { ...defaultsOf<AsyncConfig>(schema), ...options.config };
    checkRanges(run, { of: title, schema: RUN });
    checkRanges(config, { of: title, schema });
    const { observationSpace, actionSpace } = spaces;
    const context = {
      observationSpace,
      actionSpace,
      numEnvs: 1,
      totalTimesteps,
    };
    method.check?.(config, context);
    const source = checkSource(options.source);
    const { policy } = method.build(config, context);
    const params = policy.init(new RandomStream(seed).split("init"));
    const shared = SharedParameters.from(
      flatParams(params),
      sharedOptions(config, workers),
    );
    const fleet = new ActorLearners({
      workers,
      shared,
      stepTimeoutMs,
      // deno-lint-ignore no-console -- notices go there by default
      onNotice: options.onNotice ?? ((line) => console.warn(line)),
      data: {
        method: name,
        config,
        totalTimesteps,
        source,
        stepTimeoutMs,
        isDeterministic: config.workerOrder === "fixed",
        isInProcess: options.processes ?? false,
        // Loaded here too: it must not be unloaded with the last worker.
        engine: selectEngine(options.engine).name,
        backend: options.backend ?? "cpu",
      },
      seedOf: (worker, restarts) =>
        deriveSeed(deriveSeed(seed, worker), restarts),
    });
    const training = new AsyncTraining(options, {
      model: policy,
      params,
      shared,
      workers: fleet,
      stepsPerStop: config.stepsPerStop,
    });
    disposeParams(params);
    return training;
  }

  /** Steps of all workers so far. */
  get steps(): number {
    return this.#shared.steps;
  }

  /** Steps a second of each worker before the last stop. */
  get workerRates(): readonly number[] {
    return this.#workers.rates;
  }

  /** Episodes that ended before the last stop. */
  get episodes(): readonly EpisodeStatistics[] {
    return this.#workers.episodes;
  }

  /**
   * Lets the workers take `stepsPerStop` steps.
   *
   * @returns Actions that stand for theirs.
   */
  async act(): Promise<Batch> {
    const { numEnvs } = this.env;
    await this.#workers.advance(numEnvs);
    this.#statistics = this.#workers.statistics;
    return new Int32Array(numEnvs);
  }

  /** Does nothing: the workers have learned from their steps. */
  observe(): void {}

  /** Returns means of the workers' last statistics. */
  update(): Statistics | undefined {
    return this.#statistics;
  }

  /**
   * Makes an actor that keeps to the present parameters.
   *
   * @param options Deterministic or not, number of environments, seed.
   * @returns The actor.
   */
  policy(options: PolicyOptions = {}): Actor {
    const { engine, spaces: { actionSpace } } = this.#options;
    this.#flat.set(this.#shared.memory.params);
    const params = Object.fromEntries(
      Object.entries(this.#params)
        .map((
          [path, { data, shape }],
        ) => [path, { data: data.slice(), shape }]),
    );
    return new PolicyActor(this.model, {
      numEnvs: 1,
      ...options,
      actionSpace,
      params: () => params,
      compilation: { params: this.#types, engine },
    });
  }

  /**
   * Writes the present policy as an ONNX file.
   *
   * @param options Scaling, size of the batch, deterministic or not.
   * @returns The bytes of the file.
   */
  exportPolicy(options: PolicyExport = {}): Uint8Array<ArrayBuffer> {
    this.#flat.set(this.#shared.memory.params);
    const { actionSpace } = this.#options.spaces;
    return exportPolicy(this.model, {
      ...options,
      params: this.#params,
      actionSpace,
    });
  }

  /** Saves the shared parameters, and each worker with its environment. */
  save(): StateTree {
    return {
      shared: this.#shared.save(),
      workers: this.#workers.save(),
    };
  }

  /**
   * Restores what {@link save} gave.
   *
   * @param state The state; copied.
   * @throws {RangeError} If it is of other workers or sizes.
   */
  load(state: StateTree): void {
    const { shared, workers } = state as Record<string, StateTree>;
    this.#workers.check(workers);
    this.#shared.load(shared as ParameterState);
    this.#workers.load(workers);
  }

  /** Ends the workers. */
  close(): void {
    this.#workers.close();
  }
}

/** The asynchronous methods as the command line knows them: with their workers. */
export const asyncAlgorithms: readonly AlgorithmDefinition<AsyncConfig>[] =
  asyncMethods.map((method) => ({
    ...method,
    startWorkers: ({ isForEvaluation, ...run }) =>
      isForEvaluation
        ? AsyncTraining.open(method.name, run)
        : AsyncTraining.start(method.name, run),
  }));

/** Makes the environment of a training: its steps have been taken by the workers. */
function stopsOf(
  training: AsyncTraining,
  numEnvs: number,
  { observationSpace, actionSpace, stackedFrames }:
    AsyncTrainingOptions["spaces"],
): VecEnv {
  // The training loop only looks at their number.
  const observations = new Uint8Array(numEnvs);
  const step: VecStep = {
    observations,
    finalObservations: observations,
    rewards: new Float64Array(numEnvs),
    terminated: new Uint8Array(numEnvs),
    truncated: new Uint8Array(numEnvs),
  };
  return {
    numEnvs,
    observationSpace,
    actionSpace,
    stackedFrames,
    reset: () => observations,
    step: () => ({ ...step, episodes: training.episodes }),
    observations: () => observations,
    // The workers' environments are part of the algorithm's state.
    save: () => null,
    load: () => {},
    close: () => {},
  };
}
