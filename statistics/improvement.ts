import {
  type BootstrapOptions,
  type Estimate,
  estimate,
} from "./resampling.ts";
import { flatScores, type ScoreMatrix } from "./scores.ts";

/**
 * Estimates the probability of improvement: that a run of X scores higher than a run of
 * Y, over all pairs of runs, with ties counted one half (Mann and Whitney 1947),
 * averaged over tasks. Resamples of X and Y are independent.
 *
 * @param x Scores of X, `[runs][tasks]`.
 * @param y Scores of Y on the same tasks; the number of runs may differ.
 * @param options Random numbers and interval: see {@linkcode BootstrapOptions}.
 * @returns The probability with its confidence interval.
 * @throws {RangeError} If there are no scores, runs have unequal numbers of
 * tasks, a score is not finite, or an option is out of its range.
 * @example
 * ```ts
 * import { SeededRandom } from "@bellman/envs";
 * import { probabilityOfImprovement } from "@bellman/statistics";
 * import { assertEquals } from "@std/assert";
 *
 * const { value } = probabilityOfImprovement([[3], [5]], [[3], [1]], {
 *   random: new SeededRandom(0),
 *   resamples: 100,
 * });
 * assertEquals(value, (0.5 + 3) / 4);
 * ```
 */
export function probabilityOfImprovement(
  x: ScoreMatrix,
  y: ScoreMatrix,
  options: BootstrapOptions,
): Estimate {
  for (const scores of [x, y]) flatScores(scores);
  const { data, tasks } = flatScores([...x, ...y]);
  const runs = [x.length, y.length], ofX = x.length * tasks;
  return estimate({ runs, tasks }, (picked) => {
    let wins = 0;
    for (let i = 0; i < ofX; i++) {
      const score = data[picked[i]];
      for (let j = ofX + i % tasks; j < picked.length; j += tasks) {
        const other = data[picked[j]];
        if (score > other) wins += 2;
        else if (score === other) wins += 1;
      }
    }
    return wins / 2 / (ofX * y.length);
  }, options);
}
