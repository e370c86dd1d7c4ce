import { drawable, seedBand } from "@bellman/statistics";
import { mean } from "../episodes.ts";

/** Learning curve of one run; points that are not finite are ignored. */
export interface CurveRun {
  /** X coordinates, ascending. */
  readonly x: readonly number[];
  /** Y coordinates. */
  readonly y: readonly number[];
  /** Lower bounds of the run's own band. Ignored if there are several runs. */
  readonly low?: readonly number[];
  /** Upper bounds of the run's own band. Ignored if there are several runs. */
  readonly high?: readonly number[];
}

/**
 * Band over several runs: `ci`, the bootstrapped 95 % confidence interval of the mean;
 * `std`, the mean plus and minus the standard deviation; `iqr`, the quartiles around
 * the median; `range`, lowest to highest; `none`.
 */
export type CurveBand = "ci" | "std" | "iqr" | "range" | "none";

/** Descriptions of line and band of several runs. */
export const BAND_WORDS: Readonly<Record<CurveBand, string>> = {
  ci: "mean of the runs; band: 95 % bootstrap interval of the mean",
  std: "mean of the runs; band: one standard deviation up and down",
  iqr: "median of the runs; band: first to third quartile",
  range: "mean of the runs; band: lowest to highest",
  none: "mean of the runs",
};

/** Line with its band. */
export interface BandedLine {
  x: number[];
  y: number[];
  low?: number[];
  high?: number[];
}

/** Keeps the points whose numbers are all finite. */
export function finitePoints(line: CurveRun): BandedLine {
  const { x, y, low, high } = line;
  const kept = y.map((_, i) => i).filter((i) =>
    [x[i], y[i], low?.[i] ?? 0, high?.[i] ?? 0].every(Number.isFinite)
  );
  return mapLine(line, (values) => kept.map((i) => drawable(values[i])));
}

function mapLine(
  { x, y, low, high }: CurveRun,
  map: (values: readonly number[]) => number[],
): BandedLine {
  return {
    x: map(x),
    y: map(y),
    low: low && map(low),
    high: high && map(high),
  };
}

/** Thins a line to at most `count` points, each the mean of its neighbours. */
export function thin(line: BandedLine, count: number): BandedLine {
  const length = line.x.length;
  if (length <= count) return line;
  return mapLine(line, (values) =>
    Array.from({ length: count }, (_, bin) => {
      const from = Math.floor(bin * length / count);
      const to = Math.floor((bin + 1) * length / count);
      return mean(values.slice(from, to));
    }));
}

/**
 * Smooths a line: each point becomes the mean of those up to `reach` points away; fewer
 * at the ends, symmetrically.
 */
export function smooth(line: BandedLine, reach: number): BandedLine {
  const last = line.y.length - 1;
  const y = line.y.map((_, i) => {
    const near = Math.min(reach, i, last - i);
    return mean(line.y.slice(i - near, i + near + 1));
  });
  return { x: line.x, y };
}

/** Keeps every nth point, so that at most `count` are left. */
export function sampleEvenly(line: BandedLine, count: number): BandedLine {
  const every = Math.ceil(line.x.length / count);
  const keep = (_: number, i: number) => i % every === 0;
  return { x: line.x.filter(keep), y: line.y.filter(keep) };
}

/** Computes centre and bounds of the values of several runs at one x. */
type Spread = (
  values: readonly number[],
) => readonly [center: number, low: number, high: number];

/** Makes the function that computes a band. */
function spreadOf(band: "std" | "iqr" | "range"): Spread {
  return (values) => {
    const sorted = [...values].sort((a, b) => a - b);
    if (band === "iqr") {
      const [low, median, high] = [0.25, 0.5, 0.75]
        .map((it) => quantile(sorted, it));
      return [median, low, high];
    }
    const center = mean(values);
    if (band === "range") return [center, sorted[0], sorted.at(-1)!];
    const std = Math.sqrt(mean(values.map((value) => (value - center) ** 2)));
    return [center, center - std, center + std];
  };
}

/** Interpolates a quantile of sorted values linearly. */
export function quantile(sorted: ArrayLike<number>, part: number): number {
  const at = part * (sorted.length - 1), below = Math.floor(at);
  const next = sorted[Math.min(below + 1, sorted.length - 1)];
  return sorted[below] + (at - below) * (next - sorted[below]);
}

/**
 * Aggregates several runs at common x coordinates, each interpolated linearly. A run is
 * not extrapolated.
 */
export function averageRuns(
  runs: readonly BandedLine[],
  band: CurveBand,
  count: number,
): BandedLine {
  if (band === "ci" || band === "none") {
    const { x, y, low, high } = seedBand(runs, { places: count });
    return band === "ci" ? { x, y, low, high } : { x, y };
  }
  const ends = runs.flatMap(({ x }) => [x[0], x[x.length - 1]]);
  const [from, to] = [Math.min(...ends), Math.max(...ends)];
  const line = { x: [], y: [], low: [], high: [] } as Required<BandedLine>;
  const spread = spreadOf(band);
  for (let i = 0; i < count; i++) {
    const at = from + (to - from) * i / Math.max(1, count - 1);
    const values = runs.map((run) => valueAt(run, at))
      .filter((value) => value !== undefined);
    if (values.length === 0) continue;
    const [center, low, high] = spread(values).map(drawable);
    line.x.push(at);
    line.y.push(center);
    line.low.push(low);
    line.high.push(high);
  }
  return line;
}

/**
 * Interpolates a line linearly at an x coordinate.
 *
 * @param line The line.
 * @param at X coordinate.
 * @returns Y coordinate; undefined outside the line.
 *
 * @example
 * ```ts
 * import { valueAt } from "@bellman/training/plots";
 * import { assertEquals } from "@std/assert";
 *
 * const line = { x: [0, 100], y: [1, 5] };
 * assertEquals([50, 101].map((at) => valueAt(line, at)), [3, undefined]);
 * ```
 */
export function valueAt({ x, y }: CurveRun, at: number): number | undefined {
  const last = x.length - 1;
  // Rounding must not lose the ends.
  const slack = 1e-9 * Math.abs(at);
  if (at < x[0] - slack || at > x[last] + slack) return undefined;
  const next = x.findIndex((it) => it > at);
  if (next <= 0) return y[next === 0 ? 0 : last];
  const weight = (at - x[next - 1]) / (x[next] - x[next - 1]);
  return y[next - 1] * (1 - weight) + y[next] * weight;
}
