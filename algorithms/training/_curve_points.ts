/** The arithmetic behind curves: fewer points, and means over runs. */

/** One line: heights at places, and how far its band reaches. */
export interface BandedLine {
  x: number[];
  y: number[];
  low?: number[];
  high?: number[];
}

/** The points whose values are all finite. */
export function finitePoints(line: {
  readonly x: readonly number[];
  readonly y: readonly number[];
  readonly low?: readonly number[];
  readonly high?: readonly number[];
}): BandedLine {
  const { x, y, low, high } = line;
  const kept = y.map((_, i) => i).filter((i) =>
    [x[i], y[i], low?.[i] ?? 0, high?.[i] ?? 0].every(Number.isFinite)
  );
  const pick = (values: readonly number[]) => kept.map((i) => values[i]);
  return {
    x: pick(x),
    y: pick(y),
    low: low && pick(low),
    high: high && pick(high),
  };
}

/** A line with at most `count` points: each the mean of its neighbours. */
export function thin(line: BandedLine, count: number): BandedLine {
  const length = line.x.length;
  if (length <= count) return line;
  const means = (values: readonly number[]) =>
    Array.from({ length: count }, (_, bin) => {
      const from = Math.floor(bin * length / count);
      const to = Math.floor((bin + 1) * length / count);
      return mean(values.slice(from, to));
    });
  return {
    x: means(line.x),
    y: means(line.y),
    low: line.low && means(line.low),
    high: line.high && means(line.high),
  };
}

/** Each height becomes the mean of those up to `reach` points away; fewer at the ends, evenly on both sides. */
export function smooth(line: BandedLine, reach: number): BandedLine {
  const last = line.y.length - 1;
  const y = line.y.map((_, i) => {
    const near = Math.min(reach, i, last - i);
    return mean(line.y.slice(i - near, i + near + 1));
  });
  return { x: line.x, y };
}

/** Every nth point, so that at most `count` are left. */
export function sampleEvenly(line: BandedLine, count: number): BandedLine {
  const every = Math.ceil(line.x.length / count);
  const keep = (_: number, i: number) => i % every === 0;
  return { x: line.x.filter(keep), y: line.y.filter(keep) };
}

/**
 * The mean of several runs at common places, each run read between its points
 * by a straight line. A run counts from its first to its last point.
 *
 * @param band `std`: mean plus and minus a standard deviation; `range`: lowest
 *   to highest.
 */
export function averageRuns(
  runs: readonly BandedLine[],
  band: "std" | "range",
  count: number,
): BandedLine {
  const ends = runs.flatMap(({ x }) => [x[0], x[x.length - 1]]);
  const [from, to] = [Math.min(...ends), Math.max(...ends)];
  const line = { x: [], y: [], low: [], high: [] } as Required<BandedLine>;
  for (let i = 0; i < count; i++) {
    const at = from + (to - from) * i / Math.max(1, count - 1);
    const values = runs.map((run) => valueAt(run, at))
      .filter((value) => value !== undefined);
    if (values.length === 0) continue;
    const center = mean(values);
    const std = Math.sqrt(mean(values.map((value) => (value - center) ** 2)));
    line.x.push(at);
    line.y.push(center);
    line.low.push(band === "std" ? center - std : Math.min(...values));
    line.high.push(band === "std" ? center + std : Math.max(...values));
  }
  return line;
}

/** The height of a line at a place; nothing beyond its ends. */
export function valueAt(
  { x, y }: { readonly x: readonly number[]; readonly y: readonly number[] },
  at: number,
): number | undefined {
  // Rounding must not lose the ends.
  const slack = 1e-9 * Math.abs(at);
  if (at < x[0] - slack || at > x[x.length - 1] + slack) return undefined;
  let [left, right] = [0, x.length - 1];
  while (right - left > 1) {
    const middle = (left + right) >> 1;
    if (x[middle] <= at) left = middle;
    else right = middle;
  }
  if (x[right] === x[left]) return y[right];
  const weight = Math.min(
    1,
    Math.max(0, (at - x[left]) / (x[right] - x[left])),
  );
  return y[left] * (1 - weight) + y[right] * weight;
}

function mean(values: readonly number[]): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum / values.length;
}
