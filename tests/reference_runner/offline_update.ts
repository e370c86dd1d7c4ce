import { Dataset } from "@bellman/buffers/datasets";
import type { Comparison, Expected, FixtureRunner } from "./comparison.ts";

interface DataCase {
  inputs: {
    episode_lengths: number[];
    observations: number[][];
    rewards: number[];
    gamma: number;
    best_fraction: number;
  };
  expected: Record<string, Expected>;
}

/** Expected numbers have 12 digits. */
const FLOAT64 = 1e-9;

/** Makes a data set of the case's episodes, whose last observations are not given. */
function datasetOf({ inputs }: DataCase, bestFraction: number): Dataset {
  const { episode_lengths, observations, rewards, gamma } = inputs;
  let end = 0;
  const episodes = episode_lengths.map((steps) => {
    const start = end;
    end += steps;
    const seen = observations.slice(start, end);
    const ends = new Uint8Array(steps);
    ends[steps - 1] = 1;
    return {
      observations: Float32Array.from([...seen, seen[0]].flat()),
      actions: new Int32Array(steps),
      rewards: rewards.slice(start, end),
      terminations: ends,
      truncations: new Uint8Array(steps),
    };
  });
  return new Dataset(episodes, {
    observationSpace: {
      type: "box",
      shape: [observations[0].length],
      low: -Infinity,
      high: Infinity,
      dtype: "float32",
    },
    actionSpace: { type: "discrete", n: 1 },
    holdout: 0,
    bestFraction,
    gamma,
  });
}

/** Returns, the best episodes and the statistics of observations. */
function runData(it: DataCase, comparison: Comparison): void {
  const all = datasetOf(it, 1);
  const best = datasetOf(it, it.inputs.best_fraction);
  const { mean, deviation } = all.observationStatistics;
  comparison.tolerance = FLOAT64;
  comparison.named({
    returns: all.returns,
    discounted_returns: all.discountedReturns,
    best_episodes: best.training.episodes,
    reward_scale_by_return_range: all.rewardScale,
    observation_mean: mean as Float64Array,
    observation_std_plus_eps: (deviation as Float64Array).map((x) => x + 1e-3),
  }, it.expected);
}

/** What learning from recorded data computes: the data's own numbers. */
export const runner: FixtureRunner = async (fixture, comparison) => {
  await comparison.check("data", () => runData(fixture.data, comparison));
};
