import { SeededRandom } from "@bellman/envs";
import {
  type BootstrapOptions,
  type CurveEstimate,
  type Estimate,
  interquartileMean,
  mean,
  median,
  optimalityGap,
  performanceProfile,
  probabilityOfImprovement,
  type Resample,
  sampleEfficiency,
  type ScoreMatrix,
  type Statistic,
  stratifiedBootstrap,
} from "@bellman/statistics";
import { checkEach, type Comparison, type Expected } from "./comparison.ts";

const STATISTICS = { mean, median, iqm: interquartileMean, optimalityGap };

/** Numbers by the names of {@linkcode STATISTICS}. */
type ByStatistic<T> = Record<keyof typeof STATISTICS, T>;

/** The interval; of one run, whose resamples are all the same, it has no width. */
const endsOf = ({ value, interval }: Estimate) => interval ?? [value, value];

function compareCurve(
  { values, intervals }: CurveEstimate,
  expected: Record<"point" | "low" | "high", Expected>,
  comparison: Comparison,
): void {
  const [low, high] = [0, 1].map((end) =>
    values.map((value, i) => intervals?.[i][end] ?? value)
  );
  comparison.named({ point: values, low, high }, expected);
}

/** Compares the intervals of all statistics. */
function compareIntervals(
  scores: ScoreMatrix,
  expected: ByStatistic<[number, number]>,
  { comparison, ...options }: BootstrapOptions & { comparison: Comparison },
): void {
  for (const [name, statistic] of Object.entries(STATISTICS)) {
    const found = stratifiedBootstrap(scores, statistic, options);
    const wanted = expected[name as keyof typeof STATISTICS];
    comparison.numbers(name, endsOf(found), wanted);
  }
}

interface MatrixCase {
  scores: ScoreMatrix;
  point: ByStatistic<number>;
  optimalityGapAt: { gamma: number; value: number };
  indices: number[][];
  taskIndices: number[][];
  intervals: Record<string, ByStatistic<[number, number]>>;
  taskBootstrapIntervals: Record<string, ByStatistic<[number, number]>>;
  basicIntervals: Record<string, ByStatistic<[number, number]>>;
  profile: {
    taus: number[];
    scores: Record<"point" | "low" | "high", Expected>;
    taskMeans: Record<"point" | "low" | "high", Expected>;
  };
}

function runMatrix(it: MatrixCase, comparison: Comparison): void {
  const { scores, point, optimalityGapAt: { gamma, value }, profile } = it;
  for (const [name, statistic] of Object.entries(STATISTICS)) {
    const expected = point[name as keyof typeof STATISTICS];
    comparison.numbers(name, statistic(scores), expected);
  }
  const gap = optimalityGap(scores, { target: gamma });
  comparison.numbers("gap to another target", gap, value);
  const random = it.indices.map((runs): Resample => ({ runs }));
  const withTasks = random.map((resample, i) => ({
    ...resample,
    tasks: it.taskIndices[i],
  }));
  for (
    const [intervals, options] of [
      [it.intervals, { random }],
      [it.taskBootstrapIntervals, { random: withTasks }],
      [it.basicIntervals, { random, method: "basic" }],
    ] as const
  ) {
    for (const [level, expected] of Object.entries(intervals)) {
      const given = { ...options, level: Number(level), comparison };
      compareIntervals(scores, expected, given);
    }
  }
  for (
    const [of, expected] of [
      ["scores", profile.scores],
      ["tasks", profile.taskMeans],
    ] as const
  ) {
    const found = performanceProfile(scores, profile.taus, { of, random });
    compareCurve(found, expected, comparison);
  }
}

interface PairCase {
  x: number[][];
  y: number[][];
  probability: number;
  perTask: number[];
  indicesX: number[][];
  indicesY: number[][];
  interval95: [number, number];
}

function runPair(it: PairCase, comparison: Comparison): void {
  const random = it.indicesX.map((indices, i): Resample => ({
    runs: [...indices, ...it.indicesY[i]],
  }));
  const found = probabilityOfImprovement(it.x, it.y, { random });
  comparison.numbers("probability", found.value, it.probability);
  comparison.numbers("interval", endsOf(found), it.interval95);
  const perTask = it.perTask.map((_, task) => {
    const [x, y] = [it.x, it.y].map((rows) => rows.map((row) => [row[task]]));
    const random = new SeededRandom(0);
    return probabilityOfImprovement(x, y, { random, resamples: 1 }).value;
  });
  comparison.numbers("tasks apart", perTask, it.perTask);
}

interface CurveCase {
  scores: number[][][];
  indices: number[][];
  iqm: Expected;
  low: Expected;
  high: Expected;
}

function runCurve(it: CurveCase, comparison: Comparison): void {
  const random = it.indices.map((runs): Resample => ({ runs }));
  const expected = { point: it.iqm, low: it.low, high: it.high };
  compareCurve(sampleEfficiency(it.scores, { random }), expected, comparison);
}

interface DrawnCase {
  scores: ScoreMatrix;
  intervals: ByStatistic<[number, number]>;
}

/** Intervals by random numbers of our own, within 3 % of their widths. */
function runDrawn(it: DrawnCase, comparison: Comparison): void {
  for (const [name, statistic] of Object.entries<Statistic>(STATISTICS)) {
    const random = new SeededRandom(0);
    const found = stratifiedBootstrap(it.scores, statistic, { random });
    const [low, high] = it.intervals[name as keyof typeof STATISTICS];
    const ends = endsOf(found).map((end) => (end - low) / (high - low));
    const off = Math.max(Math.abs(ends[0]), Math.abs(ends[1] - 1));
    comparison.that(`${name} within 3 % of the width`, off < 0.03);
  }
}

/** Numbers of rliable (Agarwal et al. 2021). */
export const runner = checkEach({
  matrices: runMatrix,
  pairs: runPair,
  curves: runCurve,
  montecarlo: runDrawn,
}, 1e-9);
