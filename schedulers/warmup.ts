import type { Schedule } from "./schedule.ts";

/** Options of {@linkcode warmup}. */
export interface WarmupOptions {
  /**
   * Fraction of the whole that is spent rising, above 0 and below 1.
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
}

/**
 * Rises evenly to the first value of a schedule, which then has the rest of
 * the whole.
 *
 * @param schedule What follows; it sees progress 0 to 1.
 * @param options How long the rise is and where it starts.
 * @returns The schedule with a rise before it.
 * @throws {RangeError} If the fraction lies outside of its range.
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
  options: WarmupOptions = {},
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
