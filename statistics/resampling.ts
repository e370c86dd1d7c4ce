import type { RandomSource } from "@bellman/types";
import { checkFinite, checkLevel } from "./scores.ts";

/** Options of a stratified bootstrap. */
export interface BootstrapOptions {
  /** Random stream, or given resamples. */
  random: Pick<RandomSource, "uniform"> | readonly Resample[];
  /**
   * Number of resamples.
   *
   * @default 50_000
   */
  resamples?: number;
  /**
   * Confidence level, between 0 and 1.
   *
   * @default 0.95
   */
  level?: number;
  /**
   * Bootstrap method: percentiles of the resamples, or these mirrored at the estimate
   * (`basic`).
   *
   * @default "percentile"
   */
  method?: "percentile" | "basic";
  /**
   * Units to resample: runs, separately for each task, or tasks as well, which
   * generalizes to other tasks of the kind.
   *
   * @default "runs"
   */
  over?: "runs" | "runs and tasks";
}

/** Indices of one resample. */
export interface Resample {
  /**
   * Run index of each score, `[runs, tasks]` row by row; for two matrices those of the
   * first, then those of the second.
   */
  runs: ArrayLike<number>;
  /** Task index of each column, `[tasks]`; the column's own by default. */
  tasks?: ArrayLike<number>;
}

/** Estimate with its bootstrap confidence interval. */
export interface Estimate {
  /** Statistic of all scores. */
  value: number;
  /** Confidence interval; null for a single run, whose resamples are all equal. */
  interval: [low: number, high: number] | null;
  /** True for fewer than 5 runs, whose intervals are too narrow. */
  fewRuns: boolean;
}

/** Estimates along a curve with their bootstrap confidence intervals. */
export interface CurveEstimate {
  /** Statistic of all scores at each point. */
  values: Float64Array;
  /** Confidence interval of each point; null for a single run. */
  intervals: [low: number, high: number][] | null;
  /** True for fewer than 5 runs, whose intervals are too narrow. */
  fewRuns: boolean;
}

/** Score matrices on the same tasks, whose runs are resampled independently. */
export interface Shape {
  /** Number of runs of each matrix. */
  runs: readonly number[];
  tasks: number;
}

/** Fills `indices` with whole numbers, each below its bound. */
type Draw = (indices: Uint32Array, bounds: Uint32Array) => void;

/** Number of runs from which intervals have about their nominal coverage. */
const ENOUGH_RUNS = 5;

/**
 * Makes a fast random index generator: small fast counting (Doty-Humphrey 2010), 32
 * bits for each index, with a bias below 2^-32; inlined since it is called millions of
 * times.
 */
function drawUniform(random: Pick<RandomSource, "uniform">): Draw {
  const word = () => Math.floor(random.uniform() * 2 ** 32) | 0;
  const state = Int32Array.of(word(), word(), word(), word());
  return (indices, bounds) => {
    let [a, b, c, counter] = state;
    for (let i = 0; i < indices.length; i++) {
      const bits = a + b + counter | 0;
      counter = counter + 1 | 0;
      a = b ^ b >>> 9;
      b = c + (c << 3) | 0;
      c = (c << 21 | c >>> 11) + bits | 0;
      indices[i] = (bits >>> 0) * 2 ** -32 * bounds[i];
    }
    state.set([a, b, c, counter]);
  };
}

/** Makes a generator of given indices. */
function drawGiven(positions: ArrayLike<number>): Draw {
  return (indices, bounds) => {
    if (positions.length !== indices.length) {
      throw new RangeError(
        `Cannot resample by ${positions.length} indices: expected ${indices.length}`,
      );
    }
    for (let i = 0; i < indices.length; i++) {
      indices[i] = positions[i];
      if (indices[i] === positions[i] && positions[i] < bounds[i]) continue;
      throw new RangeError(
        `Cannot resample by the index ${
          positions[i]
        }: expected a whole number below ${bounds[i]}`,
      );
    }
  };
}

/**
 * Yields the flat score indices of each resample, where matrices are stacked one below
 * the other.
 */
function* resample(
  { runs, tasks }: Shape,
  { random, resamples = 50_000, over = "runs" }: BootstrapOptions,
): Generator<Uint32Array> {
  const filled = (numbers: readonly number[]) =>
    Uint32Array.from(runs.flatMap((n, i) => Array(n * tasks).fill(numbers[i])));
  const bounds = filled(runs), first = filled([0, runs[0]]);
  const columns = Uint32Array.from({ length: tasks }, (_, task) => task);
  const taskBounds = columns.map(() => tasks), picked = bounds.slice();
  const pick = (drawRuns: Draw, drawTasks?: Draw) => {
    drawTasks?.(columns, taskBounds);
    drawRuns(picked, bounds);
    for (let i = 0, task = 0; i < picked.length; i++) {
      picked[i] = Math.imul(first[i] + picked[i], tasks) + columns[task];
      if (++task === tasks) task = 0;
    }
    return picked;
  };
  if ("uniform" in random) {
    const draw = drawUniform(random);
    const drawTasks = over === "runs" ? undefined : draw;
    for (let i = 0; i < resamples; i++) yield pick(draw, drawTasks);
    return;
  }
  for (const { runs, tasks } of random) {
    yield pick(drawGiven(runs), tasks && drawGiven(tasks));
  }
}

/** Interpolates a quantile of sorted numbers, as numpy does by default. */
function quantileOf(sorted: Float64Array, quantile: number): number {
  const at = quantile * (sorted.length - 1), i = Math.floor(at), part = at - i;
  const low = sorted[i], high = sorted[Math.min(i + 1, sorted.length - 1)];
  return part < 0.5
    ? low + (high - low) * part
    : high - (high - low) * (1 - part);
}

/** Computes a confidence interval from resampled values, which it sorts. */
function intervalOf(
  value: number,
  resampled: Float64Array,
  { level = 0.95, method = "percentile" }: BootstrapOptions,
): [low: number, high: number] {
  // NaN is sorted last.
  const sorted = resampled.sort();
  for (const it of [value, sorted[0], sorted[sorted.length - 1]]) {
    checkFinite(it, "a statistic of a resample");
  }
  const [low, high] = [(1 - level) / 2, (1 + level) / 2]
    .map((it) => quantileOf(sorted, it));
  return method === "percentile"
    ? [low, high]
    : [2 * value - high, 2 * value - low];
}

/** Computes values and their confidence intervals over resamples. */
export function estimateCurve(
  shape: Shape & { points: number },
  compute: (picked: Uint32Array, values: Float64Array) => void,
  options: BootstrapOptions,
): CurveEstimate {
  const { random, resamples = 50_000, level = 0.95 } = options;
  checkLevel(level);
  const count = "uniform" in random ? resamples : random.length;
  if (!Number.isInteger(count) || count < 1) {
    throw new RangeError(
      `Cannot draw ${count} resamples: expected a whole number of at least 1`,
    );
  }
  const { runs, tasks, points } = shape;
  const size = runs.reduce((sum, it) => sum + it) * tasks;
  const values = new Float64Array(points);
  compute(Uint32Array.from({ length: size }, (_, i) => i), values);
  const resampled = Array.from(values, () => new Float64Array(count));
  const ofOne = values.slice();
  let i = 0;
  for (const picked of resample(shape, options)) {
    compute(picked, ofOne);
    for (let k = 0; k < points; k++) resampled[k][i] = ofOne[k];
    i++;
  }
  const intervals = resampled
    .map((it, k) => intervalOf(values[k], it, options));
  const isOne = Math.max(...runs) === 1 &&
    intervals.every(([low, high]) => low === high);
  return {
    values,
    intervals: isOne ? null : intervals,
    fewRuns: Math.min(...runs) < ENOUGH_RUNS,
  };
}

/** Computes a value and its confidence interval over resamples. */
export function estimate(
  shape: Shape,
  compute: (picked: Uint32Array) => number,
  options: BootstrapOptions,
): Estimate {
  const { values: [value], intervals, fewRuns } = estimateCurve(
    { ...shape, points: 1 },
    (picked, values) => values[0] = compute(picked),
    options,
  );
  return { value, interval: intervals?.[0] ?? null, fewRuns };
}
