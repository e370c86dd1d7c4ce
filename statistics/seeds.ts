import { mixedBits } from "@bellman/random";
import type { Estimate } from "./resampling.ts";
import { flatScores } from "./scores.ts";
import { drawable } from "./ticks.ts";

/** Aggregate over runs: mean, or interquartile mean. */
export type SeedCenter = "mean" | "iqm";

/** Options of {@linkcode seedInterval}. */
export interface SeedIntervalOptions {
  /**
   * Aggregate.
   *
   * @default "mean"
   */
  center?: SeedCenter;
}

/** Largest number of runs whose resamples are enumerated, and number of resamples for more. */
const EXACT_RUNS = 6, RESAMPLES = 2000;
/**
 * Quantiles of a 95 % interval, and number of runs from which it has about its nominal
 * coverage.
 */
const ENDS = [0.025, 0.975], ENOUGH_RUNS = 5;

/** Resamples of sorted values. */
interface Draws {
  /** Counts of each value, one resample after the other. */
  counts: Uint16Array[];
  /** Probability of each resample, if not uniform. */
  weights?: number[];
}

const drawsOfCount = new Map<number, Draws>();

/** Lists the resamples of some values, deterministically. */
function drawsOf(count: number): Draws {
  let draws = drawsOfCount.get(count);
  if (draws === undefined) {
    draws = count <= EXACT_RUNS ? allDraws(count) : someDraws(count);
    drawsOfCount.set(count, draws);
  }
  return draws;
}

function allDraws(count: number): Draws {
  const counts: Uint16Array[] = [], weights: number[] = [];
  const chosen = new Uint16Array(count);
  /** Chooses the counts of the values from an index on, for `left` more draws. */
  const choose = (place: number, left: number, weight: number) => {
    if (place === count - 1) {
      chosen[place] = left;
      counts.push(chosen.slice());
      weights.push(weight / count ** count);
      return;
    }
    // Number of ways to draw this value `times` times among those left.
    let ways = 1;
    for (let times = 0; times <= left; times++) {
      chosen[place] = times;
      choose(place + 1, left - times, weight * ways);
      ways = ways * (left - times) / (times + 1);
    }
  };
  choose(0, count, 1);
  return { counts, weights };
}

function someDraws(count: number): Draws {
  const bits = mixedBits(0);
  const draw = () => Math.floor(bits() * 2 ** -32 * count);
  const counts = Array.from({ length: RESAMPLES }, () => {
    const drawn = new Uint16Array(count);
    for (let i = 0; i < count; i++) drawn[draw()]++;
    return drawn;
  });
  return { counts };
}

/** Computes the aggregate of a resample of sorted values. */
function centerOf(
  sorted: Float64Array,
  counts: Uint16Array,
  center: SeedCenter,
): number {
  const n = sorted.length, cut = center === "iqm" ? Math.floor(n / 4) : 0;
  const end = n - cut;
  let seen = 0, value = 0;
  for (let i = 0; i < n && seen < end; i++) {
    const next = seen + counts[i];
    const inside = Math.min(next, end) - Math.max(seen, cut);
    // Divides first, so that no sum overflows.
    if (inside > 0) value += sorted[i] * (inside / (end - cut));
    seen = next;
  }
  // Rounding must not leave the range of the values.
  return Math.min(sorted[n - 1], Math.max(sorted[0], value));
}

/** Reads the quantiles of an interval from resampled values. */
function endsOf(values: Float64Array, weights?: number[]): [number, number] {
  if (weights === undefined) {
    values.sort();
    const at = (share: number) =>
      values[Math.max(0, Math.ceil(share * values.length) - 1)];
    return [at(ENDS[0]), at(ENDS[1])];
  }
  const order = weights.map((_, i) => i).sort((a, b) => values[a] - values[b]);
  let sum = 0, low = NaN, high = NaN;
  for (const i of order) {
    sum += weights[i];
    if (Number.isNaN(low) && sum >= ENDS[0]) low = values[i];
    if (sum < ENDS[1] && i !== order[order.length - 1]) continue;
    high = values[i];
    break;
  }
  return [low, high];
}

/**
 * Aggregates the results of several runs (seeds) with a 95 % percentile bootstrap
 * confidence interval over runs. For up to 6 runs all resamples are enumerated; for
 * more, the same 2,000 are drawn each time, so that equal values have equal intervals
 * everywhere. The interval never leaves the range of the values.
 *
 * @param values Result of each run, at least one.
 * @param options Aggregate: see {@linkcode SeedIntervalOptions}.
 * @returns The aggregate with its interval, which is null for one run.
 * @throws {RangeError} If there are no values, or one is not finite.
 * @example
 * ```ts
 * import { seedInterval } from "@bellman/statistics";
 * import { assertEquals } from "@std/assert";
 *
 * const { value, interval } = seedInterval([500, 500, 500, 500, 100]);
 * assertEquals([value, interval], [420, [260, 500]]);
 * ```
 */
export function seedInterval(
  values: ArrayLike<number>,
  { center = "mean" }: SeedIntervalOptions = {},
): Estimate {
  const { data } = flatScores(Array.from(values, (it) => [it]));
  return estimateOf(data, center);
}

function estimateOf(data: Float64Array, center: SeedCenter): Estimate {
  const sorted = data.sort(), count = sorted.length;
  const fewRuns = count < ENOUGH_RUNS;
  const value = centerOf(sorted, new Uint16Array(count).fill(1), center);
  if (count === 1) return { value, interval: null, fewRuns };
  if (sorted[0] === sorted[count - 1]) {
    return { value, interval: [value, value], fewRuns };
  }
  const { counts, weights } = drawsOf(count);
  const resampled = new Float64Array(counts.length);
  for (let i = 0; i < counts.length; i++) {
    resampled[i] = centerOf(sorted, counts[i], center);
  }
  return { value, interval: endsOf(resampled, weights), fewRuns };
}

/** Learning curve of a run. Points that are not finite are ignored. */
export interface SeedCurve {
  /** X coordinates, ascending. */
  readonly x: readonly number[];
  /** Y coordinates. */
  readonly y: readonly number[];
}

/** Aggregate of several curves with its confidence band. */
export interface SeedBand {
  /** X coordinates. */
  x: number[];
  /** Aggregates. */
  y: number[];
  /** Lower bounds; equal to `y` where only one run reaches. */
  low: number[];
  /** Upper bounds. */
  high: number[];
  /** True if fewer than 5 runs reach a point: its interval is too narrow. */
  fewRuns: boolean;
}

/** Options of {@linkcode seedBand}. */
export interface SeedBandOptions extends SeedIntervalOptions {
  /**
   * Largest number of points: the points of all runs if there are no more, else equally
   * spaced ones.
   *
   * @default 300
   */
  places?: number;
}

/**
 * Aggregates the curves of several runs (seeds): at each point their aggregate with the
 * interval of {@linkcode seedInterval}. Curves are interpolated linearly, and are not
 * extrapolated.
 *
 * @param curves Curve of each run.
 * @param options Aggregate and number of points: see {@linkcode SeedBandOptions}.
 * @returns The band; empty if no curve has a point.
 * @example
 * ```ts
 * import { seedBand } from "@bellman/statistics";
 * import { assertEquals } from "@std/assert";
 *
 * const { x, y, low, high } = seedBand([
 *   { x: [0, 100], y: [0, 10] },
 *   { x: [0, 100], y: [0, 30] },
 * ]);
 * assertEquals([x, y], [[0, 100], [0, 20]]);
 * assertEquals([low, high], [[0, 10], [0, 30]]);
 * ```
 */
export function seedBand(
  curves: readonly SeedCurve[],
  { center = "mean", places = 300 }: SeedBandOptions = {},
): SeedBand {
  const lines = curves.map(finiteCurve).filter(({ x }) => x.length > 0);
  const xs = commonPlaces(lines, places);
  const heights = lines.map((line) => heightsAt(line, xs));
  const band: SeedBand = { x: [], y: [], low: [], high: [], fewRuns: false };
  xs.forEach((at, i) => {
    const there = heights.map((it) => it[i]).filter((it) => it === it);
    // No curve may reach a gap between two runs.
    if (there.length === 0) return;
    const { value, interval, fewRuns } = estimateOf(
      Float64Array.from(there),
      center,
    );
    band.x.push(at);
    band.y.push(value);
    band.low.push(interval?.[0] ?? value);
    band.high.push(interval?.[1] ?? value);
    band.fewRuns ||= fewRuns;
  });
  return band;
}

/** Keeps finite points with ascending x. */
function finiteCurve({ x, y }: SeedCurve): { x: number[]; y: number[] } {
  const line: { x: number[]; y: number[] } = { x: [], y: [] };
  let last = -Infinity;
  for (let i = 0; i < x.length; i++) {
    if (!(x[i] > last && x[i] < Infinity && Number.isFinite(y[i]))) continue;
    line.x.push(last = x[i]);
    line.y.push(drawable(y[i]));
  }
  return line;
}

/**
 * Lists the x coordinates of several curves, or equally spaced ones if there are too
 * many.
 *
 * @param curves Curves with finite, ascending points.
 * @param most Largest number of points.
 * @returns Ascending x coordinates.
 * @example
 * ```ts
 * import { commonPlaces } from "@bellman/statistics";
 * import { assertEquals } from "@std/assert";
 *
 * const curves = [{ x: [0, 10, 100], y: [1, 2, 3] }, { x: [20], y: [5] }];
 * assertEquals(commonPlaces(curves, 4), [0, 10, 20, 100]);
 * assertEquals(commonPlaces(curves, 3), [0, 50, 100]);
 * ```
 */
export function commonPlaces(
  curves: readonly SeedCurve[],
  most: number,
): number[] {
  const distinct = new Set<number>();
  for (const { x } of curves) for (const at of x) distinct.add(at);
  const sorted = Float64Array.from(distinct).sort();
  if (sorted.length <= most) return [...sorted];
  const [from, to] = [sorted[0], sorted[sorted.length - 1]];
  return Array.from({ length: most }, (_, i) => {
    const part = i / Math.max(1, most - 1);
    return from * (1 - part) + to * part;
  });
}

/**
 * Interpolates a curve linearly at ascending x coordinates.
 *
 * @param curve The curve, with finite points.
 * @param places Ascending x coordinates.
 * @returns Y coordinates; NaN outside the curve.
 * @example
 * ```ts
 * import { heightsAt } from "@bellman/statistics";
 * import { assertEquals } from "@std/assert";
 *
 * const curve = { x: [0, 100], y: [1, 5] };
 * assertEquals(heightsAt(curve, [50, 101]), [3, NaN]);
 * ```
 */
export function heightsAt(
  { x, y }: SeedCurve,
  places: readonly number[],
): number[] {
  const last = x.length - 1;
  let next = 0;
  return places.map((at) => {
    // Rounding must not lose the ends.
    const slack = 1e-9 * Math.abs(at);
    if (last < 0 || at < x[0] - slack || at > x[last] + slack) return NaN;
    while (next <= last && x[next] <= at) next++;
    if (next === 0) return y[0];
    if (next > last || x[next - 1] === at) return y[next - 1];
    const part = (at - x[next - 1]) / (x[next] - x[next - 1]);
    return y[next - 1] * (1 - part) + y[next] * part;
  });
}
