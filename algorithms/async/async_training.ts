import {
  Agent,
  type Algorithm,
  checkSettings,
  type WorkersAlgorithm,
  type WorkersRun,
} from "@bellman/agent";
import {
  type ArrayWithShape,
  selectEngine,
  unravelArray,
} from "@bellman/compute";
import {
  type CheckedSource,
  checkSource,
  describeRestart,
  type GroupSource,
  type HostOptions,
  WorkerPool,
} from "@bellman/envs/workers";
import type { RayOptions } from "@bellman/envs/ray";
import type {
  Actor,
  EpisodeStatistics,
  PolicyExport,
  PolicyOptions,
  StateTree,
  Statistics,
  StepsTaken,
} from "@bellman/types";
import type { AsyncConfig } from "./config.ts";
import { type AsyncMethod, asyncMethods, methodNamed } from "./methods.ts";
import { type ParameterServer, SharedParameters } from "./parameter_server.ts";
import { serveParameters } from "./_serve_parameters.ts";
import type { ThreadSettings, WorkerSettings } from "./worker.ts";
import "./worker.ts";

/**
 * Options of {@link AsyncTraining}. By default there are 2 workers, which take 200,000
 * steps with the seed 0, on the backend `cpu` if the engine `auto` is eager; one is
 * replaced after 60 seconds without a step, and notices go to the console.
 */
export interface AsyncTrainingOptions
  extends
    Partial<Omit<WorkersRun<AsyncConfig>, "source" | "spaces" | "cluster">>,
    Pick<HostOptions, "restarts"> {
  /** Source of the environments: an id, or a module for the workers to import. */
  readonly source: GroupSource;
  /** Spaces of one environment. */
  readonly spaces: WorkersRun["spaces"];
  /**
   * Cluster whose nodes run the workers; those of `localWorkers` are threads here.
   *
   * @default none: all are threads
   */
  readonly cluster?: RayOptions & Pick<HostOptions, "startTimeoutMs">;
}

/** Ray module, loaded only with a cluster. */
type Ray = typeof import("@bellman/envs/ray");

/** Limits of the number of workers; no machine can use more than 1024. */
const RUN = {
  properties: { workers: { type: "integer", minimum: 1, maximum: 1024 } },
};

/**
 * Asynchronous training: each worker acts and learns in its own environment, on
 * parameters in shared memory. `train` needs no environment: it lets the workers take
 * `stepsPerStop` steps at a time.
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
 * const { step } = await train(algorithm, undefined, { totalTimesteps: 2000 });
 * assertEquals([step, algorithm.steps], [2000, 2000]);
 * algorithm.close();
 * ```
 */
export class AsyncTraining implements WorkersAlgorithm {
  /** Steps per second of each worker before the last stop. */
  readonly workerRates: number[];
  /** Agent for evaluations, with the shared parameters. */
  readonly #agent: Agent<AsyncConfig>;
  readonly #method: AsyncMethod;
  #shared!: SharedParameters;
  #server!: ParameterServer;
  /** Parameters at the last pull. */
  #latest!: Float32Array;
  /** The same parameters by path, as the agent loads them. */
  readonly #policy: Record<string, ArrayWithShape>;
  #workers: WorkerPool | undefined;

  private constructor(
    name: string,
    source: CheckedSource,
    options: AsyncTrainingOptions,
    ray: Ray | undefined,
  ) {
    const { workers: count = 2, seed = 0, totalTimesteps = 200_000 } = options;
    const { observationSpace, actionSpace, stackedFrames, actionMasks } =
      options.spaces;
    const spaces = {
      observationSpace,
      actionSpace,
      stackedFrames,
      actionMasks,
      // Read at each call, as it may change.
      get observationScaling() {
        return options.spaces.observationScaling;
      },
      numEnvs: 1,
    };
    this.#method = methodNamed(name);
    const { meta: { title = name }, with: define } = this.#method;
    checkSettings({ workers: count }, { of: title, schema: RUN });
    const { localWorkers = 0 } = options.config ?? {};
    const workers = count + localWorkers;
    if (localWorkers > 0 && !ray && !options.isForEvaluation) {
      throw new TypeError(
        `Cannot run ${title} with localWorkers = ${localWorkers} without a cluster: expected 0, as all workers are threads here`,
      );
    }
    const definition = define((params, config) => {
      this.#shared = SharedParameters.from(params, { ...config, workers });
      this.#latest = params.slice();
      return this.#server = this.#shared.connect(0);
    });
    const { config, engine } = options;
    // deno-lint-ignore no-console -- default target of notices
    const { onNotice = (line: string) => console.warn(line) } = options;
    this.#agent = new Agent<AsyncConfig>(definition, spaces, {
      ...{ config, seed, totalTimesteps, engine, onNotice },
    });
    this.#policy = unravelArray(this.#latest, this.#agent.params);
    this.workerRates = Array(workers).fill(0);
    if (options.isForEvaluation) return;
    const settings: Omit<WorkerSettings, "worker"> = {
      method: this.#method.meta.name,
      config: this.#agent.config,
      source,
      workers,
      seed,
      totalTimesteps,
      backend: options.backend ?? "cpu",
      // Loaded here too: it must not be unloaded with the last worker.
      engine: selectEngine(options.engine).name,
    };
    const { stepTimeoutMs, restarts, cluster } = options;
    const shared = this.#shared, { memory } = shared;
    const module = import.meta.resolve("./worker.ts");
    const elsewhere = ray &&
      ((events: Int32Array) =>
        new ray.RayWorkers(module, {
          onNotice,
          ...cluster!,
          first: localWorkers,
          count,
          data: { ...settings, size: memory.params.length },
          own: (worker) => ({ worker, start: shared.start(worker) }),
          service: serveParameters(shared),
        }, events));
    try {
      this.#workers = new WorkerPool(module, {
        workers,
        data: (worker): ThreadSettings => ({ ...settings, worker, memory }),
        elsewhere,
        startTimeoutMs: cluster?.startTimeoutMs,
        stepTimeoutMs,
        restarts,
        onRestart: (event) => onNotice(describeRestart(event)),
      });
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /**
   * Starts the workers, and waits until each has made its environment and compiled its
   * program.
   *
   * @param name Name of the method: `a3c`, `async-q`, `async-nstep-q`, `async-sarsa`.
   * @param options Environments, workers, settings.
   * @returns The training, before its first step.
   * @throws {RangeError} If a number in options or settings is out of its range.
   * @throws {TypeError} If the method cannot use a space, the source cannot be sent, or
   * the cluster cannot be reached.
   * @throws {Error} If an environment cannot be made in a worker.
   */
  static async start(
    name: string,
    options: AsyncTrainingOptions,
  ): Promise<AsyncTraining> {
    const source = checkSource(options.source);
    // This thread blocks while workers run: their downloads must be done here before.
    if ("module" in source && !options.isForEvaluation) {
      await import(source.module);
    }
    const isElsewhere = options.cluster && !options.isForEvaluation;
    const ray = isElsewhere ? await import("@bellman/envs/ray") : undefined;
    return new AsyncTraining(name, source, options, ray);
  }

  /** Steps of all workers so far. */
  get steps(): number {
    return this.#shared.steps;
  }

  /**
   * Runs the workers for some steps together, then pauses them.
   *
   * @param steps Number of steps; by default `stepsPerStop`.
   * @returns That number of steps, and the episodes that ended.
   */
  advance(steps: number = this.#agent.config.stepsPerStop): StepsTaken {
    const shared = this.#shared, workers = this.#workers!;
    const limit = shared.steps + steps, all: EpisodeStatistics[] = [];
    const taken = shared.taken.fill(0), start = performance.now();
    const isFixed = this.#agent.config.workerOrder === "fixed";
    // Replaced workers may have left steps to the others.
    while (shared.steps < limit) {
      const next = isFixed ? [shared.steps % taken.length] : undefined;
      shared.allow(isFixed ? 1 : limit - shared.steps);
      for (const { episodes } of workers.step(next)) all.push(...episodes!);
    }
    const seconds = (performance.now() - start) / 1000;
    this.#pull();
    taken.forEach((steps, worker) =>
      this.workerRates[worker] = steps / seconds
    );
    return { steps, episodes: all };
  }

  /** Copies the shared parameters to the agent for evaluations. */
  #pull(): void {
    if (!this.#server.pull(this.#latest, "params")) return;
    this.#agent.loadWeights({ learned: { policy: this.#policy } });
  }

  /** Returns the mean of the workers' last statistics. */
  update(): Statistics | undefined {
    const means = this.#shared.statistics;
    return means &&
      Object.fromEntries(
        this.#method.statisticNames.map((name, i) => [name, means[i]]),
      );
  }

  /**
   * Returns an actor whose parameters are updated at each stop.
   *
   * @param options Deterministic or not, number of environments, seed.
   * @returns The actor.
   */
  policy(options: PolicyOptions = {}): Actor {
    return this.#agent.policy(options);
  }

  /**
   * Exports the current policy as an ONNX file.
   *
   * @param options Scaling, size of the batch, deterministic or not.
   * @returns The bytes of the file.
   */
  exportPolicy(options: PolicyExport = {}): Uint8Array<ArrayBuffer> {
    return this.#agent.exportPolicy(options);
  }

  /** Saves the shared parameters, and each worker with its environment. */
  save(): StateTree {
    return {
      shared: this.#shared.save(),
      workers: this.#workers?.save() ?? null,
    };
  }

  /**
   * Restores a saved state.
   *
   * @param state Result of {@link save}; copied.
   * @throws {RangeError} If its number of workers or sizes differ.
   */
  load(state: StateTree): void {
    const { shared, workers } = state as Record<string, StateTree>;
    this.#workers?.load(workers as StateTree[]);
    this.#shared.load(shared);
    this.#pull();
  }

  /** Ends the workers. */
  close(): void {
    this.#workers?.close();
    this.#agent.close();
  }
}

/** Asynchronous methods with workers, for the command line. */
export const asyncAlgorithms: readonly Algorithm<AsyncConfig>[] = asyncMethods
  .map((method) => ({
    ...method,
    startWorkers: (run) => AsyncTraining.start(method.meta.name, run),
  }));
