import { eloChange, fitRatings } from "@bellman/statistics";
import { checkEach, type Comparison } from "./comparison.ts";

interface OnlineCase {
  k: number;
  initial: number[];
  games: [i: number, j: number, result: number][];
  after: number[][];
}

function online(
  { k, initial, games, after }: OnlineCase,
  comparison: Comparison,
): void {
  const ratings = [...initial];
  const found = games.map(([i, j, result]) => {
    const change = eloChange([ratings[i], ratings[j]], result, { k });
    ratings[i] += change;
    ratings[j] -= change;
    return [result - change / k, change, ratings[i], ratings[j]];
  });
  comparison.numbers("after", found.flat(), after);
}

interface Fit {
  ratings: number[];
  se: number[];
  low: number[];
  high: number[];
}

interface FitCase {
  wins: number[][];
  draws: number[][];
  prior: number;
  anchor: number;
  mean0: Fit;
  anchored: Fit;
  seOfDifferences: number[][];
  likelihoodOfSuperiority: number[][];
  expectedScores: number[][];
}

function fit(it: FitCase, comparison: Comparison): void {
  const { wins, draws, prior } = it;
  for (const form of ["mean0", "anchored"] as const) {
    const anchor = form === "mean0" ? null : it.anchor;
    const found = fitRatings({ wins, draws }, { prior, anchor });
    const [low, high] = [0, 1].map((end) =>
      found.intervals.map((interval) => interval[end])
    );
    const { ratings, standardErrors: se } = found;
    comparison.named({ ratings, se, low, high }, { ...it[form] });
    comparison.named({
      seOfDifferences: found.differenceErrors.flat(),
      likelihoodOfSuperiority: found.superiority.flat(),
      expectedScores: found.expectedScores.flat(),
    }, { ...it } as never);
  }
}

/** Ratings of two-player games: Elo's changes and fits of Bradley and Terry. */
export const runner = checkEach({ online, fits: fit }, 1e-9);
