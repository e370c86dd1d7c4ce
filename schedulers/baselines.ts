/**
 * Stays at 1.
 *
 * Source: baselines/a2c/utils.py, `constant`.
 *
 * @param _progress Fraction of the whole; left alone.
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
 * Falls evenly from 1 to 0 and then stays there, as a learning rate below 0
 * would climb: the last update of a run may begin beyond the planned end.
 *
 * Source: baselines/a2c/utils.py, `linear`, which falls on below 0; that form
 * is `linearDecay(1, 0, 1)`.
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
 * Drops like {@linkcode middleDrop}, and in the last quarter is at 0.125: the
 * original's second drop is a rise, and is kept as it is.
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
