import { flatScores, type ScoreMatrix, type Scores } from "./scores.ts";

/** Aggregate of the scores of runs (rows) on tasks (columns). */
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
  return meanOf(flatScores(scores));
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
  return medianOf(flatScores(scores));
}

/**
 * Computes the interquartile mean (IQM): the mean of the middle half of all scores over
 * runs and tasks, without the lowest and highest `floor(n / 4)` of `n` scores.
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
  const middle = data.sort().subarray(cut, data.length - cut);
  return sumOf(middle) / middle.length;
}

/** Options of {@linkcode optimalityGap}. */
export interface OptimalityGapOptions {
  /**
   * Target score.
   *
   * @default 1
   */
  target?: number;
}

/**
 * Computes the optimality gap, `target - mean(min(score, target))`: the mean shortfall
 * from the target, where scores above it count as the target.
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
  return gapOf(flatScores(scores), target);
}

function sumOf(values: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i];
  return sum;
}

function meanOf({ data }: Scores): number {
  return sumOf(data) / data.length;
}

function medianOf({ data, runs, tasks }: Scores): number {
  const sums = new Float64Array(tasks);
  for (let i = 0; i < data.length; i++) sums[i % tasks] += data[i];
  sums.sort();
  const middle = (tasks - 1) / 2;
  return (sums[Math.floor(middle)] + sums[Math.ceil(middle)]) / 2 / runs;
}

function gapOf({ data }: Scores, target: number): number {
  let sum = 0;
  for (let i = 0; i < data.length; i++) sum += Math.min(data[i], target);
  return target - sum / data.length;
}

/** Statistics without checks that scores are finite, for resamples. */
export const UNCHECKED: ReadonlyMap<Statistic, (scores: Scores) => number> =
  new Map<Statistic, (scores: Scores) => number>([
    [mean, meanOf],
    [median, medianOf],
    [optimalityGap, (scores) => gapOf(scores, 1)],
  ]);
