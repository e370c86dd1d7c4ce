import type {
  Awaitable,
  PolicyExport,
  StateTree,
  Trainable,
  VecEnv,
} from "@bellman/types";
import type { Callback, TrainResult } from "../callbacks.ts";
import { train } from "../train.ts";
import type { TrainOptions } from "../train_options.ts";
import { MemoryStore } from "./memory_store.ts";
import {
  type Calls,
  type CheckpointBytes,
  connect,
  parentOf,
  PROGRESS,
  type WorkerMessage,
  type WorkerProgress,
  type WorkerRequest,
} from "./messages.ts";

/** Run that a worker is to make agent and environment for. */
export interface ExposedRun {
  /** Environment steps of the whole run. */
  readonly totalTimesteps: number;
  /** True where the run has ended, and goes on by `trainOn`. */
  readonly isContinued: boolean;
}

/** What a worker trains, and what it answers. */
export interface ExposedTraining {
  /** Agent to train. */
  readonly algorithm: Trainable;
  /** Training environment. */
  readonly env: VecEnv;
  /**
   * Options of `train`, but those that the page decides.
   *
   * @default {}
   */
  readonly options?: Omit<
    TrainOptions,
    "totalTimesteps" | "signal" | "checkpoints" | "resumeFrom"
  >;
  /**
   * Options of the exported policy, such as its metadata.
   *
   * @default {}
   */
  readonly policyOptions?: PolicyExport;
  /**
   * Functions that the page calls by name: of plain data, to plain data.
   *
   * @default {}
   */
  readonly calls?: Calls;
}

/**
 * Makes agent and environment.
 *
 * @typeParam Settings Plain data of the page.
 */
export type StartTraining<Settings> = (
  settings: Settings,
  run: ExposedRun,
) => Awaitable<ExposedTraining>;

/**
 * Lets the page that started this worker train in it, by {@link trainInWorker}.
 *
 * @typeParam Settings Plain data of the page.
 * @param start Makes agent and environment, also anew where a run goes on after its end.
 * @throws {Error} If this module does not run in a worker.
 *
 * @example
 * ```ts
 * import { exposeTraining } from "@bellman/training/worker";
 * import { assertThrows } from "@std/assert";
 *
 * // Here is no page that could ask: see trainInWorker for one.
 * const start = () => Promise.reject(new Error("not called"));
 * assertThrows(() => exposeTraining(start), Error, "not a worker");
 * ```
 */
export function exposeTraining<Settings>(start: StartTraining<Settings>): void {
  const parent = parentOf();
  if (parent === undefined) {
    throw new Error(
      "Cannot expose a training: this is not a worker, expected a module that trainInWorker starts",
    );
  }
  const answer = async ({ id, name, args }: WorkerRequest) => {
    try {
      const asked = host[name] as (...args: unknown[]) => unknown;
      post({ type: "answer", id, value: await asked.apply(host, [...args]) });
    } catch (error) {
      const { name, message } = error instanceof Error
        ? error
        : new Error(String(error));
      post({ type: "error", id, name, message });
    }
  };
  const connection = connect(parent, answer);
  const post = (message: WorkerMessage) => connection.post(message);
  const host = new TrainingHost<Settings>(start, post);
  post({ type: "ready" });
}

/** One run: its methods are what the page asks for. */
class TrainingHost<Settings> {
  readonly #start: StartTraining<Settings>;
  readonly #post: (message: WorkerMessage) => void;
  readonly #store = new MemoryStore();
  #settings!: Settings;
  #interval = 0;
  #parts: ExposedTraining | undefined;
  #isRunning = false;
  /** True after `stop`. */
  #isStopped = false;
  /** Interrupts the present stretch between two pauses. */
  #interruption = new AbortController();
  /** Fulfilled at the end of the present stretch. */
  #stretch = Promise.withResolvers<void>();
  /** Ends the present pause. */
  #resumption: PromiseWithResolvers<void> | undefined;

  constructor(
    start: StartTraining<Settings>,
    post: (message: WorkerMessage) => void,
  ) {
    this.#start = start;
    this.#post = post;
  }

  /** Says that it can be asked. */
  ready(): void {}

  start(
    settings: Settings,
    totalTimesteps: number,
    interval: number,
  ): Promise<TrainResult> {
    this.#settings = settings;
    this.#interval = interval;
    return this.#run({ totalTimesteps, isContinued: false });
  }

  trainOn(totalTimesteps: number): Promise<TrainResult> {
    if (!this.#isRunning) {
      return this.#run({ totalTimesteps, isContinued: true });
    }
    throw new Error(
      "Cannot train on before the run has ended: wait for its result, or stop it",
    );
  }

  async pause(): Promise<void> {
    this.#interruption.abort();
    if (this.#isRunning) await this.#stretch.promise;
  }

  async resume(): Promise<void> {
    // After a pause that has not begun yet, too.
    if (this.#interruption.signal.aborted) await this.#stretch.promise;
    this.#resumption?.resolve();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.pause();
    this.#resumption?.resolve();
  }

  policy(): Uint8Array {
    const { algorithm, policyOptions } = this.#made();
    if (algorithm.exportPolicy !== undefined) {
      return algorithm.exportPolicy(policyOptions);
    }
    throw new TypeError(
      "Cannot export the policy: the agent has no exportPolicy",
    );
  }

  async checkpoint(): Promise<CheckpointBytes> {
    const isPaused = this.#resumption !== undefined;
    await this.pause();
    const checkpoint = await this.#store.bytes();
    if (!isPaused) this.#resumption?.resolve();
    return checkpoint;
  }

  call(name: string, args: readonly unknown[]): unknown {
    const { calls = {} } = this.#made();
    if (Object.hasOwn(calls, name)) return calls[name](...args);
    throw new TypeError(
      `Cannot call '${name}' of the worker: expected ${
        Object.keys(calls).join(" or ") || "no call, as it has no functions"
      }`,
    );
  }

  #made(): ExposedTraining {
    if (this.#parts !== undefined) return this.#parts;
    throw new Error("Cannot ask for that before the run has begun");
  }

  /** Trains in stretches between pauses, until the end. */
  async #run(run: ExposedRun): Promise<TrainResult> {
    this.#isRunning = true;
    this.#isStopped = false;
    this.#begin();
    try {
      const parts = await this.#start(this.#settings, run);
      this.#replace(parts);
      for (;;) {
        const result = await this.#train(parts, run.totalTimesteps);
        const isPaused = result.stopReason === "interrupted" &&
          !this.#isStopped;
        if (!isPaused) return result;
        this.#resumption = Promise.withResolvers();
        this.#stretch.resolve();
        await this.#resumption.promise;
        this.#begin();
      }
    } finally {
      this.#isRunning = false;
      this.#stretch.resolve();
    }
  }

  /** Begins a stretch; one that was stopped while it paused ends at once. */
  #begin(): void {
    this.#resumption = undefined;
    this.#stretch = Promise.withResolvers();
    this.#interruption = new AbortController();
    if (this.#isStopped) this.#interruption.abort();
  }

  /** Closes what a run before its continuation had. */
  #replace(parts: ExposedTraining): void {
    this.#parts?.algorithm.close?.();
    this.#parts?.env.close();
    this.#parts = parts;
  }

  #train(
    { algorithm, env, options = {} }: ExposedTraining,
    totalTimesteps: number,
  ): Promise<TrainResult> {
    return train(algorithm, env, {
      ...options,
      totalTimesteps,
      signal: this.#interruption.signal,
      callbacks: [...options.callbacks ?? [], this.#reporter()],
      checkpoints: { store: this.#store },
      resumeFrom: unstopped(this.#store.state),
    });
  }

  /** Tells the page how far the run is, and hears what it asks for. */
  #reporter(): Callback {
    let last = performance.now();
    const report = (run: WorkerProgress) => {
      const value = Object.fromEntries(PROGRESS.map((it) => [it, run[it]]));
      this.#post({
        type: "progress",
        value: value as unknown as WorkerProgress,
      });
    };
    return {
      name: "worker",
      onStep: async (context) => {
        if (performance.now() - last < this.#interval) return;
        report(context);
        await turn();
        last = performance.now();
      },
      onEvaluation: ({ step }, evaluation) =>
        this.#post({ type: "evaluation", value: { step, ...evaluation } }),
      onEnd: report,
    };
  }
}

/** Waits for one turn of the event loop; timers of pages wait for at least 4 ms. */
function turn(): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

/** Takes the reason of an end out of a state, so that the run goes on. */
function unstopped(state: StateTree | undefined): StateTree | undefined {
  if (state === undefined) return undefined;
  const { loop, ...parts } = state as Record<string, Record<string, StateTree>>;
  return { ...parts, loop: { ...loop, stopReason: null } };
}
