import type { Schedule } from "./schedule.ts";

/**
 * Falls by the same factor in each equal part, from 1 to a hundredth.
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
 * Changes by the same factor in each equal part, from 1 to a given multiplier.
 *
 * @param end Multiplier at progress 1, above 0.
 * @returns The schedule `end ** progress`.
 * @throws {RangeError} If the end is not above 0.
 * @example
 * ```ts
 * import { exponentialTo } from "@bellman/schedulers";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(exponentialTo(0.25)(0.5), 0.5);
 * ```
 */
export function exponentialTo(end: number): Schedule {
  if (!(end > 0 && end < Infinity)) {
    throw new RangeError(
      `Cannot fall exponentially to ${end}: expected a number above 0`,
    );
  }
  return (progress) => end ** progress;
}
