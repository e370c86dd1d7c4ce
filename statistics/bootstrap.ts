/**
 * Stratified bootstrap, alone: what needs no other statistics imports this entry.
 *
 * @example
 * ```ts
 * import { RandomStream, seedWords } from "@bellman/random";
 * import { stratifiedBootstrap } from "@bellman/statistics/bootstrap";
 * import { assert } from "@std/assert";
 *
 * const { value, interval } = stratifiedBootstrap(
 *   [[1], [2], [4], [5], [9]],
 *   (rows) => Math.max(...rows.map((row) => row[0])),
 *   { random: new RandomStream(seedWords(0)), resamples: 100 },
 * );
 * assert(value === 9 && interval![1] === 9);
 * ```
 *
 * @module
 */
import { interquartileMean, type Statistic, UNCHECKED } from "./aggregates.ts";
import { SortedScores } from "./_sorted_scores.ts";
import {
  type BootstrapOptions,
  type Estimate,
  estimate,
} from "./resampling.ts";
import { flatScores, type ScoreMatrix } from "./scores.ts";

export type { Statistic } from "./aggregates.ts";
export type { BootstrapOptions, Estimate, Resample } from "./resampling.ts";
export type { ScoreMatrix } from "./scores.ts";

/**
 * Estimates a statistic with a stratified bootstrap confidence interval: for each task,
 * as many scores as it has runs are drawn with replacement.
 *
 * @param scores Scores, `[runs][tasks]`.
 * @param statistic Statistic, such as {@linkcode interquartileMean}, or your own
 * function, which gets the rows of a resample and must not keep them.
 * @param options Random numbers and interval: see {@linkcode BootstrapOptions}.
 * @returns The statistic with its confidence interval.
 * @throws {RangeError} If there are no scores, runs have unequal numbers of
 * tasks, a score or statistic is not finite, or an option is out of its range.
 * @example
 * ```ts
 * import { SeededRandom } from "@bellman/envs";
 * import { optimalityGap, stratifiedBootstrap } from "@bellman/statistics";
 * import { assertEquals } from "@std/assert";
 *
 * const scores = [[-200, -110], [-160, -90], [-180, -100]];
 * const gap = stratifiedBootstrap(
 *   scores,
 *   (it) => optimalityGap(it, { target: -110 }),
 *   { random: new SeededRandom(0), resamples: 1000 },
 * );
 * assertEquals(gap.value, 35);
 * assertEquals(gap.fewRuns, true);
 * ```
 */
export function stratifiedBootstrap(
  scores: ScoreMatrix,
  statistic: Statistic,
  options: BootstrapOptions,
): Estimate {
  const { data, runs, tasks } = flatScores(scores);
  const shape = { runs: [runs], tasks };
  if (statistic === interquartileMean) {
    const sorted = new SortedScores(data);
    return estimate(
      shape,
      (picked) => sorted.interquartileMean(picked),
      options,
    );
  }
  const resample = { data: data.slice(), runs, tasks };
  const rows = Array.from(
    { length: runs },
    (_, run) => resample.data.subarray(run * tasks, (run + 1) * tasks),
  );
  const unchecked = UNCHECKED.get(statistic) ?? (() => statistic(rows));
  return estimate(shape, (picked) => {
    for (let i = 0; i < picked.length; i++) resample.data[i] = data[picked[i]];
    return unchecked(resample);
  }, options);
}
