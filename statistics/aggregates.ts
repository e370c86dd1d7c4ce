import { flatScores, type ScoreMatrix } from "./scores.ts";

/** A number that sums up scores of runs (rows) on tasks (columns). */
export type Statistic = (scores: ScoreMatrix) => number;

/**
 * Computes the mean of the tasks' means.
 *
 * @param scores Scores, `[runs][tasks]`.
 * @returns The mean.
 * @throws {RangeError} If there are no scores, runs have unequal numbers of
 * tasks, or a score is not finite.
 * @example
 * ```ts
 * import { mean } from "@bellman/statistics";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(mean([[1, 2], [3, 6]]), 3);
 * ```
 */
export function mean(scores: ScoreMatrix): number {
  return meanOf(flatScores(scores).data);
}

/**
 * Computes the median of the tasks' means.
 *
 * @param scores Scores, `[runs][tasks]`.
 * @returns The median.
 * @throws {RangeError} As {@linkcode mean} does.
 * @example
 * ```ts
 * import { median } from "@bellman/statistics";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(median([[1, 2, 90], [3, 6, 90]]), 4);
 * ```
 */
export function median(scores: ScoreMatrix): number {
  const { data, runs, tasks } = flatScores(scores);
  const means = new Float64Array(tasks);
  for (let i = 0; i < data.length; i++) means[i % tasks] += data[i] / runs;
  means.sort();
  const middle = (tasks - 1) / 2;
  return (means[Math.floor(middle)] + means[Math.ceil(middle)]) / 2;
}

/**
 * Computes the interquartile mean: the mean of the middle half of all scores,
 * whatever their tasks, without `floor(n / 4)` of the `n` scores at each end.
 *
 * @param scores Scores, `[runs][tasks]`.
 * @returns The mean.
 * @throws {RangeError} As {@linkcode mean} does.
 * @example
 * ```ts
 * import { interquartileMean } from "@bellman/statistics";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(interquartileMean([[-90, 2], [4, 700]]), 3);
 * ```
 */
export function interquartileMean(scores: ScoreMatrix): number {
  const { data } = flatScores(scores);
  const cut = Math.floor(data.length / 4);
  return meanOf(data.sort().subarray(cut, data.length - cut));
}

/** Options of {@linkcode optimalityGap}. */
export interface OptimalityGapOptions {
  /**
   * Score that is good enough.
   *
   * @default 1
   */
  target?: number;
}

/**
 * Computes the optimality gap, `target - mean(min(score, target))`: what scores
 * lack of the target on average, where more than the target gains nothing.
 *
 * @param scores Normalized scores, `[runs][tasks]`.
 * @param options Target: see {@linkcode OptimalityGapOptions}.
 * @returns The gap, 0 or more.
 * @throws {RangeError} As {@linkcode mean} does, or if the target is not finite.
 * @example
 * ```ts
 * import { optimalityGap } from "@bellman/statistics";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(optimalityGap([[0.5, 1], [0.5, 7]]), 0.25);
 * ```
 */
export function optimalityGap(
  scores: ScoreMatrix,
  { target = 1 }: OptimalityGapOptions = {},
): number {
  if (!Number.isFinite(target)) {
    throw new RangeError(
      `Cannot measure the gap to ${target}: expected a finite target`,
    );
  }
  const { data } = flatScores(scores);
  return target - meanOf(data.map((it) => Math.min(it, target)));
}

function meanOf(values: Float64Array): number {
  let sum = 0;
  for (const it of values) sum += it;
  return sum / values.length;
}
