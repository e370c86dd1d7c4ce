import {
  type AlgorithmDefinition,
  checkRanges,
  defaultsOf,
  type WorkersAlgorithm,
  type WorkersRun,
} from "@bellman/agent";
import {
  disposeParams,
  paramTypes,
  RandomStream,
  selectEngine,
} from "@bellman/compute";
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
import { FlatParams } from "./actor_learner.ts";
import type { AsyncConfig } from "./config.ts";
import { asyncMethods, methodNamed } from "./methods.ts";
import { type ParameterMemory, SharedParameters } from "./parameter_server.ts";

/**
 * Options of {@link AsyncTraining}. By default there are 2 workers, which take 200,000
 * steps from the seed 0, on the backend `cpu` where the engine `auto` is eager; one is
 * replaced after 60 seconds without a step, and notices go to the console.
 */
export interface AsyncTrainingOptions
  extends Partial<Omit<WorkersRun<AsyncConfig>, "source" | "spaces">> {
  /** Source of the environments: an id, or a module that workers import. */
  readonly source: GroupSource;
  /** Spaces of one environment. */
  readonly spaces: WorkersRun["spaces"];
  /**
   * True to step each environment in a process of its own, where it may crash.
   *
   * @default false
   */
  readonly processes?: boolean;
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
  /** Parameters of evaluations. */
  readonly #params: FlatParams;
  readonly #types: ReturnType<typeof paramTypes>;

  private constructor(name: string, options: AsyncTrainingOptions) {
    const { workers = 2, seed = 0, totalTimesteps = 200_000 } = options;
    const { stepTimeoutMs = 60_000, spaces } = options;
    const { schema, title = name, check, build } = methodNamed(name);
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
    check?.(config, context);
    const source = checkSource(options.source);
    this.model = build(config, context).policy;
    const params = this.model.init(new RandomStream(seed).split("init"));
    this.#options = options;
    this.#types = paramTypes(params);
    this.#params = new FlatParams(params);
    disposeParams(params);
    this.#shared = SharedParameters.from(this.#params.flat, {
      ...config,
      workers,
    });
    this.#workers = new ActorLearners({
      ...run,
      method: name,
      config,
      seed,
      source,
      isInProcess: options.processes ?? false,
      // Loaded here too: it must not be unloaded with the last worker.
      engine: selectEngine(options.engine).name,
      backend: options.backend ?? "cpu",
    }, {
      shared: this.#shared,
      // deno-lint-ignore no-console -- notices go there by default
      onNotice: options.onNotice ?? ((line) => console.warn(line)),
    });
    this.env = stopsOf(this, config.stepsPerStop, spaces);
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
    const training = new AsyncTraining(name, options);
    if (options.isForEvaluation) return training;
    try {
      await training.#workers.start();
      return training;
    } catch (error) {
      training.close();
      throw error;
    }
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
    return new Int32Array(numEnvs);
  }

  /** Does nothing: the workers have learned from their steps. */
  observe(): void {}

  /** Returns means of the workers' last statistics. */
  update(): Statistics | undefined {
    return this.#workers.statistics;
  }

  /**
   * Makes an actor that keeps to the present parameters.
   *
   * @param options Deterministic or not, number of environments, seed.
   * @returns The actor.
   */
  policy(options: PolicyOptions = {}): Actor {
    const { engine, spaces: { actionSpace } } = this.#options;
    const params = structuredClone(this.#present());
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
    const { actionSpace } = this.#options.spaces;
    const params = this.#present();
    return exportPolicy(this.model, { ...options, params, actionSpace });
  }

  #present(): FlatParams["parts"] {
    this.#params.flat.set(this.#shared.memory.params);
    return this.#params.parts;
  }

  /** Saves the shared parameters, and each worker with its environment. */
  save(): StateTree {
    return { shared: this.#shared.save(), workers: this.#workers.save() };
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
    this.#shared.load(shared as ParameterMemory);
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
    startWorkers: (run) => AsyncTraining.start(method.name, run),
  }));

/** Makes the environment of a training: its steps have been taken by the workers. */
function stopsOf(
  training: AsyncTraining,
  numEnvs: number,
  spaces: AsyncTrainingOptions["spaces"],
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
    observationSpace: spaces.observationSpace,
    actionSpace: spaces.actionSpace,
    stackedFrames: spaces.stackedFrames,
    reset: () => observations,
    step: () => ({ ...step, episodes: training.episodes }),
    observations: () => observations,
    // The workers' environments are part of the algorithm's state.
    save: () => null,
    load: () => {},
    close: () => {},
  };
}
