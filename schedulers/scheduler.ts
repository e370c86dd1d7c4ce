import type { Schedule } from "./schedule.ts";

/** What a {@linkcode Scheduler} is made of. */
export interface SchedulerOptions {
  /** Value that the multipliers are applied to, such as a learning rate. */
  readonly value: number;
  /** How many values are planned: progress 1 is reached after them. */
  readonly numValues: number;
  /** Multiplier by progress. */
  readonly schedule: Schedule;
}

/** What a {@linkcode Scheduler} saves. */
export type SchedulerState = {
  /** Values given so far. */
  steps: number;
};

/**
 * A value that changes each time that it is asked for.
 *
 * Source: baselines/a2c/utils.py, `Scheduler`.
 *
 * @example
 * ```ts
 * import { linear, Scheduler } from "@bellman/schedulers";
 * import { assertEquals } from "@std/assert";
 *
 * const rate = new Scheduler({ value: 8, numValues: 4, schedule: linear });
 * assertEquals([rate.value(), rate.value()], [8, 6]);
 *
 * const resumed = new Scheduler({ value: 8, numValues: 4, schedule: linear });
 * resumed.load(rate.save());
 * assertEquals(resumed.value(), 4);
 * assertEquals(resumed.valueAt(3), 2);
 * ```
 */
export class Scheduler {
  readonly #value: number;
  readonly #numValues: number;
  readonly #schedule: Schedule;
  #steps = 0;

  /**
   * Makes a scheduler that has given no value yet.
   *
   * @param options First value, number of values, schedule.
   * @throws {RangeError} If the number of values is not above 0.
   */
  constructor(options: SchedulerOptions) {
    const { value, numValues, schedule } = options;
    if (!(numValues > 0)) {
      throw new RangeError(
        `Cannot schedule ${numValues} values: expected a number above 0`,
      );
    }
    this.#value = value;
    this.#numValues = numValues;
    this.#schedule = schedule;
  }

  /** Values given so far. */
  get steps(): number {
    return this.#steps;
  }

  /**
   * The present value; the next call gives the next one.
   *
   * @returns The value.
   */
  value(): number {
    return this.valueAt(this.#steps++);
  }

  /**
   * The value at a step; the count stays as it is.
   *
   * @param steps How many values come before it.
   * @returns The value.
   */
  valueAt(steps: number): number {
    return this.#value * this.#schedule(steps / this.#numValues);
  }

  /**
   * How many values were given.
   *
   * @returns Plain data, owned by the caller.
   */
  save(): SchedulerState {
    return { steps: this.#steps };
  }

  /**
   * Continues from what {@link save} gave.
   *
   * @param state The count.
   * @throws {TypeError} If there is no whole count of at least 0 in it.
   */
  load(state: SchedulerState): void {
    const steps = state?.steps;
    if (!Number.isSafeInteger(steps) || steps < 0) {
      throw new TypeError(
        `Cannot continue a schedule at step ${steps}: expected a whole number of at least 0`,
      );
    }
    this.#steps = steps;
  }
}
