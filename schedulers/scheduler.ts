import { closest } from "fastest-levenshtein";
import {
  constant,
  cosine,
  doubleLinearCon,
  doubleMiddleDrop,
  exponential,
  linear,
  middleDrop,
  type Schedule,
} from "./schedules.ts";

/** Names that {@linkcode schedule} knows. */
export type ScheduleName =
  | "constant"
  | "linear"
  | "double_linear_con"
  | "middle_drop"
  | "double_middle_drop"
  | "cosine"
  | "exponential";

const SCHEDULES: Readonly<Record<ScheduleName, Schedule>> = {
  constant,
  linear,
  double_linear_con: doubleLinearCon,
  middle_drop: middleDrop,
  double_middle_drop: doubleMiddleDrop,
  cosine,
  exponential,
};

/** List of the names that {@linkcode schedule} knows. */
export const scheduleNames: readonly ScheduleName[] = Object.keys(
  SCHEDULES,
) as ScheduleName[];

/**
 * Finds a schedule by the name that configurations give it.
 *
 * @param name Name of the schedule.
 * @returns The schedule.
 * @throws {RangeError} If there is none of that name, with the nearest one.
 * @example
 * ```ts
 * import { linear, schedule } from "@bellman/schedulers";
 * import { assertEquals, assertThrows } from "@std/assert";
 *
 * assertEquals(schedule("linear"), linear);
 * assertThrows(
 *   () => schedule("liner" as "linear"),
 *   RangeError,
 *   "Unknown schedule 'liner': did you mean 'linear'?",
 * );
 * ```
 */
export function schedule(name: ScheduleName): Schedule {
  if (Object.hasOwn(SCHEDULES, name)) return SCHEDULES[name];
  throw new RangeError(
    `Unknown schedule '${name}': did you mean '${
      closest(String(name), scheduleNames)
    }'?`,
  );
}

/** Options of {@linkcode Scheduler}. */
export interface SchedulerOptions {
  /** Value that the multipliers are applied to, such as a learning rate. */
  readonly value: number;
  /** Planned number of values: progress 1 is reached after them. */
  readonly numValues: number;
  /** Multiplier by progress. */
  readonly schedule: Schedule;
}

/** Saved state of a {@linkcode Scheduler}. */
export type SchedulerState = {
  /** Values returned so far. */
  steps: number;
};

/**
 * Value that changes each time it is read.
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
   * Creates a scheduler at its first value.
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

  /** Values returned so far. */
  get steps(): number {
    return this.#steps;
  }

  /**
   * Returns the current value; the next call returns the next one.
   *
   * @returns The value.
   */
  value(): number {
    return this.valueAt(this.#steps++);
  }

  /**
   * Returns the value at a step; the count stays as it is.
   *
   * @param steps Number of values before it.
   * @returns The value.
   */
  valueAt(steps: number): number {
    return this.#value * this.#schedule(steps / this.#numValues);
  }

  /**
   * Saves the number of values returned so far.
   *
   * @returns Plain data, owned by the caller.
   */
  save(): SchedulerState {
    return { steps: this.#steps };
  }

  /**
   * Restores a state that {@link save} returned.
   *
   * @param state The count.
   * @throws {TypeError} If it does not hold a whole count of at least 0.
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

/** Options of {@linkcode scheduledOverRun}. */
export interface ScheduledOverRunOptions {
  /** Name of the schedule. */
  readonly schedule: ScheduleName;
  /** Environment steps of the whole run. */
  readonly totalTimesteps: number;
}

/**
 * Makes a value, such as a learning rate, that follows a schedule over the steps of
 * a run.
 *
 * @param value The value that the schedule's multipliers are applied to.
 * @param options Schedule and length of the run.
 * @returns The value as a function of the steps so far.
 * @throws {RangeError} If there is no such schedule, or the run has no steps.
 *
 * @example
 * ```ts
 * import { scheduledOverRun } from "@bellman/schedulers";
 * import { assertEquals } from "@std/assert";
 *
 * const rate = scheduledOverRun(8, { schedule: "linear", totalTimesteps: 100 });
 * assertEquals([rate(0), rate(25)], [8, 6]);
 * ```
 */
export function scheduledOverRun(
  value: number,
  { schedule: name, totalTimesteps }: ScheduledOverRunOptions,
): (steps: number) => number {
  const scheduler = new Scheduler({
    value,
    numValues: totalTimesteps,
    schedule: schedule(name),
  });
  return (steps) => scheduler.valueAt(steps);
}
