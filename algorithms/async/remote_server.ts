import type { Ask } from "@bellman/envs/workers";
import {
  decodeTold,
  encodeQuestion,
  PART,
  type Part,
  PARTS,
  type Question,
  SYNC,
} from "./_exchange.ts";
import type { ParameterServer } from "./parameter_server.ts";

/** Time after which a worker says that it is there, in milliseconds. */
const BEAT_MS = 250;

/** Settings of a {@link RemoteServer}. */
export interface RemoteServerOptions {
  /** Number of parameters. */
  readonly size: number;
  /** Asks the process that has the parameters. */
  readonly ask: Ask;
  /** Steps to claim at once: those from one push to the next. */
  readonly claim: number;
  /**
   * Steps of all workers between two updates of the target network.
   *
   * @default Infinity
   */
  readonly targetInterval?: number;
}

/**
 * Parameters that another process has: the view of a worker there. What it does since
 * one question is told with the next, which comes with each gradient. So one window is
 * one message there and one back, and steps count once their gradient is pushed, or
 * the workers stop.
 *
 * @example
 * ```ts
 * import { RemoteServer } from "@bellman/async";
 * import { assertEquals } from "@std/assert";
 *
 * // Told each time: 7 steps of all workers, no copy of the target, 2 steps to take.
 * const told = new Uint8Array(Float64Array.of(7, 0, 2, 0).buffer);
 * let questions = 0;
 * const server = new RemoteServer({
 *   size: 3,
 *   ask: () => (questions++, told),
 *   claim: 2,
 * });
 * for (let i = 0; i < 2; i++) {
 *   server.claim();
 *   server.step();
 * }
 * assertEquals([server.steps, questions], [9, 1]);
 * ```
 */
export class RemoteServer implements ParameterServer {
  readonly size: number;
  readonly #options: RemoteServerOptions;
  readonly #gradient: Float32Array;
  #told = { steps: 0, targets: 0 };
  /** Steps that may be taken, and those that were since the last question. */
  #granted = 0;
  #taken = 0;
  /** What the next question tells. */
  #hasGradient = false;
  #rate = 0;
  #sync: number = SYNC.never;
  #statistics: readonly number[] = [];
  /** Arrays that were not pulled yet. */
  #arrays: Partial<Record<Part, Float32Array>> = {};
  /** Arrays that are used, as bits: the target network's costs as much again. */
  #parts = 0;
  #askedAt = 0;

  /**
   * Connects a worker, which asks nothing yet.
   *
   * @param options Size, and how it asks.
   */
  constructor(options: RemoteServerOptions) {
    this.#options = options;
    this.size = options.size;
    this.#gradient = new Float32Array(options.size);
  }

  /** Steps of all workers when it last asked, and its own since. */
  get steps(): number {
    return this.#told.steps + this.#taken;
  }

  /** Claims a step of those that it was granted, or asks for more. */
  claim(): boolean {
    const { claim } = this.#options;
    if (this.#hasGradient || this.#granted === 0) {
      this.#exchange({ claim: claim - this.#granted });
    } else if (performance.now() - this.#askedAt > BEAT_MS) {
      this.#ask();
    }
    if (this.#granted === 0) return false;
    this.#granted--;
    return true;
  }

  /** Counts a step, which is told with the next gradient. */
  step(): void {
    this.#taken++;
  }

  /**
   * Copies what has come with the last answer.
   *
   * @param into Array that is written to `[size]`.
   * @param part Parameters or target network.
   * @returns True where it was written.
   */
  pull(into: Float32Array, part: "params" | "target"): boolean {
    const isNew = (this.#parts & PART[part]) === 0;
    this.#parts |= PART[part];
    // What it has pushed or copied itself is to be in it.
    if (isNew || this.#hasGradient || this.#sync !== SYNC.never) {
      this.#exchange({ pulls: true });
    }
    const array = this.#arrays[part];
    if (array === undefined) return false;
    into.set(array);
    delete this.#arrays[part];
    return true;
  }

  /**
   * Keeps a gradient for the next question.
   *
   * @param gradient Accumulated gradient `[size]`; copied.
   * @param learningRate Learning rate of this update.
   */
  push(gradient: Float32Array, learningRate: number): void {
    if (this.#hasGradient) this.#exchange({});
    this.#gradient.set(gradient);
    this.#rate = learningRate;
    this.#hasGradient = true;
  }

  /** Has the target network copied with the next question, where that is due. */
  syncTarget(): void {
    const { targetInterval = Infinity } = this.#options;
    const due = Math.floor(this.steps / targetInterval);
    if (due <= this.#told.targets || this.#sync !== SYNC.never) return;
    this.#sync = this.#hasGradient ? SYNC.after : SYNC.before;
  }

  /**
   * Keeps statistics for the next question.
   *
   * @param statistics Their values, at most 8.
   */
  report(statistics: readonly number[]): void {
    this.#statistics = statistics;
  }

  /** Tells what was done, and asks for more. */
  #exchange(wanted: Partial<Pick<Question, "claim" | "pulls">>): void {
    const given = {
      ...wanted,
      steps: this.#taken,
      sync: this.#sync,
      rate: this.#rate,
      statistics: this.#statistics,
      ...this.#hasGradient && { gradient: this.#gradient },
    };
    this.#taken = 0;
    this.#hasGradient = false;
    this.#sync = SYNC.never;
    this.#statistics = [];
    this.#ask(given);
  }

  #ask(question: Partial<Question> = {}): void {
    const { ask } = this.#options, parts = this.#parts;
    const none = { steps: 0, claim: 0, sync: 0, rate: 0, statistics: [] };
    const said = ask(
      ...encodeQuestion({ ...none, pulls: false, parts, ...question }),
    );
    const { granted, arrays, ...told } = decodeTold(said, this.size);
    this.#told = told;
    this.#granted += granted;
    for (const part of PARTS) {
      this.#arrays[part] = arrays[part] ?? this.#arrays[part];
    }
    this.#askedAt = performance.now();
  }
}
