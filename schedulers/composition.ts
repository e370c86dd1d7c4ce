import type { Schedule } from "./schedules.ts";

/**
 * Multiplies a schedule by a number.
 *
 * @param schedule The schedule.
 * @param factor The number.
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
 * Multiplies schedules.
 *
 * @param schedules The factors; 1 if there is none.
 * @returns Their product.
 * @example
 * ```ts
 * import { linear, product } from "@bellman/schedulers";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(product(linear, linear)(0.5), 0.25);
 * ```
 */
export function product(...schedules: readonly Schedule[]): Schedule {
  return (progress) => schedules.reduce((value, it) => value * it(progress), 1);
}

/** Limits of {@linkcode clamp}. */
export interface ClampOptions {
  /**
   * Smallest multiplier.
   *
   * @default 0
   */
  readonly minimum?: number;
  /**
   * Largest multiplier.
   *
   * @default Infinity
   */
  readonly maximum?: number;
}

/**
 * Keeps a schedule's multipliers inside of limits.
 *
 * @param schedule The schedule.
 * @param options The limits.
 * @returns The limited schedule.
 * @throws {RangeError} If the minimum is above the maximum.
 * @example
 * ```ts
 * import { clamp, linear } from "@bellman/schedulers";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(clamp(linear, { minimum: 0.1 })(1.5), 0.1);
 * assertEquals(clamp(linear, { maximum: 0.5 })(0.25), 0.5);
 * ```
 */
export function clamp(
  schedule: Schedule,
  options: ClampOptions = {},
): Schedule {
  const { minimum = 0, maximum = Infinity } = options;
  if (!(minimum <= maximum)) {
    throw new RangeError(
      `Cannot clamp between ${minimum} and ${maximum}: the first must not be above the second`,
    );
  }
  return (progress) => Math.min(Math.max(schedule(progress), minimum), maximum);
}

/** Part of a {@linkcode sequence}. */
export interface SequencePart {
  /** Progress of the whole at which the part ends. */
  readonly until: number;
  /** Schedule of the part; it sees progress 0 to 1. */
  readonly schedule: Schedule;
}

/**
 * Joins schedules one after another; before the start the first continues, after the
 * end the last.
 *
 * @param parts The parts, by growing ends; each starts where the one before
 * ends, the first at 0.
 * @returns The sequence.
 * @throws {RangeError} If there is no part, or if the ends do not grow from 0.
 * @example
 * ```ts
 * import { constant, linear, sequence } from "@bellman/schedulers";
 * import { assertEquals } from "@std/assert";
 *
 * const schedule = sequence([
 *   { until: 0.5, schedule: constant },
 *   { until: 1, schedule: linear },
 * ]);
 * assertEquals([0.25, 0.5, 0.75, 1].map(schedule), [1, 1, 0.5, 0]);
 * ```
 */
export function sequence(parts: readonly SequencePart[]): Schedule {
  if (parts.length === 0) {
    throw new RangeError("Cannot make a sequence of 0 parts: expected some");
  }
  const starts = [0, ...parts.map((it) => it.until)];
  parts.forEach(({ until }, i) => {
    if (until > starts[i]) return;
    throw new RangeError(
      `Cannot end part ${i} of a sequence at ${until}: it starts at ${
        starts[i]
      }`,
    );
  });
  return (progress) => {
    const found = parts.findIndex((it) => progress < it.until);
    const i = found < 0 ? parts.length - 1 : found;
    const { until, schedule } = parts[i];
    return schedule((progress - starts[i]) / (until - starts[i]));
  };
}
