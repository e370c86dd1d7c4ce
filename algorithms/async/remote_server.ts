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

/** Interval of a worker's heartbeats, in milliseconds. */
const BEAT_MS = 250;

/** Settings of a {@link RemoteServer}. */
export interface RemoteServerOptions {
  /** Number of parameters. */
  readonly size: number;
  /** Sends a request to the process that has the parameters. */
  readonly ask: Ask;
  /** Steps to claim at once: those between two pushes. */
  readonly claim: number;
  /**
   * Steps of all workers between two updates of the target network.
   *
   * @default Infinity
   */
  readonly targetInterval?: number;
}

/**
 * Parameter server in another process, as a worker sees it. Progress since one request
 * is sent with the next, which comes with each gradient: a window takes one message in
 * each direction, and steps count once their gradient is pushed or the workers stop.
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
  /** Steps that may be taken, and steps taken since the last request. */
  #granted = 0;
  #taken = 0;
  /** Content of the next request. */
  #hasGradient = false;
  #rate = 0;
  #sync: number = SYNC.never;
  #statistics: readonly number[] = [];
  /** Received arrays that were not pulled yet. */
  #arrays: Partial<Record<Part, Float32Array>> = {};
  /** Arrays in use, as bits: sending the target network doubles the cost. */
  #parts = 0;
  #askedAt = 0;

  /**
   * Connects a worker without sending anything.
   *
   * @param options Size, and connection.
   */
  constructor(options: RemoteServerOptions) {
    this.#options = options;
    this.size = options.size;
    this.#gradient = new Float32Array(options.size);
  }

  /** Steps of all workers at the last request, plus its own since. */
  get steps(): number {
    return this.#told.steps + this.#taken;
  }

  /** Claims a granted step, or requests more. */
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

  /** Counts a step, to be sent with the next gradient. */
  step(): void {
    this.#taken++;
  }

  /**
   * Copies what came with the last reply.
   *
   * @param into Target array `[size]`.
   * @param part Parameters or target network.
   * @returns True if it was copied.
   */
  pull(into: Float32Array, part: "params" | "target"): boolean {
    const isNew = (this.#parts & PART[part]) === 0;
    this.#parts |= PART[part];
    // The reply must include what it has pushed or copied itself.
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
   * Keeps a gradient for the next request.
   *
   * @param gradient Accumulated gradient `[size]`; copied.
   * @param learningRate Learning rate.
   */
  push(gradient: Float32Array, learningRate: number): void {
    if (this.#hasGradient) this.#exchange({});
    this.#gradient.set(gradient);
    this.#rate = learningRate;
    this.#hasGradient = true;
  }

  /** Requests an update of the target network, if it is due. */
  syncTarget(): void {
    const { targetInterval = Infinity } = this.#options;
    const due = Math.floor(this.steps / targetInterval);
    if (due <= this.#told.targets || this.#sync !== SYNC.never) return;
    this.#sync = this.#hasGradient ? SYNC.after : SYNC.before;
  }

  /**
   * Keeps statistics for the next request.
   *
   * @param statistics Their values, at most 8.
   */
  report(statistics: readonly number[]): void {
    this.#statistics = statistics;
  }

  /** Sends progress, and requests steps or arrays. */
  #exchange(wanted: Partial<Pick<Question, "claim" | "pulls">>): void {
    const question = {
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
    this.#ask(question);
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
