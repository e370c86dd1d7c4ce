import {
  checkOptions,
  FUNCTION,
  type OptionKind,
  type OptionKinds,
  refuseUnknown,
} from "@bellman/files/options";
import { inspect } from "@bellman/files";
import type { TrainResult } from "../callbacks.ts";
import {
  type Calls,
  type CheckpointBytes,
  connect,
  type Connection,
  startWorker,
  type WorkerAnswer,
  type WorkerEvaluation,
  type WorkerMessage,
  type WorkerProgress,
  type WorkerRequest,
} from "./messages.ts";

/** Worker that was started already, such as by a bundler's `new Worker(new URL(...))`. */
export interface StartedWorker {
  /** Sends it a message. */
  postMessage(message: unknown): void;
  /** Ends it. */
  terminate(): unknown;
}

/** Options of {@link trainInWorker}. */
export interface TrainInWorkerOptions {
  /** Environment steps, over all environments, after which training ends. */
  totalTimesteps: number;
  /**
   * Plain data for the function that the worker gave to `exposeTraining`.
   *
   * @default undefined
   */
  settings?: unknown;
  /** Called with the progress, at intervals and at each pause and end. */
  onProgress?: (progress: WorkerProgress) => void;
  /** Called after each evaluation. */
  onEvaluation?: (evaluation: WorkerEvaluation) => void;
  /**
   * Milliseconds between two calls of `onProgress`, and most of them until the worker
   * hears of a call, unless one step or update takes longer.
   *
   * @default 100
   */
  progressIntervalMs?: number;
}

/** What the worker checks. */
const CHECKED_THERE: OptionKind = [
  ["number", "string", "boolean", "bigint", "object", "function", "symbol"],
  "plain data",
];

const OPTIONS: Omit<OptionKinds<TrainInWorkerOptions>, "settings"> = {
  totalTimesteps: CHECKED_THERE,
  onProgress: FUNCTION,
  onEvaluation: FUNCTION,
  progressIntervalMs: [
    "number",
    "a number of at least 0",
    (value: number) => value >= 0,
  ],
};

/** Workers that were handed over: the answers of each are those of one training. */
const taken = new WeakSet<StartedWorker>();

/** Throws for what is neither an address nor a worker that is free. */
function checkWorker(worker: unknown): void {
  const isAddress = typeof worker === "string" || worker instanceof URL;
  if (isAddress) return;
  if (typeof worker !== "object" || !("postMessage" in Object(worker))) {
    throw new TypeError(
      `Cannot train in ${
        inspect(worker)
      }: expected the URL of a module, or a worker`,
    );
  }
  if (taken.has(worker as StartedWorker)) {
    throw new TypeError(
      "Cannot train in a worker that has a training: expected a new one",
    );
  }
  taken.add(worker as StartedWorker);
}

/**
 * Training in a worker. After an error of the worker all promises are rejected with it.
 *
 * @typeParam Own Functions of the worker that `call` calls.
 */
export interface WorkerTraining<Own extends Calls = Calls> {
  /** Result of the run, as `train` returns it: at its end, or after `stop`. */
  readonly result: Promise<TrainResult>;
  /** Pauses between two steps; fulfilled when the worker does nothing any more. */
  pause(): Promise<void>;
  /** Goes on after a pause, as if there had been none. */
  resume(): Promise<void>;
  /** Ends the run early, with `stopReason: "interrupted"`, which `result` tells. */
  stop(): Promise<void>;
  /**
   * Goes on after the end, as if the run had been longer from the start: the worker
   * makes agent and environment anew, and restores them.
   *
   * @param totalTimesteps Environment steps of the whole run.
   * @returns The result at the new end.
   * @throws {Error} If the run has not ended yet.
   */
  trainOn(totalTimesteps: number): Promise<TrainResult>;
  /** Exports the present policy as the bytes of an ONNX file. */
  policy(): Promise<Uint8Array<ArrayBuffer>>;
  /** Saves the present state, from which a run of the command line resumes, too. */
  checkpoint(): Promise<CheckpointBytes>;
  /**
   * Calls a function of the worker between two steps.
   *
   * @param name Name among the `calls` of the worker.
   * @param args Plain data.
   * @returns What it returns.
   * @throws {TypeError} If the worker has no such function.
   */
  call<Name extends keyof Own & string>(
    name: Name,
    ...args: Parameters<Own[Name]>
  ): Promise<Awaited<ReturnType<Own[Name]>>>;
  /** Ends the worker; what has not been answered is rejected. */
  close(): void;
}

/**
 * Trains in a worker, so that the page or program stays free: in pages, in Deno and in
 * Node. The worker's module calls {@link exposeTraining}.
 *
 * @typeParam Own Functions of the worker that `call` calls.
 * @param worker URL of the module, or a worker that runs it: bundlers want to see
 * `new Worker(new URL("./trainer.ts", import.meta.url), { type: "module" })`.
 * @param options Length, settings, what is called with the progress.
 * @returns The training, which has begun. Close it when the worker is not needed any
 * more, or Deno and Node do not end.
 * @throws {TypeError} If an option is unknown, with the nearest one, or the worker has
 * a training already.
 *
 * @example
 * ```ts
 * import { trainInWorker } from "@bellman/training/worker";
 * import { assert, assertEquals } from "@std/assert";
 *
 * // The worker: a file of its own, trainer.ts.
 * const trainer = `
 *   import { A2C } from "@bellman/a2c";
 *   import { selectBackend } from "@bellman/compute";
 *   import { makeVec } from "@bellman/envs";
 *   import { exposeTraining } from "@bellman/training/worker";
 *
 *   exposeTraining(async ({ numEnvs }, { totalTimesteps }) => {
 *     await selectBackend("cpu");
 *     const env = makeVec("CartPole-v1", { numEnvs });
 *     const algorithm = new A2C(env, { totalTimesteps, engine: "eager" });
 *     return { algorithm, env, calls: { updates: () => algorithm.updates } };
 *   });
 * `;
 * const training = trainInWorker<{ updates(): number }>(
 *   `data:text/javascript,${encodeURIComponent(trainer)}`,
 *   { totalTimesteps: 200, settings: { numEnvs: 4 } },
 * );
 * const { step } = await training.result;
 * assertEquals(step, 200);
 * assert(await training.call("updates") > 0);
 * assert((await training.policy()).length > 1000);
 * assertEquals((await training.trainOn(300)).step, 300);
 * training.close();
 * ```
 */
export function trainInWorker<Own extends Calls = Calls>(
  worker: string | URL | StartedWorker,
  options: TrainInWorkerOptions,
): WorkerTraining<Own> {
  const names = [...Object.keys(OPTIONS), "settings"];
  refuseUnknown(options, names, "trainInWorker");
  const { settings, ...others } = options;
  checkOptions("a training in a worker", others, OPTIONS);
  checkWorker(worker);
  const { totalTimesteps, progressIntervalMs = 100 } = others;
  const remote = new Remote(worker, options);
  return {
    result: remote.ask("start", settings, totalTimesteps, progressIntervalMs),
    pause: () => remote.ask("pause"),
    resume: () => remote.ask("resume"),
    stop: () => remote.ask("stop"),
    trainOn: (totalTimesteps) => remote.ask("trainOn", totalTimesteps),
    policy: () => remote.ask("policy"),
    checkpoint: () => remote.ask("checkpoint"),
    call: (name, ...args) => remote.ask("call", name, args),
    close: () => remote.close(),
  };
}

/** Errors that keep their kind on the way from the worker. */
const ERRORS = { TypeError, RangeError, SyntaxError };

/** Number of the request whether the worker is ready. */
const READY = 0;

/** The worker, which is asked and answers. */
class Remote {
  readonly #name: string;
  readonly #options: TrainInWorkerOptions;
  readonly #connection: Connection;
  readonly #pending = new Map<number, PromiseWithResolvers<never>>();
  /** Requests until the worker can be asked. */
  #waiting: WorkerRequest[] | undefined = [];
  #asked = 0;
  #failure: Error | undefined;

  constructor(
    worker: string | URL | StartedWorker,
    options: TrainInWorkerOptions,
  ) {
    const isStarted = typeof worker === "object" && "postMessage" in worker;
    this.#name = isStarted ? "the worker" : nameOf(worker);
    this.#options = options;
    this.#connection = connect<WorkerMessage>(
      isStarted ? worker : startWorker(worker),
      (message) => this.#hear(message),
      (reason) => this.#fail(`Cannot train in ${this.#name}: ${plain(reason)}`),
    );
    // A worker that was ready before it was heard says it again.
    this.#connection.post({ id: READY, name: "ready", args: [] });
  }

  ask<Value>(name: WorkerRequest["name"], ...args: unknown[]): Promise<Value> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    const id = ++this.#asked, answer = Promise.withResolvers<never>();
    this.#pending.set(id, answer);
    this.#send({ id, name, args });
    return answer.promise;
  }

  close(): void {
    // What is closed on purpose need not be waited for.
    for (const { promise } of this.#pending.values()) promise.catch(() => {});
    this.#fail(`The training in ${this.#name} was closed`);
  }

  #send(request: WorkerRequest): void {
    if (this.#waiting !== undefined) return void this.#waiting.push(request);
    try {
      this.#connection.post(request);
    } catch (error) {
      this.#pending.get(request.id)!.reject(error);
      this.#pending.delete(request.id);
    }
  }

  #hear(message: WorkerMessage): void {
    if (message.type === "ready") {
      const waiting = this.#waiting ?? [];
      this.#waiting = undefined;
      waiting.forEach((it) => this.#send(it));
    } else if (message.type === "progress") {
      this.#options.onProgress?.(message.value);
    } else if (message.type === "evaluation") {
      this.#options.onEvaluation?.(message.value);
    } else this.#settle(message);
  }

  #settle(message: WorkerAnswer): void {
    if (message.id === READY) return this.#hear({ type: "ready" });
    const pending = this.#pending.get(message.id);
    this.#pending.delete(message.id);
    if (message.type === "answer") pending?.resolve(message.value as never);
    else {
      const known = ERRORS[message.name as keyof typeof ERRORS] ?? Error;
      pending?.reject(new known(message.message));
    }
  }

  /** Rejects everything, now and later. */
  #fail(reason: string): void {
    this.#failure ??= new Error(reason);
    this.#connection.close();
    for (const { reject } of this.#pending.values()) reject(this.#failure);
    this.#pending.clear();
  }
}

/** Name of a module in messages. */
function nameOf(url: string | URL): string {
  const [path] = String(url).split(/[?#]/);
  return path.startsWith("data:") ? "a data URL" : path.split("/").at(-1)!;
}

/** First line of a runtime's message, without what it puts before. */
function plain(reason: string): string {
  return reason.replace(/^Uncaught (?:\(in promise\) )?/, "").split("\n")[0];
}
