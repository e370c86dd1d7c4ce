import type { ArrayWithShape } from "@bellman/compute";
import type { MessagePort, Worker } from "node:worker_threads";
import { invertFactors, type InvertOptions } from "./inverses.ts";
import type { FactorPair } from "./layers.ts";

/** Factors of a layer that are to be inverted, and how. */
export interface Inversion extends InvertOptions {
  readonly factors: FactorPair<Float32Array>;
}

/** An inversion that a worker was given. */
interface InversionTask {
  readonly inversion: Inversion;
  /** 0 in memory that both threads see; 1 once the answer has been sent. */
  readonly status: Int32Array<SharedArrayBuffer>;
  /** Where the answer comes in. */
  readonly port: MessagePort;
}

/** Time without an answer after which a worker is given up. */
const PATIENCE_MS = 120_000;

/** Returns the module of threads; not imported, so that pages can load this one. */
function threads() {
  return globalThis.process.getBuiltinModule("node:worker_threads");
}

/** Copies numbers to memory that both threads see. */
function shared(numbers: Float32Array): Float32Array {
  const copy = new Float32Array(new SharedArrayBuffer(numbers.byteLength));
  copy.set(numbers);
  return copy;
}

/** Tells if two inversions are of the same numbers. */
function isSame(one: Inversion, other: Inversion): boolean {
  return one.damping === other.damping &&
    (["input", "output"] as const).every((name) =>
      one.factors[name].every((it, i) => it === other.factors[name][i])
    );
}

/** Does a task, in the worker. */
export function answer({ inversion, status, port }: InversionTask): void {
  try {
    port.postMessage(invertFactors(inversion.factors, inversion));
  } catch {
    // The asking thread tries again, and so learns the reason.
    port.postMessage(undefined);
  }
  Atomics.store(status, 0, 1);
  Atomics.notify(status, 0);
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
    const { MessageChannel } = threads();
    const { port1: port, port2 } = new MessageChannel();
    const status = new Int32Array(new SharedArrayBuffer(4));
    const input = shared(factors.input), output = shared(factors.output);
    const inversion = { ...options, factors: { input, output } };
    this.#tasks.get(layer)?.port.close();
    this.#tasks.set(layer, { inversion, status, port });
    try {
      this.#worker ??= this.#open();
      this.#worker.postMessage({ inversion, status, port: port2 }, [port2]);
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  /**
   * Waits for a layer's inverse, once.
   *
   * @param wanted What was given to `start`.
   * @returns Arrays as of `invertFactors`; undefined where there are none, as
   * that was not given, cannot be inverted, or the worker died.
   */
  take(
    layer: string,
    wanted: Inversion,
  ): Record<string, ArrayWithShape> | undefined {
    const task = this.#tasks.get(layer);
    if (task === undefined || !isSame(task.inversion, wanted)) return undefined;
    const { status, port } = task;
    if (Atomics.wait(status, 0, 0, PATIENCE_MS) === "timed-out") {
      this.#fail(new Error(`no answer in ${PATIENCE_MS / 1000} seconds`));
      return undefined;
    }
    return threads().receiveMessageOnPort(port)?.message;
  }

  /** Ends the thread; the next task starts another. */
  close(): void {
    const worker = this.#worker;
    this.#worker = undefined;
    for (const { port } of this.#tasks.values()) port.close();
    this.#tasks.clear();
    worker?.terminate();
  }

  #open(): Worker {
    const source = `
      import { parentPort } from "node:worker_threads";
      import { answer } from ${JSON.stringify(import.meta.url)};
      parentPort.on("message", answer);`;
    const { Worker } = threads();
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
