import type { ArrayWithShape } from "@bellman/compute";
import type { Worker } from "node:worker_threads";
import { invertFactors, type InvertOptions } from "./inverses.ts";
import { type FactorPair, slotShapes } from "./layers.ts";

/** Factors of a layer that are to be inverted, and how. */
export interface Inversion extends InvertOptions {
  readonly factors: FactorPair<Float32Array>;
}

/** One layer's inversion, in memory that both threads see. */
interface InversionTask extends InvertOptions {
  readonly status: Int32Array;
  /** The factors, and places for what is made of them. */
  readonly slots: Readonly<Record<string, ArrayWithShape>>;
}

/** A status of a task; 0 until it is done. */
const DONE = 1, FAILED = 2;
/** Time without an answer after which a worker has failed. */
const PATIENCE_MS = 120_000;
/** Failures in a row after which no worker is started. */
const MOST_DEATHS = 2;

function factorsOf({ slots }: InversionTask): FactorPair<Float32Array> {
  const [input, output] = [slots.input, slots.output].map(({ data }) => data);
  return { input: input as Float32Array, output: output as Float32Array };
}

function sharedArray(shape: readonly number[]): Float32Array {
  const size = shape.reduce((size, it) => size * it, 1);
  return new Float32Array(new SharedArrayBuffer(4 * size));
}

/** Does a task, in the worker. */
export function answer(task: InversionTask): void {
  let status = DONE;
  try {
    const made = invertFactors(factorsOf(task), task);
    for (const name in made) task.slots[name].data.set(made[name].data);
  } catch {
    // The calling thread tries again, and so gets the reason.
    status = FAILED;
  }
  Atomics.store(task.status, 0, status);
  Atomics.notify(task.status, 0);
}

/**
 * A thread that inverts factors while training continues. Its answers are those of
 * `invertFactors` bit for bit; where it has none, the caller computes them. It
 * starts with the first task and keeps no process alive. Where it dies, another
 * takes its place with the next task.
 */
export class InversionWorker {
  readonly #onWarning: (line: string) => void;
  readonly #tasks = new Map<string, InversionTask>();
  #worker?: Worker;
  /** Deaths since the last answer. */
  #deaths = 0;

  /** Makes a worker; each of its failures is reported in one line. */
  constructor(onWarning: (line: string) => void) {
    this.#onWarning = onWarning;
  }

  /** Starts to invert a layer's factors, which are copied. */
  start(layer: string, { factors, ...options }: Inversion): void {
    if (this.#deaths === MOST_DEATHS) return;
    const [input, output] = [factors.input, factors.output]
      .map((it) => Math.round(Math.sqrt(it.length)));
    const slots: Record<string, ArrayWithShape> = {};
    const shapes = slotShapes({ input, output }, options);
    for (const [name, shape] of Object.entries(shapes)) {
      slots[name] = { data: sharedArray(shape), shape };
    }
    const status = new Int32Array(new SharedArrayBuffer(4));
    const task = { ...options, start: options.start?.slice(), status, slots };
    const own = factorsOf(task);
    own.input.set(factors.input);
    own.output.set(factors.output);
    this.#tasks.set(layer, task);
    try {
      this.#worker ??= this.#open();
      this.#worker.postMessage(task);
    } catch (error) {
      this.#fail((error as Error).message);
    }
  }

  /**
   * Waits for a layer's inverse.
   *
   * @param inversion What was given to `start`.
   * @returns Arrays as of `invertFactors`; undefined where there are none, as
   * that was not given, cannot be inverted, or the worker died.
   */
  take(
    layer: string,
    { factors, damping, start }: Inversion,
  ): Record<string, ArrayWithShape> | undefined {
    const task = this.#tasks.get(layer);
    if (task === undefined) return undefined;
    const own = factorsOf(task);
    const isGiven = task.damping === damping &&
      own.input.every((it, i) => it === factors.input[i]) &&
      own.output.every((it, i) => it === factors.output[i]) &&
      task.start?.every((it, i) => it === start?.[i]) !== false;
    if (!isGiven) return undefined;
    if (Atomics.wait(task.status, 0, 0, PATIENCE_MS) === "timed-out") {
      this.#fail(`no answer in ${PATIENCE_MS / 1000} seconds`);
      return undefined;
    }
    this.#deaths = 0;
    if (task.status[0] === FAILED) return undefined;
    const { input: _, output: __, ...results } = task.slots;
    const copies = Object.entries(results)
      .map(([name, it]) => [name, { ...it, data: it.data.slice() }]);
    return Object.fromEntries(copies);
  }

  /** Ends the thread; the next task starts another. */
  close(): void {
    const worker = this.#worker;
    this.#worker = undefined;
    this.#tasks.clear();
    worker?.terminate();
  }

  #open(): Worker {
    const source = `
      import { parentPort } from "node:worker_threads";
      import { answer } from ${JSON.stringify(import.meta.url)};
      parentPort.on("message", answer);`;
    // Not imported, so that pages can load this package.
    const threads = globalThis.process.getBuiltinModule("node:worker_threads");
    const code = new URL(`data:text/javascript,${encodeURIComponent(source)}`);
    const worker = new threads.Worker(code);
    worker.unref();
    const fail = (reason: string) =>
      worker === this.#worker && this.#fail(reason);
    worker.on("error", ({ message }) => fail(message));
    worker.on("exit", () => fail("it exited"));
    return worker;
  }

  /** Gives the worker and its tasks up, with a warning. */
  #fail(message: string): void {
    const [reason] = message.split("\n");
    this.#deaths++;
    const next = this.#deaths === MOST_DEATHS
      ? "factors are inverted in place"
      : "another takes its place";
    this.#onWarning(
      `The worker that inverts factors failed, ${next}: ${reason}`,
    );
    this.close();
  }
}
