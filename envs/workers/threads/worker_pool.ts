import type { StateTree } from "@bellman/types";
import type { GroupAnswer, GroupCommand } from "../group_hosts.ts";
import { HostFailure, startError, timed } from "../host_failure.ts";
import { type HostOptions, Restarts } from "../restarts.ts";
import { Spinner } from "./_worker_messages.ts";
import type { RemoteWorkers, WorkerHandle } from "./pooled_worker.ts";
import { endThreads, ThreadLauncher, WorkerThread } from "./worker_thread.ts";

/** Settings of a {@linkcode WorkerPool}. */
export interface WorkerPoolOptions extends HostOptions {
  /** Number of workers. */
  workers: number;
  /**
   * Returns the data that a worker is started with: data that can be cloned, or
   * shared memory.
   */
  data: (worker: number) => unknown;
  /**
   * Makes workers that are no threads, of which the pool has some. It gets a shared
   * word: with each event of theirs that is increased and notified.
   *
   * @default none
   */
  elsewhere?: (events: Int32Array) => RemoteWorkers;
}

/** A command that a worker carries out. */
interface Task {
  readonly timeoutMs: number;
  /** Time that it has left; it passes only while this thread waits. */
  leftMs: number;
  /** Heartbeats of the worker when it was last looked at. */
  heartbeats: number;
  /** Failures in a row before it, of a start. */
  readonly inRow?: number;
}

/**
 * Longest wait without a look at the heartbeats, in milliseconds. Should this process
 * be stopped meanwhile, no more than that passes for its workers.
 */
const LOOK_MS = 100;

/**
 * Workers that do what they want in separate threads, or elsewhere, until they are to
 * stand still. One that throws, ends, or gives neither an answer nor a heartbeat for
 * `stepTimeoutMs` is replaced, and the others continue meanwhile.
 *
 * @example
 * ```ts
 * import { WorkerPool } from "@bellman/envs/workers";
 * import { assertEquals } from "@std/assert";
 * import { pathToFileURL } from "node:url";
 *
 * const path = await Deno.makeTempFile({ suffix: ".js" });
 * await Deno.writeTextFile(
 *   path,
 *   `import { serveWorker } from "${import.meta.resolve("@bellman/envs/workers")}";
 *   export const main = () => serveWorker(({ from }) => {
 *     let steps = from;
 *     return {
 *       run({ type }) {
 *         if (type === "step") steps++;
 *         return type === "save" ? { snapshot: steps } : {};
 *       },
 *       close: () => {},
 *     };
 *   });`,
 * );
 * const pool = new WorkerPool(pathToFileURL(path).href, {
 *   workers: 2,
 *   data: (worker) => ({ from: 10 * worker }),
 * });
 * pool.step();
 * pool.step([1]);
 * assertEquals(pool.save(), [1, 12]);
 * pool.close();
 * ```
 */
export class WorkerPool {
  readonly #threads: ThreadLauncher;
  readonly #data: WorkerPoolOptions["data"];
  readonly #restarts: Restarts;
  readonly #workers: WorkerHandle[] = [];
  #elsewhere: RemoteWorkers | undefined;
  readonly #spinner = new Spinner();
  /** Commands that workers carry out. */
  readonly #tasks = new Map<number, Task>();

  /**
   * Starts the workers and waits until each has carried out its first command, `open`.
   *
   * @param module Absolute URL of the module that they run: its `main` calls
   * {@linkcode serveWorker}. It must have been imported here, too.
   * @param options Number of workers, their data, and handling of failures.
   * @throws {RangeError} If a number among the options cannot be used.
   * @throws {Error} What a worker threw in its start.
   */
  constructor(
    module: string,
    { workers, data, elsewhere, ...options }: WorkerPoolOptions,
  ) {
    if (!(Number.isSafeInteger(workers) && workers >= 1)) {
      throw new RangeError(
        `Cannot start ${workers} workers: expected a whole number of at least 1`,
      );
    }
    this.#threads = new ThreadLauncher(module);
    this.#data = data;
    this.#restarts = new Restarts(options);
    try {
      this.#elsewhere = elsewhere?.(this.#threads.events);
      for (let worker = 0; worker < workers; worker++) this.#start(worker, 0);
      while (this.#tasks.size > 0) {
        const worker = this.#waitForOne(), result = this.#finish(worker);
        if (!(result instanceof HostFailure)) continue;
        throw startError(nameOf(worker), result);
      }
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /**
   * Has workers take steps, each as many as it wants.
   *
   * @param workers Numbers of the workers, which are waited for where they start; by
   * default those that are there, at least one.
   * @returns Answers of those that did not fail.
   * @throws {Error} If a worker fails again and again.
   */
  step(workers: readonly number[] = this.#present()): GroupAnswer[] {
    // All of them first: to wait takes the answers of others.
    for (const worker of workers) this.#awaitFree(worker);
    for (const worker of workers) this.#begin(worker, { type: "step" });
    const left = new Set(workers), answers: GroupAnswer[] = [];
    while (left.size > 0) {
      const worker = this.#waitForOne(), answer = this.#replaceOrFinish(worker);
      if (left.delete(worker) && answer) answers.push(answer);
    }
    return answers;
  }

  /**
   * Saves the state of each worker; those that start are waited for.
   *
   * @returns The states, which later steps do not change.
   * @throws {Error} What a worker throws.
   */
  save(): StateTree[] {
    return this.#workers.map((_, worker) =>
      this.#ask(worker, { type: "save" }).snapshot!
    );
  }

  /**
   * Restores what {@linkcode WorkerPool.save} returned.
   *
   * @param states The states.
   * @throws {RangeError} If they are of another number of workers.
   * @throws {Error} What a worker throws.
   */
  load(states: readonly StateTree[]): void {
    const { length } = this.#workers;
    if (states.length !== length) {
      throw new RangeError(
        `Cannot restore ${length} workers from a snapshot of ${states.length}`,
      );
    }
    states.forEach((snapshot, worker) =>
      this.#ask(worker, { type: "load", snapshot })
    );
  }

  /** Ends the workers; what they were doing is lost. */
  close(): void {
    this.#restarts.broken ??= new TypeError(
      "Cannot use workers that were closed",
    );
    endThreads(this.#workers, this.#threads);
    this.#elsewhere?.close();
  }

  /** Has a worker carry out a command; one that dies over it is replaced and does it again. */
  #ask(worker: number, command: GroupCommand): GroupAnswer {
    for (;;) {
      this.#awaitFree(worker);
      this.#begin(worker, command);
      this.#until(() => this.#isDone(worker) || undefined);
      const result = this.#finish(worker);
      if (!(result instanceof HostFailure)) return result;
      if (result.reason === "error") throw result.toThrow();
      this.#restart(worker, result);
    }
  }

  /** Waits until a worker has no command. */
  #awaitFree(worker: number): void {
    this.#checkUsable();
    while (this.#tasks.has(worker)) this.#replaceOrFinish(this.#waitForOne());
  }

  #checkUsable(): void {
    if (this.#restarts.broken !== undefined) throw this.#restarts.broken;
  }

  /** Sends a command to a worker that has none. */
  #begin(worker: number, command: GroupCommand): void {
    this.#workers[worker].begin(command);
    this.#note(worker, { timeoutMs: this.#restarts.stepTimeoutMs });
  }

  #note(worker: number, task: Pick<Task, "timeoutMs" | "inRow">): void {
    const { heartbeats } = this.#workers[worker];
    this.#tasks.set(worker, { ...task, leftMs: task.timeoutMs, heartbeats });
  }

  /** Starts a worker, after so many in a row that failed. */
  #start(worker: number, inRow: number): void {
    this.#workers[worker]?.drop();
    const elsewhere = this.#elsewhere;
    this.#workers[worker] = elsewhere && worker >= elsewhere.first
      ? elsewhere.start(worker)
      : new WorkerThread(this.#threads, { data: this.#data(worker) });
    this.#note(worker, { timeoutMs: this.#restarts.startTimeoutMs, inRow });
  }

  #restart(worker: number, error: HostFailure, inRow = 0): void {
    this.#restarts.note(worker, { name: nameOf(worker), error, inRow });
    this.#start(worker, inRow);
  }

  /** Lists the workers that can be sent a command; where there are none, it waits for one. */
  #present(): number[] {
    return this.#until(() => {
      for (const worker of [...this.#tasks.keys()]) {
        if (this.#isDone(worker)) this.#replaceOrFinish(worker);
      }
      const all = [...this.#workers.keys()];
      const present = all.filter((worker) => !this.#tasks.has(worker));
      return present.length > 0 ? present : undefined;
    });
  }

  /** Ends the command of a worker; returns its answer, or replaces it. */
  #replaceOrFinish(worker: number): GroupAnswer | undefined {
    const { inRow } = this.#tasks.get(worker)!;
    const result = this.#finish(worker);
    if (!(result instanceof HostFailure)) return result;
    this.#restart(worker, result, inRow === undefined ? 0 : inRow + 1);
  }

  /** Ends the command of a worker that has answered, or is given up. */
  #finish(worker: number): GroupAnswer | HostFailure {
    const { timeoutMs } = this.#tasks.get(worker)!;
    this.#tasks.delete(worker);
    try {
      return this.#workers[worker].finish();
    } catch (error) {
      if (error instanceof HostFailure) return timed(error, timeoutMs);
      throw error;
    }
  }

  /** Waits until a worker has answered or ended, or was silent for too long. */
  #waitForOne(): number {
    return this.#until(() =>
      [...this.#tasks.keys()].find((worker) => this.#isDone(worker))
    );
  }

  #isDone(worker: number): boolean {
    const { leftMs } = this.#tasks.get(worker)!;
    return leftMs <= 0 || this.#workers[worker].isReady;
  }

  /** Waits for events of workers until something is found. */
  #until<T>(find: () => T | undefined): T {
    const { events } = this.#threads;
    for (;;) {
      this.#checkUsable();
      const value = Atomics.load(events, 0), since = performance.now();
      this.#elsewhere?.serve();
      const found = find();
      if (found !== undefined) return found;
      this.#spinner.wait(events, 0, { value, timeoutMs: LOOK_MS });
      this.#pass(Math.min(performance.now() - since, LOOK_MS));
    }
  }

  /** Takes time from the workers that have sent no heartbeat meanwhile. */
  #pass(ms: number): void {
    for (const [worker, task] of this.#tasks) {
      const { heartbeats } = this.#workers[worker];
      const isSilent = heartbeats === task.heartbeats;
      task.leftMs = isSilent ? task.leftMs - ms : task.timeoutMs;
      task.heartbeats = heartbeats;
    }
  }
}

function nameOf(worker: number): string {
  return `worker ${worker}`;
}
