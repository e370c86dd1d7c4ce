import type { ArrayWithShape } from "@bellman/compute";
import type { Worker } from "node:worker_threads";
import { invertFactors, type InvertOptions, slotShapes } from "./inverses.ts";
import type { FactorPair } from "./layers.ts";

/** Factors of a layer that are to be inverted, and how. */
export interface Inversion extends InvertOptions {
  readonly factors: FactorPair<Float32Array>;
}

/** One layer's inversion, in memory that both threads see. */
interface InversionTask extends InvertOptions {
  readonly shapes: Readonly<Record<string, number[]>>;
  /** A status of 32 bits, then the numbers of all slots. */
  readonly memory: SharedArrayBuffer;
}

/** A status of a task; 0 until it is done. */
const DONE = 1, FAILED = 2;
/** Time without an answer after which a worker is given up. */
const PATIENCE_MS = 120_000;

/** Returns a task's factors, and the places of its results. */
function slotsOf(
  { shapes, memory }: InversionTask,
): FactorPair<Float32Array> & Record<string, Float32Array> {
  let at = 4;
  const slots: Record<string, Float32Array> = {};
  for (const name in shapes) {
    slots[name] = new Float32Array(memory, at, sizeOf(shapes[name]));
    at += slots[name].byteLength;
  }
  const { input, output } = slots;
  return { ...slots, input, output };
}

function sizeOf(shape: readonly number[]): number {
  return shape.reduce((size, it) => size * it, 1);
}

/** Does a task, in the worker. */
export function answer(task: InversionTask): void {
  let status = DONE;
  try {
    const slots = slotsOf(task), made = invertFactors(slots, task);
    for (const name in made) slots[name].set(made[name].data);
  } catch {
    // The asking thread tries again, and so learns the reason.
    status = FAILED;
  }
  const shared = new Int32Array(task.memory, 0, 1);
  Atomics.store(shared, 0, status);
  Atomics.notify(shared, 0);
}

/**
 * A thread that inverts factors while training goes on. Its answers are those of
 * `invertFactors` bit for bit; where it has none, the caller computes them. It
 * starts with the first task and keeps no process alive.
 */
export class InversionWorker {
  readonly #onWarning: (line: string) => void;
  readonly #tasks = new Map<string, InversionTask>();
  #worker?: Worker;
  #hasFailed = false;

  /** Makes a worker whose death is told in one line. */
  constructor(onWarning: (line: string) => void) {
    this.#onWarning = onWarning;
  }

  /** Starts to invert a layer's factors, which are copied. */
  start(layer: string, { factors, ...options }: Inversion): void {
    if (this.#hasFailed) return;
    const [input, output] = [factors.input, factors.output]
      .map((it) => Math.round(Math.sqrt(it.length)));
    const shapes = slotShapes({ input, output }, options.form);
    const numbers = Object.values(shapes)
      .reduce((sum, shape) => sum + sizeOf(shape), 1);
    const memory = new SharedArrayBuffer(4 * numbers);
    const task = { ...options, shapes, memory }, slots = slotsOf(task);
    slots.input.set(factors.input);
    slots.output.set(factors.output);
    this.#tasks.set(layer, task);
    try {
      this.#worker ??= this.#open();
      this.#worker.postMessage(task);
    } catch (error) {
      this.#fail(error as Error);
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
    { factors, damping }: Inversion,
  ): Record<string, ArrayWithShape> | undefined {
    const task = this.#tasks.get(layer);
    if (task === undefined || this.#hasFailed) return undefined;
    const { input, output, ...results } = slotsOf(task);
    const isGiven = task.damping === damping &&
      input.every((it, i) => it === factors.input[i]) &&
      output.every((it, i) => it === factors.output[i]);
    if (!isGiven) return undefined;
    const status = new Int32Array(task.memory, 0, 1);
    if (Atomics.wait(status, 0, 0, PATIENCE_MS) === "timed-out") {
      this.#fail(new Error(`no answer in ${PATIENCE_MS / 1000} seconds`));
    }
    if (Atomics.load(status, 0) !== DONE) return undefined;
    const made: Record<string, ArrayWithShape> = {};
    for (const name in results) {
      made[name] = { data: results[name].slice(), shape: task.shapes[name] };
    }
    return made;
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
    const { Worker } = globalThis.process.getBuiltinModule(
      "node:worker_threads",
    );
    const worker = new Worker(
      new URL(`data:text/javascript,${encodeURIComponent(source)}`),
    );
    worker.unref();
    worker.on("error", (error) => this.#fail(error));
    worker.on("exit", () => {
      if (worker === this.#worker) this.#fail(new Error("it exited"));
    });
    return worker;
  }

  /** Gives the worker up, with one warning. */
  #fail({ message }: Error): void {
    const [reason] = message.split("\n");
    const line = `Factors are inverted in place: the worker failed: ${reason}`;
    if (!this.#hasFailed) this.#onWarning(line);
    this.#hasFailed = true;
    this.close();
  }
}
