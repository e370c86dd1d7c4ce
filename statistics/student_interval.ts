import jstat from "jstat";
import { checkLevel, flatScores } from "./scores.ts";

/** Mean with its confidence interval. */
export interface StudentInterval {
  /** Sample mean. */
  mean: number;
  /** Sample standard deviation (`n - 1`); null for a single value. */
  deviation: number | null;
  /** Confidence interval; null for a single value. */
  interval: [low: number, high: number] | null;
}

/**
 * Computes a mean with Student's t confidence interval, which is exact for normally
 * distributed values.
 *
 * @param values Values, at least one.
 * @param options Level.
 * @returns Mean, sample standard deviation and interval.
 * @throws {RangeError} If there are no values, one is not finite, or the level
 * is not between 0 and 1.
 * @example
 * ```ts
 * import { studentInterval } from "@bellman/statistics";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * const { mean, interval } = studentInterval([480, 500, 490]);
 * assertAlmostEquals(mean, 490);
 * assertAlmostEquals(interval![0], 465.2, 0.1);
 * ```
 */
export function studentInterval(
  values: ArrayLike<number>,
  { level = 0.95 }: {
    /**
     * Confidence level, between 0 and 1.
     *
     * @default 0.95
     */
    level?: number;
  } = {},
): StudentInterval {
  checkLevel(level);
  const { data } = flatScores(Array.from(values, (it) => [it]));
  const n = data.length;
  const mean = data.reduce((sum, it) => sum + it, 0) / n;
  if (n === 1) return { mean, deviation: null, interval: null };
  const squares = data.reduce((sum, it) => sum + (it - mean) ** 2, 0);
  const deviation = Math.sqrt(squares / (n - 1));
  const quantile = jstat.studentt.inv((1 + level) / 2, n - 1);
  const half = quantile * deviation / Math.sqrt(n);
  return { mean, deviation, interval: [mean - half, mean + half] };
}
