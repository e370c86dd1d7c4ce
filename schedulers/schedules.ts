/**
 * Multiplier as a function of progress.
 *
 * Progress is 0 at the start, 1 at the planned end, and may go beyond; a learning rate
 * is its initial value times the multiplier.
 */
export type Schedule = (progress: number) => number;

/** Value as a function of the step, counted from 0. */
export type StepSchedule = (step: number) => number;

/**
 * Stays at 1.
 *
 * Source: baselines/a2c/utils.py, `constant`.
 *
 * @param _progress Fraction of the whole; unused.
 * @returns 1
 * @example
 * ```ts
 * import { constant } from "@bellman/schedulers";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(constant(0.3), 1);
 * ```
 */
export function constant(_progress: number): number {
  return 1;
}

/**
 * Falls linearly from 1 to 0 and stays there: the last update of a run may begin beyond
 * the planned end, and a learning rate must not be negative.
 *
 * Source: baselines/a2c/utils.py, `linear`, which falls below 0; `linearDecay(1, 0, 1)`
 * does that.
 *
 * @param progress Fraction of the whole.
 * @returns `1 - progress`, at least 0
 * @example
 * ```ts
 * import { linear } from "@bellman/schedulers";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals([linear(0), linear(0.25), linear(1), linear(1.5)], [
 *   1,
 *   0.75,
 *   0,
 *   0,
 * ]);
 * ```
 */
export function linear(progress: number): number {
  return Math.max(1 - progress, 0);
}

/**
 * Falls twice as fast as {@linkcode linear} and then stays at 0.125.
 *
 * Source: baselines/a2c/utils.py, `double_linear_con`.
 *
 * @param progress Fraction of the whole.
 * @returns `1 - 2 progress`, at least 0.125
 * @example
 * ```ts
 * import { doubleLinearCon } from "@bellman/schedulers";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(doubleLinearCon(0.25), 0.5);
 * assertEquals(doubleLinearCon(0.9), 0.125);
 * ```
 */
export function doubleLinearCon(progress: number): number {
  return Math.max(1 - 2 * progress, 0.125);
}

/**
 * Falls like {@linkcode linear} to 0.75 and then drops to a tenth of it.
 *
 * Source: baselines/a2c/utils.py, `middle_drop`.
 *
 * @param progress Fraction of the whole.
 * @returns `1 - progress`, or 0.075 where that is below 0.75
 * @example
 * ```ts
 * import { middleDrop } from "@bellman/schedulers";
 * import { assertAlmostEquals, assertEquals } from "@std/assert";
 *
 * assertEquals(middleDrop(0.25), 0.75);
 * assertAlmostEquals(middleDrop(0.26), 0.075);
 * ```
 */
export function middleDrop(progress: number): number {
  const left = 1 - progress;
  return left < 0.75 ? 0.75 * 0.1 : left;
}

/**
 * Drops like {@linkcode middleDrop}, then stays at 0.125 for the last quarter: a rise,
 * as in the original.
 *
 * Source: baselines/a2c/utils.py, `double_middle_drop`.
 *
 * @param progress Fraction of the whole.
 * @returns `1 - progress`; 0.075 where that is below 0.75; 0.125 below 0.25
 * @example
 * ```ts
 * import { doubleMiddleDrop } from "@bellman/schedulers";
 * import { assertAlmostEquals, assertEquals } from "@std/assert";
 *
 * assertEquals(doubleMiddleDrop(0.25), 0.75);
 * assertAlmostEquals(doubleMiddleDrop(0.5), 0.075);
 * assertEquals(doubleMiddleDrop(0.8), 0.125);
 * ```
 */
export function doubleMiddleDrop(progress: number): number {
  return 1 - progress < 0.25 ? 0.25 * 0.5 : middleDrop(progress);
}

/**
 * Changes linearly from one value to another and continues at that rate after the last
 * step, unclamped as in the original. `linearDecay(1, 0, 1)` of progress is baselines'
 * `linear`; {@linkcode linear} stays at 0.
 *
 * Source: jrobine/actor-critic, linear decay.
 *
 * @param start Value at step 0.
 * @param end Value at the last step.
 * @param totalSteps The last step, above 0.
 * @returns The schedule by steps.
 * @throws {RangeError} If the number of steps is not above 0.
 * @example
 * ```ts
 * import { linearDecay } from "@bellman/schedulers";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals([0, 4, 8, 10].map(linearDecay(8, 0, 8)), [8, 4, 0, -2]);
 * ```
 */
export function linearDecay(
  start: number,
  end: number,
  totalSteps: number,
): StepSchedule {
  if (!(totalSteps > 0)) {
    throw new RangeError(
      `Cannot decay over ${totalSteps} steps: expected a number above 0`,
    );
  }
  return (step) => (start - end) * (1 - step / totalSteps) + end;
}

/**
 * Changes linearly from the initial to the final value, then stays there.
 *
 * Source: baselines/common/schedules.py, `LinearSchedule`.
 *
 * @param options Initial and final value, number of steps.
 * @returns The schedule by steps.
 * @throws {RangeError} If the number of steps is not above 0.
 * @example
 * ```ts
 * import { clampedLinear } from "@bellman/schedulers";
 * import { assertEquals } from "@std/assert";
 *
 * // Exploration from 1 to 0.5 in a hundred steps.
 * const exploration = clampedLinear({ numSteps: 100, final: 0.5 });
 * assertEquals([0, 50, 100, 1000].map(exploration), [1, 0.75, 0.5, 0.5]);
 * ```
 */
export function clampedLinear(options: {
  /** Steps until the final value is reached, above 0. */
  readonly numSteps: number;
  /** Final value. */
  readonly final: number;
  /**
   * Initial value.
   *
   * @default 1
   */
  readonly initial?: number;
}): StepSchedule {
  const { numSteps, final, initial = 1 } = options;
  if (!(numSteps > 0)) {
    throw new RangeError(
      `Cannot change over ${numSteps} steps: expected a number above 0`,
    );
  }
  return (step) => initial + Math.min(step / numSteps, 1) * (final - initial);
}

/**
 * Falls from 1 to 0 along half a cosine; clamped to progress 0 to 1, so that it never
 * rises again.
 *
 * Source: Loshchilov and Hutter 2017 (https://arxiv.org/abs/1608.03983), equation 5,
 * without restarts.
 *
 * @param progress Fraction of the whole.
 * @returns `(1 + cos(pi progress)) / 2`
 * @example
 * ```ts
 * import { cosine } from "@bellman/schedulers";
 * import { assertAlmostEquals, assertEquals } from "@std/assert";
 *
 * assertAlmostEquals(cosine(0.5), 0.5);
 * assertEquals(cosine(2), 0);
 * ```
 */
export function cosine(progress: number): number {
  const inside = Math.min(Math.max(progress, 0), 1);
  return (1 + Math.cos(Math.PI * inside)) / 2;
}

/**
 * Falls exponentially from 1 to 0.01.
 *
 * @param progress Fraction of the whole.
 * @returns `0.01 ** progress`
 * @example
 * ```ts
 * import { exponential } from "@bellman/schedulers";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * assertAlmostEquals(exponential(0.5), 0.1);
 * ```
 */
export function exponential(progress: number): number {
  return 0.01 ** progress;
}

/**
 * Multiplies a schedule by a constant.
 *
 * @param schedule The schedule.
 * @param factor The constant.
 * @returns The scaled schedule.
 * @example
 * ```ts
 * import { linear, scale } from "@bellman/schedulers";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(scale(linear, 4)(0.5), 2);
 * ```
 */
export function scale(schedule: Schedule, factor: number): Schedule {
  return (progress) => factor * schedule(progress);
}

/**
 * Interpolates linearly between points. Two points at the same step are a jump: the
 * second one's value holds there. The last point's step is already outside, as in the
 * original.
 *
 * Source: baselines/common/schedules.py, `PiecewiseSchedule`.
 *
 * @param points Pairs `[step, value]` in order of their steps.
 * @param options Value outside the points.
 * @returns The schedule by steps.
 * @throws {RangeError} If the steps are not in order; when called, if the step is
 * outside the points and `outside` is missing.
 * @example
 * ```ts
 * import { piecewise } from "@bellman/schedulers";
 * import { assertEquals, assertThrows } from "@std/assert";
 *
 * const points = [[0, 1], [10, 0.5], [30, 0.25]] as const;
 * const rate = piecewise(points, { outside: 0.25 });
 * assertEquals([0, 5, 10, 20, 99].map(rate), [1, 0.75, 0.5, 0.375, 0.25]);
 * assertThrows(() => piecewise(points)(99), RangeError, "step 99");
 *
 * const drop = piecewise([[0, 1], [10, 1], [10, 0.1], [20, 0.1]]);
 * assertEquals([9, 10].map(drop), [1, 0.1]);
 * ```
 */
export function piecewise(
  points: readonly (readonly [step: number, value: number])[],
  options: {
    /**
     * Value before the first point and from the last point on; without it such steps
     * throw.
     *
     * @default undefined
     */
    readonly outside?: number;
  } = {},
): StepSchedule {
  for (let i = 1; i < points.length; i++) {
    if (points[i][0] >= points[i - 1][0]) continue;
    throw new RangeError(
      `Cannot put a point at step ${points[i][0]} after one at step ${
        points[i - 1][0]
      }: steps must not fall`,
    );
  }
  return (step) => {
    for (let i = 1; i < points.length; i++) {
      const [left, valueLeft] = points[i - 1];
      const [right, valueRight] = points[i];
      if (step < left || step >= right) continue;
      const share = (step - left) / (right - left);
      return valueLeft + share * (valueRight - valueLeft);
    }
    if (options.outside !== undefined) return options.outside;
    throw new RangeError(
      `Cannot compute the value at step ${step}: it lies outside the points and no outside value was given`,
    );
  };
}

/**
 * Rises linearly to the first value of a schedule, then follows it over the rest.
 *
 * @param schedule Schedule after the warmup; it sees progress 0 to 1.
 * @param options Length and start of the warmup.
 * @returns The schedule with its warmup.
 * @throws {RangeError} If the fraction lies outside its range.
 * @example
 * ```ts
 * import { linear, warmup } from "@bellman/schedulers";
 * import { assertEquals } from "@std/assert";
 *
 * const schedule = warmup(linear, { fraction: 0.5 });
 * assertEquals([0, 0.25, 0.5, 0.75, 1].map(schedule), [0, 0.5, 1, 0.5, 0]);
 * ```
 */
export function warmup(
  schedule: Schedule,
  options: {
    /**
     * Length of the warmup, as a fraction of the run, above 0 and below 1.
     *
     * @default 0.05
     */
    readonly fraction?: number;
    /**
     * Multiplier at progress 0.
     *
     * @default 0
     */
    readonly start?: number;
  } = {},
): Schedule {
  const { fraction = 0.05, start = 0 } = options;
  if (!(fraction > 0 && fraction < 1)) {
    throw new RangeError(
      `Cannot warm up for a fraction of ${fraction}: expected one between 0 and 1`,
    );
  }
  return (progress) => {
    if (progress >= fraction) {
      return schedule((progress - fraction) / (1 - fraction));
    }
    return start + (schedule(0) - start) * progress / fraction;
  };
}

/** Name of a schedule, for {@linkcode schedule}. */
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

/** Names of all schedules. */
export const scheduleNames: readonly ScheduleName[] = Object.keys(
  SCHEDULES,
) as ScheduleName[];

/**
 * Returns a schedule by its name in configurations.
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
 *   "Unknown schedule 'liner': expected one of constant, linear",
 * );
 * ```
 */
export function schedule(name: ScheduleName): Schedule {
  if (Object.hasOwn(SCHEDULES, name)) return SCHEDULES[name];
  throw new RangeError(
    `Unknown schedule '${name}': expected one of ${scheduleNames.join(", ")}`,
  );
}

/** Saved state of a {@linkcode Scheduler}. */
export type SchedulerState = {
  /** Values returned so far. */
  steps: number;
};

/**
 * Value that follows a schedule: each read returns the next one.
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
  constructor(options: {
    /** Initial value, such as a learning rate, which the multipliers scale. */
    readonly value: number;
    /** Planned number of values, after which progress is 1. */
    readonly numValues: number;
    /** Multiplier by progress. */
    readonly schedule: Schedule;
  }) {
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

  /** Number of values returned so far. */
  get steps(): number {
    return this.#steps;
  }

  /**
   * Returns the current value and advances the schedule.
   *
   * @returns The value.
   */
  value(): number {
    return this.valueAt(this.#steps++);
  }

  /**
   * Returns the value after a number of steps, without advancing the schedule.
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
   * @returns Plain data.
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

/**
 * Makes a value, such as a learning rate, follow a schedule over the steps of a run.
 *
 * @param value Initial value.
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
  { schedule: name, totalTimesteps }: {
    /** Name of the schedule. */
    readonly schedule: ScheduleName;
    /** Environment steps of the run. */
    readonly totalTimesteps: number;
  },
): (steps: number) => number {
  const scheduler = new Scheduler({
    value,
    numValues: totalTimesteps,
    schedule: schedule(name),
  });
  return (steps) => scheduler.valueAt(steps);
}
