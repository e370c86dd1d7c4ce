import { copyArrays, restoreArrays } from "@bellman/files";
import type { StateTree } from "@bellman/types";
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
  /** Claims a step; false where none is left before the workers stop. */
  claim(): boolean;
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
  /**
   * Reports statistics of learning, always the same ones.
   *
   * @param statistics Their values, at most 8.
   */
  report(statistics: readonly number[]): void;
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

/** Places of the counts that are saved: `T`, copies to the target network, starts of workers. */
const STEPS = 0, TARGETS = 1, STARTS = 2;

/** Places of those that are not: changes of each part, and steps that may be claimed. */
const VERSIONS = { params: 0, target: 1 } as const, LEFT = 2;

/** Numbers of a worker's report: their count, and the statistics. */
const REPORT = 9;

/** Largest number of steps that the counter holds. */
export const MAX_STEPS: number = 2 ** 31 - 1;

/** Arrays of {@link SharedParameters}, on shared memory. */
export type ParameterMemory = {
  /** Counts that are saved. */
  counts: Int32Array;
  /** Counts of the present process. */
  passing: Int32Array;
  /** Parameters `theta`. */
  params: Float32Array;
  /** Target network `theta-`. */
  target: Float32Array;
  /** Statistics of the optimizer: of all workers, or of one after the other. */
  slots: Float32Array;
  /** Last report of one worker after the other. */
  reports: Float64Array;
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
    const { optimizer, workers } = options, { length } = params;
    const sets = optimizer === "shared_rmsprop" ? 1 : workers;
    const shared = (bytes: number) => new SharedArrayBuffer(bytes);
    const memory = {
      counts: new Int32Array(shared(4 * (STARTS + workers))),
      passing: new Int32Array(shared(4 * 3)),
      params: new Float32Array(shared(4 * length)),
      target: new Float32Array(shared(4 * length)),
      slots: new Float32Array(shared(4 * length * sets)),
      reports: new Float64Array(shared(8 * workers * REPORT)),
    };
    memory.params.set(params);
    memory.target.set(params);
    return new SharedParameters(memory, options);
  }

  /** Steps of all workers so far. */
  get steps(): number {
    return Atomics.load(this.memory.counts, STEPS);
  }

  /** Means of the statistics that workers reported last, if any has. */
  get statistics(): readonly number[] | undefined {
    const { reports } = this.memory, rows: Float64Array[] = [];
    for (let at = 0; at < reports.length; at += REPORT) {
      const [count] = reports.subarray(at);
      if (count > 0) rows.push(reports.slice(at + 1, at + 1 + count));
    }
    return rows[0] && Array.from(
      rows[0],
      (_, i) => rows.reduce((sum, row) => sum + row[i], 0) / rows.length,
    );
  }

  /**
   * Lets workers, which stand still, claim the steps before another stop.
   *
   * @param steps Steps of all workers together.
   */
  allow(steps: number): void {
    Atomics.store(this.memory.passing, LEFT, steps);
  }

  /**
   * Counts a start of a worker.
   *
   * @param worker Its number, from 0.
   * @returns Starts before this one.
   */
  start(worker: number): number {
    return Atomics.add(this.memory.counts, STARTS + worker, 1);
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
    const { counts, passing, params, target, slots, reports } = this.memory;
    const { targetInterval = Infinity, optimizer } = this.#options;
    const { decay, rmspropEpsilon } = this.#options;
    const size = params.length;
    const set = Math.min(worker, slots.length / size - 1);
    const own = slots.subarray(set * size, (set + 1) * size);
    const rule = { optimizer, decay, rmspropEpsilon, slots: own };
    const seen = { params: -1, target: -1 };
    const steps = () => Atomics.load(counts, STEPS);
    const count = () => void Atomics.add(counts, STEPS, 1);
    const changed = (part: keyof typeof VERSIONS) =>
      void Atomics.add(passing, VERSIONS[part], 1);
    return {
      size,
      get steps() {
        return steps();
      },
      claim: () => Atomics.sub(passing, LEFT, 1) > 0,
      step: () => guard(count),
      pull(into, part) {
        const version = Atomics.load(passing, VERSIONS[part]);
        if (version === seen[part]) return false;
        seen[part] = version;
        into.set(part === "params" ? params : target);
        return true;
      },
      push: (gradient, learningRate) =>
        guard(() => {
          descend(params, gradient, { ...rule, learningRate });
          changed("params");
        }),
      syncTarget() {
        const due = Math.floor(steps() / targetInterval);
        const done = Atomics.load(counts, TARGETS);
        if (due <= done) return;
        // One worker copies, where several have passed the multiple.
        const before = Atomics.compareExchange(counts, TARGETS, done, due);
        if (before !== done) return;
        guard(() => {
          target.set(params);
          changed("target");
        });
      },
      report(statistics) {
        reports.set([statistics.length, ...statistics], worker * REPORT);
      },
    };
  }

  /** Saves everything; no worker may learn meanwhile. */
  save(): StateTree {
    const { passing: _, ...saved } = this.memory;
    return copyArrays(saved);
  }

  /**
   * Restores what `save` gave.
   *
   * @param state The state; copied.
   * @throws {RangeError} If it is of other sizes.
   */
  load(state: StateTree): void {
    const { passing, ...saved } = this.memory;
    restoreArrays(saved, state);
    // What was pulled before is of another time.
    for (const at of Object.values(VERSIONS)) Atomics.add(passing, at, 1);
  }
}

/** Gradient and rule of {@link descend}. */
interface Descent
  extends Pick<AsyncConfig, "optimizer" | "decay" | "rmspropEpsilon"> {
  /** Statistics of the optimizer, which move as well. */
  readonly slots: Float32Array;
  readonly learningRate: number;
}

/**
 * Moves parameters in place by RMSProp `g = a g + (1 - a) d^2`,
 * `theta -= eta d / sqrt(g + epsilon)`, or by momentum SGD `m = a m + (1 - a) d`,
 * `theta -= eta m` (section 4, "Optimization").
 */
function descend(
  params: Float32Array,
  gradient: Float32Array,
  { slots, learningRate, optimizer, decay, rmspropEpsilon }: Descent,
): void {
  const rest = 1 - decay, isRmsprop = optimizer !== "momentum_sgd";
  for (let i = 0; i < params.length; i++) {
    const d = gradient[i];
    const mean = decay * slots[i] + (isRmsprop ? rest * d * d : rest * d);
    slots[i] = mean;
    params[i] -= isRmsprop
      ? learningRate * d / Math.sqrt(mean + rmspropEpsilon)
      : learningRate * mean;
  }
}
