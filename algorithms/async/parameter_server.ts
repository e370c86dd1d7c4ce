import { compileInPlace, sharedArrays } from "@bellman/compute";
import { copyArrays, restoreArrays } from "@bellman/files";
import type { StateTree } from "@bellman/types";
import * as tf from "@tensorflow/tfjs";
import type { AsyncConfig } from "./config.ts";

/**
 * Interface between a worker and the shared parameters: shared memory on one machine,
 * messages between machines.
 */
export interface ParameterServer {
  /** Number of parameters. */
  readonly size: number;
  /** Steps of all workers so far, `T`. */
  readonly steps: number;
  /** Claims a step; false if none is left before the workers stop. */
  claim(): boolean;
  /**
   * Counts steps: `T <- T + 1`.
   *
   * @param count Number of steps, 1 by default.
   */
  step(count?: number): void;
  /**
   * Copies parameters or target network, if they have changed since this worker's last
   * pull.
   *
   * @param into Target array `[size]`.
   * @param part Parameters or target network.
   * @returns True if they were copied.
   */
  pull(into: Float32Array, part: "params" | "target"): boolean;
  /**
   * Applies a gradient to the parameters, by the optimizer's rule.
   *
   * @param gradient Accumulated gradient `[size]`.
   * @param learningRate Learning rate.
   */
  push(gradient: Float32Array, learningRate: number): void;
  /** Updates the target network, if `T` has passed a multiple of its interval. */
  syncTarget(): void;
  /**
   * Reports statistics of learning, always in the same order.
   *
   * @param statistics Their values, at most 8.
   */
  report(statistics: readonly number[]): void;
}

/** Options of {@link SharedParameters}: optimizer settings and number of workers. */
export interface SharedParametersOptions
  extends Pick<AsyncConfig, "optimizer" | "decay" | "rmspropEpsilon"> {
  /** Number of workers. */
  readonly workers: number;
  /**
   * Steps of all workers between two updates of the target network.
   *
   * @default Infinity
   */
  readonly targetInterval?: number;
}

/** Indices of the saved counters: `T`, updates of the target network, worker starts. */
const STEPS = 0, TARGETS = 1, STARTS = 2;

/**
 * Indices of the other counters: version of each part, steps that may be claimed, and
 * steps of each worker since the last stop.
 */
const VERSIONS = { params: 0, target: 1 } as const, LEFT = 2, TAKEN = 3;

/** Length of a worker's report: number of statistics, and the statistics. */
const REPORT = 9;

/** Largest number of steps that the counter can hold. */
export const MAX_STEPS: number = 2 ** 31 - 1;

/** Arrays of {@link SharedParameters}, all in one shared memory. */
export type ParameterMemory = {
  /** Saved counters. */
  counts: Int32Array;
  /** Counters that are not saved. */
  passing: Int32Array;
  /** Parameters `theta`. */
  params: Float32Array;
  /** Target network `theta-`. */
  target: Float32Array;
  /** Optimizer state: shared, or one for each worker. */
  slots: Float32Array;
  /** Last report of each worker. */
  reports: Float64Array;
  /** Gradient and learning rate of the last push of each worker. */
  pushes: Float32Array;
  /** Memory of all these arrays. */
  whole: WebAssembly.Memory;
};

/**
 * Parameters, target network and optimizer state in shared memory. Workers read and
 * write without locks, as in Hogwild: one of two simultaneous updates of a number may
 * be lost.
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
  /** Arrays, all in shared memory. */
  readonly memory: ParameterMemory;
  readonly #options: SharedParametersOptions;

  /**
   * Connects to an existing shared memory.
   *
   * @param memory Arrays of the memory.
   * @param options Optimizer, number of workers, interval of the target network.
   */
  constructor(memory: ParameterMemory, options: SharedParametersOptions) {
    this.memory = memory;
    this.#options = options;
  }

  /**
   * Allocates shared memory for parameters.
   *
   * @param params Initial parameters; copied.
   * @param options Optimizer, number of workers, interval of the target network.
   * @returns The shared parameters, with the target network equal to them.
   */
  static from(
    params: Float32Array,
    options: SharedParametersOptions,
  ): SharedParameters {
    const { optimizer, workers } = options, { length } = params;
    const sets = optimizer === "shared_rmsprop" ? 1 : workers;
    const { memory: whole, arrays } = sharedArrays({
      counts: [Int32Array, STARTS + workers],
      passing: [Int32Array, TAKEN + workers],
      params: [Float32Array, length],
      target: [Float32Array, length],
      slots: [Float32Array, length * sets],
      reports: [Float64Array, workers * REPORT],
      pushes: [Float32Array, workers * (length + 1)],
    });
    arrays.params.set(params);
    arrays.target.set(params);
    return new SharedParameters({ whole, ...arrays }, options);
  }

  /** Steps of all workers so far. */
  get steps(): number {
    return Atomics.load(this.memory.counts, STEPS);
  }

  /** Updates of the target network so far, as multiples of its interval. */
  get targets(): number {
    return Atomics.load(this.memory.counts, TARGETS);
  }

  /** Mean of the last statistics of the workers, if any. */
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

  /** Steps of each worker since the last reset to 0. */
  get taken(): Int32Array {
    return this.memory.passing.subarray(TAKEN);
  }

  /**
   * Allows paused workers to claim steps until the next stop.
   *
   * @param steps Steps of all workers together.
   */
  allow(steps: number): void {
    Atomics.store(this.memory.passing, LEFT, steps);
  }

  /**
   * Claims steps, as many as are left.
   *
   * @param most Wanted number of steps.
   * @returns Number of granted steps.
   */
  grant(most: number): number {
    const { passing } = this.memory;
    for (;;) {
      const left = Atomics.load(passing, LEFT), granted = Math.min(most, left);
      if (granted === 0) return 0;
      const now = left - granted;
      if (Atomics.compareExchange(passing, LEFT, left, now) === left) {
        return granted;
      }
    }
  }

  /**
   * Gives claimed steps back that are not taken.
   *
   * @param steps Number of steps.
   */
  giveBack(steps: number): void {
    Atomics.add(this.memory.passing, LEFT, steps);
  }

  /**
   * Counts a start of a worker.
   *
   * @param worker Number of the worker, from 0.
   * @returns Number of starts before this one.
   */
  start(worker: number): number {
    return Atomics.add(this.memory.counts, STARTS + worker, 1);
  }

  /**
   * Connects a worker.
   *
   * @param worker Number of the worker, from 0.
   * @param guard Runs a change completely, or not at all.
   * @returns Parameter server of the worker.
   */
  connect(
    worker: number,
    guard: (change: () => void) => void = (change) => change(),
  ): ParameterServer {
    const { counts, passing, params, target, slots, reports } = this.memory;
    const { targetInterval = Infinity } = this.#options, size = params.length;
    const part = (array: Float32Array, length: number, at = worker) =>
      array.subarray(at * length, (at + 1) * length);
    const push = part(this.memory.pushes, size + 1);
    const pushed = push.subarray(0, size), rate = push.subarray(size);
    const state = part(slots, size, Math.min(worker, slots.length / size - 1));
    const descend = compileInPlace(ruleOf(this.#options), {
      memory: this.memory.whole,
      vectors: { params, slots: state, gradient: pushed },
      numbers: { learningRate: rate },
    });
    const seen = { params: -1, target: -1 };
    const changed = (part: keyof typeof VERSIONS) =>
      void Atomics.add(passing, VERSIONS[part], 1);
    return {
      size,
      get steps() {
        return Atomics.load(counts, STEPS);
      },
      claim: () => this.grant(1) > 0,
      step: (count = 1) =>
        guard(() => {
          Atomics.add(counts, STEPS, count);
          passing[TAKEN + worker] += count;
        }),
      pull(into, part) {
        const version = Atomics.load(passing, VERSIONS[part]);
        if (version === seen[part]) return false;
        seen[part] = version;
        into.set(part === "params" ? params : target);
        return true;
      },
      push(gradient, learningRate) {
        pushed.set(gradient);
        rate[0] = learningRate;
        guard(() => {
          descend();
          changed("params");
        });
      },
      syncTarget() {
        const due = Math.floor(this.steps / targetInterval);
        const done = Atomics.load(counts, TARGETS);
        if (due <= done) return;
        // Only one worker copies, if several have passed the multiple.
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

  /** Saves everything; no worker may learn at the time. */
  save(): StateTree {
    return copyArrays(this.#saved());
  }

  /**
   * Restores a saved state.
   *
   * @param state Result of `save`; copied.
   * @throws {RangeError} If its sizes differ.
   */
  load(state: StateTree): void {
    const { passing } = this.memory;
    restoreArrays(this.#saved(), state);
    // Parameters that workers pulled before are outdated.
    for (const at of Object.values(VERSIONS)) Atomics.add(passing, at, 1);
  }

  #saved() {
    const { counts, params, target, slots, reports } = this.memory;
    return { counts, params, target, slots, reports };
  }
}

/**
 * Makes the optimizer's rule: RMSProp `g = a g + (1 - a) d^2`, `theta -= eta d / sqrt(g
 * + epsilon)`, or momentum SGD `m = a m + (1 - a) d`, `theta -= eta m` (section 4,
 * "Optimization").
 */
function ruleOf(options: SharedParametersOptions) {
  const { optimizer, decay, rmspropEpsilon } = options;
  const isRmsprop = optimizer !== "momentum_sgd";
  return (given: Record<string, tf.Tensor>): Record<string, tf.Tensor> => {
    const { params, slots, gradient, learningRate } = given;
    const now = isRmsprop ? tf.square(gradient) : gradient;
    const mean = tf.add(tf.mul(slots, decay), tf.mul(now, 1 - decay));
    const step = isRmsprop
      ? tf.div(gradient, tf.sqrt(tf.add(mean, rmspropEpsilon)))
      : mean;
    return { params: tf.sub(params, tf.mul(step, learningRate)), slots: mean };
  };
}
