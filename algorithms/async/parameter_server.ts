import type { AsyncConfig } from "./config.ts";

/**
 * The one interface between a worker and the parameters that all workers learn:
 * shared memory here, messages where it lies on another machine.
 */
export interface ParameterServer {
  /** Number of parameters. */
  readonly size: number;
  /** Steps of all workers so far, `T`. */
  readonly steps: number;
  /** Counts a step: `T <- T + 1`. */
  step(): void;
  /**
   * Copies the parameters, or the target network's, where they have changed since
   * this worker's last pull of them.
   *
   * @param into Array that is written to `[size]`.
   * @param part Parameters or target network.
   * @returns True where it was written to.
   */
  pull(into: Float32Array, part: "params" | "target"): boolean;
  /**
   * Moves the parameters by a gradient, by the rule of the optimizer.
   *
   * @param gradient Accumulated gradient `[size]`.
   * @param learningRate Learning rate of this update.
   */
  push(gradient: Float32Array, learningRate: number): void;
  /** Copies the parameters to the target network where `T` has passed a multiple of its interval. */
  syncTarget(): void;
  /** Lets a worker's next pulls copy, changed or not. */
  forget(): void;
}

/** Options of {@link SharedParameters}: settings of the rule, and the workers. */
export interface SharedParametersOptions
  extends Pick<AsyncConfig, "optimizer" | "decay" | "rmspropEpsilon"> {
  /** Workers that learn. */
  readonly workers: number;
  /**
   * Steps of all workers between two updates of the target network.
   *
   * @default Infinity
   */
  readonly targetInterval?: number;
}

/** Places of the counters. */
const STEPS = 0, VERSION = 1, TARGET_VERSION = 2, TARGET_COUNT = 3;

/** Largest number of steps that the counter holds. */
export const MAX_STEPS: number = 2 ** 31 - 1;

/**
 * Arrays of {@link SharedParameters}: on shared memory, where they can be sent to
 * a worker, or copies of it that are saved.
 */
export type ParameterMemory = {
  /** Counters. */
  words: Int32Array;
  /** Parameters `theta`. */
  params: Float32Array;
  /** Target network `theta-`. */
  target: Float32Array;
  /** Statistics of the optimizer: of all workers, or of each. */
  slots: Float32Array[];
};

/**
 * Parameters, target network and statistics in shared memory. Workers read and
 * write them without a lock, as in Hogwild: of two updates of one number at the
 * same moment, one may be lost.
 *
 * @example
 * ```ts
 * import { SharedParameters } from "@bellman/async";
 * import { assertEquals } from "@std/assert";
 *
 * const shared = SharedParameters.from(Float32Array.of(1, 2), {
 *   optimizer: "momentum_sgd",
 *   decay: 0,
 *   rmspropEpsilon: 0.1,
 *   workers: 1,
 * });
 * const server = shared.connect(0);
 * server.push(Float32Array.of(1, -1), 0.5);
 * const params = new Float32Array(2);
 * server.pull(params, "params");
 * assertEquals(params, Float32Array.of(0.5, 2.5));
 * ```
 */
export class SharedParameters {
  /** Arrays, all on shared memory. */
  readonly memory: ParameterMemory;
  readonly #options: SharedParametersOptions;

  /**
   * Connects to a memory that there is.
   *
   * @param memory Its arrays.
   * @param options Rule, workers, interval of the target network.
   */
  constructor(memory: ParameterMemory, options: SharedParametersOptions) {
    this.memory = memory;
    this.#options = options;
  }

  /**
   * Allocates a memory for parameters.
   *
   * @param params First values; copied.
   * @param options Rule, workers, interval of the target network.
   * @returns The parameters; the target network is the same.
   */
  static from(
    params: Float32Array,
    options: SharedParametersOptions,
  ): SharedParameters {
    const numbers = () =>
      new Float32Array(new SharedArrayBuffer(4 * params.length));
    const sets = options.optimizer === "shared_rmsprop" ? 1 : options.workers;
    const memory = {
      words: new Int32Array(new SharedArrayBuffer(16)),
      params: numbers(),
      target: numbers(),
      slots: Array.from({ length: sets }, numbers),
    };
    memory.params.set(params);
    memory.target.set(params);
    return new SharedParameters(memory, options);
  }

  /** Steps of all workers so far. */
  get steps(): number {
    return Atomics.load(this.memory.words, STEPS);
  }

  /**
   * Connects a worker.
   *
   * @param worker Its number, from 0.
   * @param guard Runs a change whole, or not at all.
   * @returns Its view of the memory.
   */
  connect(
    worker: number,
    guard: (change: () => void) => void = (change) => change(),
  ): ParameterServer {
    const { words, params, target, slots } = this.memory;
    const { targetInterval = Infinity } = this.#options;
    const own = slots[Math.min(worker, slots.length - 1)];
    const seen = { params: -1, target: -1 };
    const move = ruleOf(this.#options);
    const change = { gradient: params, learningRate: 0 };
    const update = () => {
      move(params, own, change);
      Atomics.add(words, VERSION, 1);
    };
    const copy = () => {
      target.set(params);
      Atomics.add(words, TARGET_VERSION, 1);
    };
    const count = () => void Atomics.add(words, STEPS, 1);
    return {
      size: params.length,
      get steps() {
        return Atomics.load(words, STEPS);
      },
      step: () => guard(count),
      pull(into, part) {
        const at = part === "params" ? VERSION : TARGET_VERSION;
        const version = Atomics.load(words, at);
        if (version === seen[part]) return false;
        seen[part] = version;
        into.set(part === "params" ? params : target);
        return true;
      },
      push(gradient, learningRate) {
        change.gradient = gradient;
        change.learningRate = learningRate;
        guard(update);
      },
      syncTarget() {
        const due = Math.floor(Atomics.load(words, STEPS) / targetInterval);
        const done = Atomics.load(words, TARGET_COUNT);
        if (due <= done) return;
        // One worker copies, where several have passed the multiple.
        const before = Atomics.compareExchange(words, TARGET_COUNT, done, due);
        if (before === done) guard(copy);
      },
      forget: () => void (seen.params = seen.target = -1),
    };
  }

  /** Saves everything; no worker may learn meanwhile. */
  save(): ParameterMemory {
    const { words, params, target, slots } = this.memory;
    return {
      words: words.slice(),
      params: params.slice(),
      target: target.slice(),
      slots: slots.map((it) => it.slice()),
    };
  }

  /**
   * Restores what `save` gave.
   *
   * @param state The state; copied.
   * @throws {RangeError} If it is of other sizes.
   */
  load(state: ParameterMemory): void {
    const { words, params, target, slots } = this.memory;
    const [given, expected] = [state, this.memory].map((it) =>
      [it.params, ...it.slots].map(({ length }) => length).join(", ")
    );
    if (given !== expected) {
      throw new RangeError(
        `Cannot restore parameters and statistics of ${given} numbers: expected ${expected}`,
      );
    }
    words.set(state.words);
    params.set(state.params);
    target.set(state.target);
    slots.forEach((it, i) => it.set(state.slots[i]));
  }
}

type Rule = (
  params: Float32Array,
  slots: Float32Array,
  change: { gradient: Float32Array; learningRate: number },
) => void;

/**
 * Returns the rule of an optimizer, in place: RMSProp `g = a g + (1 - a) d^2`,
 * `theta -= eta d / sqrt(g + epsilon)`, or momentum SGD `m = a m + (1 - a) d`,
 * `theta -= eta m` (section 4, "Optimization").
 */
function ruleOf(
  { optimizer, decay, rmspropEpsilon: epsilon }: SharedParametersOptions,
): Rule {
  const rest = 1 - decay;
  if (optimizer === "momentum_sgd") {
    return (params, slots, { gradient, learningRate }) => {
      for (let i = 0; i < params.length; i++) {
        const m = decay * slots[i] + rest * gradient[i];
        slots[i] = m;
        params[i] -= learningRate * m;
      }
    };
  }
  return (params, slots, { gradient, learningRate }) => {
    for (let i = 0; i < params.length; i++) {
      const d = gradient[i];
      const g = decay * slots[i] + rest * d * d;
      slots[i] = g;
      params[i] -= learningRate * d / Math.sqrt(g + epsilon);
    }
  };
}
