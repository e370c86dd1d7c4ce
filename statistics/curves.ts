import { SortedScores } from "./_sorted_scores.ts";
import {
  type BootstrapOptions,
  type CurveEstimate,
  estimateCurve,
} from "./resampling.ts";
import { flatScores, type ScoreMatrix } from "./scores.ts";

/** Options of {@linkcode performanceProfile}. */
export interface ProfileOptions extends BootstrapOptions {
  /**
   * Scores to count: those of all runs, or the tasks' means over their runs.
   *
   * @default "scores"
   */
  of?: "scores" | "tasks";
}

/**
 * Estimates a performance profile: the fraction of scores, or of the tasks' means,
 * strictly above each threshold.
 *
 * @param scores Scores, `[runs][tasks]`.
 * @param thresholds Thresholds, in any order.
 * @param options Scores to count, random numbers and intervals: see
 * {@linkcode ProfileOptions}.
 * @returns Fractions, one for each threshold, with pointwise confidence intervals.
 * @throws {RangeError} If there are no scores, runs have unequal numbers of
 * tasks, a score or threshold is not finite, or an option is out of its range.
 * @example
 * ```ts
 * import { SeededRandom } from "@bellman/envs";
 * import { performanceProfile } from "@bellman/statistics";
 * import { assertEquals } from "@std/assert";
 *
 * const scores = [[0.2, 0.5], [0.4, 1.1]];
 * const { values } = performanceProfile(scores, [0, 0.4, 1], {
 *   random: new SeededRandom(0),
 *   resamples: 100,
 * });
 * assertEquals([...values], [1, 0.5, 0.25]);
 * ```
 */
export function performanceProfile(
  scores: ScoreMatrix,
  thresholds: ArrayLike<number>,
  { of = "scores", ...options }: ProfileOptions,
): CurveEstimate {
  const { data, runs, tasks } = flatScores(scores);
  const { data: limits } = flatScores([thresholds]);
  const sorted = limits.toSorted();
  const places = Array.from(limits, (it) => sorted.indexOf(it));
  /** Number of thresholds below a score. */
  const levelOf = (score: number) =>
    sorted.findLastIndex((it) => it < score) + 1;
  const levels = data.map(levelOf), sums = new Float64Array(tasks);
  const counts = new Float64Array(limits.length + 1);
  const shape = { runs: [runs], tasks, points: limits.length };
  return estimateCurve(shape, (picked, shares) => {
    counts.fill(0);
    if (of === "scores") {
      for (let i = 0; i < picked.length; i++) counts[levels[picked[i]]]++;
    } else {
      sums.fill(0);
      for (let i = 0; i < picked.length; i++) {
        sums[i % tasks] += data[picked[i]];
      }
      for (const sum of sums) counts[levelOf(sum / runs)]++;
    }
    for (let i = limits.length - 1; i > 0; i--) counts[i] += counts[i + 1];
    const total = of === "scores" ? picked.length : tasks;
    places.forEach((place, i) => shares[i] = counts[place + 1] / total);
  }, options);
}

/**
 * Estimates sample efficiency: the interquartile mean at each point of the learning
 * curves. A resample draws whole curves, the same for all points.
 *
 * @param curves Scores along the curves, `[runs][tasks][points]`.
 * @param options Random numbers and intervals: see {@linkcode BootstrapOptions}.
 * @returns Interquartile means, one for each point, with pointwise confidence
 * intervals.
 * @throws {RangeError} If there are no scores, runs have unequal numbers of
 * tasks or curves of points, a score is not finite, or an option is out of its
 * range.
 * @example
 * ```ts
 * import { SeededRandom } from "@bellman/envs";
 * import { sampleEfficiency } from "@bellman/statistics";
 * import { assertEquals } from "@std/assert";
 *
 * // Three runs on one task, evaluated twice.
 * const curves = [[[0, 0.5]], [[0.3, 1]], [[0.3, 0.9]]];
 * const { values, fewRuns } = sampleEfficiency(curves, {
 *   random: new SeededRandom(0),
 *   resamples: 100,
 * });
 * assertEquals([...values].map((it) => it.toFixed(1)), ["0.2", "0.8"]);
 * assertEquals(fewRuns, true);
 * ```
 */
export function sampleEfficiency(
  curves: readonly ScoreMatrix[],
  options: BootstrapOptions,
): CurveEstimate {
  const lengths = new Set(curves.flat().map((it) => it.length));
  const [points = 0] = lengths;
  if (lengths.size > 1 || points === 0) {
    throw new RangeError(
      `Cannot take statistics of curves of ${
        [...lengths].join(" and ") || 0
      } points: expected as many in each, at least 1`,
    );
  }
  const at = Array.from(
    { length: points },
    (_, point) =>
      flatScores(curves.map((run) => run.map((curve) => curve[point]))),
  );
  const sorted = at.map(({ data }) => new SortedScores(data));
  const [{ runs, tasks }] = at;
  return estimateCurve({ runs: [runs], tasks, points }, (picked, means) => {
    for (let point = 0; point < points; point++) {
      means[point] = sorted[point].interquartileMean(picked);
    }
  }, options);
}
