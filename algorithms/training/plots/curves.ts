import * as Plot from "@observablehq/plot";
import { mean } from "../episodes.ts";
import {
  axis,
  chart,
  classes,
  finiteExtent,
  heading,
  image,
  type LegendEntry,
} from "./image.ts";

/** Points of one run; those that are not finite are left out. */
export interface CurveRun {
  /** Places, in rising order. */
  readonly x: readonly number[];
  /** Heights. */
  readonly y: readonly number[];
  /** Lower edges of the run's own band. Not used where there are several runs. */
  readonly low?: readonly number[];
  /** Upper edges of the run's own band. Not used where there are several runs. */
  readonly high?: readonly number[];
}

/**
 * Curve: the runs of one configuration, for example with different seeds.
 */
export interface CurveSeries {
  /** Name in the legend. */
  readonly name: string;
  /** The runs. Several are drawn as their mean with a band. */
  readonly runs: readonly CurveRun[];
  /**
   * `"dots"` draws the points alone, faintly.
   *
   * @default "line"
   */
  readonly style?: "line" | "dots";
}

/** Options of {@link renderCurves}. */
export interface CurvesOptions {
  /**
   * Heading.
   *
   * @default ""
   */
  title?: string;
  /**
   * Text below the horizontal axis.
   *
   * @default "environment steps"
   */
  xLabel?: string;
  /**
   * Text along the vertical axis.
   *
   * @default ""
   */
  yLabel?: string;
  /**
   * Width in pixels.
   *
   * @default 760
   */
  width?: number;
  /**
   * Height in pixels.
   *
   * @default 420
   */
  height?: number;
  /**
   * The band over several runs: mean plus and minus a standard deviation, or lowest to highest.
   *
   * @default "std"
   */
  band?: "std" | "range";
  /**
   * Smooth single runs over this fraction of their points; the unsmoothed line stays, faintly.
   *
   * @default 0
   */
  smoothing?: number;
}

/** Points of a drawn line: more are not seen. */
const linePoints = 300;
const dotPoints = 1500;

/** Points of a series as they are drawn. */
interface Drawing {
  readonly color: number;
  readonly isDots: boolean;
  readonly points: BandedLine;
  /** The line before it was smoothed. */
  readonly raw?: BandedLine;
}

/**
 * Draws curves over environment steps as an SVG image: each series the mean of
 * its runs with a band for their spread. It carries its own colours for light
 * and dark surroundings and needs no script.
 *
 * @param series The curves.
 * @param options Texts, size and kind of band.
 * @returns The text of the image.
 *
 * @example
 * ```ts
 * import { renderCurves } from "@bellman/training/plots";
 * import { assert, assertStringIncludes } from "@std/assert";
 *
 * const svg = renderCurves([{
 *   name: "CartPole-v1",
 *   runs: [
 *     { x: [0, 50_000, 100_000], y: [20, 240, 480] },
 *     { x: [0, 50_000, 100_000], y: [22, 180, 500] },
 *   ],
 * }], { title: "Learning", yLabel: "return" });
 * assert(svg.startsWith("<svg"));
 * assertStringIncludes(svg, "CartPole-v1 (2 runs)");
 * ```
 */
export function renderCurves(
  series: readonly CurveSeries[],
  options: CurvesOptions = {},
): string {
  const { title = "", width = 760, height = 420 } = options;
  const { xLabel = "environment steps", yLabel = "" } = options;
  const drawings = series.map((one, i) => prepare(one, i, options))
    .filter(({ points }) => points.x.length > 0)
    // Dots lie under the lines.
    .sort((a, b) => Number(b.isDots) - Number(a.isDots));
  // A single curve under a title needs no name.
  const legend = series.every(({ name }) => name === "")
    ? []
    : series.map(legendEntry);
  const head = heading({ title, legend, width });
  const frame = { left: 0, top: head.height, width };
  return image(
    { width, height, title: title || yLabel || "curves" },
    head.markup,
    chart({ ...frame, height: height - head.height }, {
      marginLeft: 60,
      marginTop: 14,
      marginBottom: 46,
      x: xScale(drawings, xLabel),
      y: yScale(drawings, yLabel),
      marks: [
        ...drawings.flatMap(marksOf),
        drawings.length > 0
          ? null
          : Plot.text(["no data"], { frameAnchor: "middle" }),
      ],
    }),
  );
}

function legendEntry(
  { name, runs, style }: CurveSeries,
  color: number,
): LegendEntry {
  if (style === "dots") return { text: name, sign: "dot", color };
  const text = runs.length > 1 ? `${name} (${runs.length} runs)` : name;
  return { text, sign: "line", color };
}

function prepare(
  { runs, style }: CurveSeries,
  color: number,
  { band = "std", smoothing = 0 }: CurvesOptions,
): Drawing {
  const isDots = style === "dots";
  const lines = runs.map(finitePoints).filter(({ x }) => x.length > 0);
  if (isDots) {
    const x = lines.flatMap((line) => line.x);
    const y = lines.flatMap((line) => line.y);
    return { color, isDots, points: sampleEvenly({ x, y }, dotPoints) };
  }
  if (lines.length > 1) {
    return { color, isDots, points: averageRuns(lines, band, linePoints) };
  }
  const points = thin(lines[0] ?? { x: [], y: [] }, linePoints);
  const reach = Math.round(points.x.length * smoothing / 2);
  return reach > 0
    ? { color, isDots, points: smooth(points, reach), raw: points }
    : { color, isDots, points };
}

function xScale(
  drawings: readonly Drawing[],
  label: string,
): Plot.ScaleOptions {
  const xs = drawings.flatMap(({ points }) => points.x);
  const [from, to] = finiteExtent(xs) ?? [0, 1];
  // Runs begin at 0, even where their first point comes a little later.
  const start = from > 0 && from < 0.2 * to ? 0 : from;
  const domain = [start, to === start ? start + 1 : to];
  return { ...axis(label, domain), labelOffset: 40, domain };
}

function yScale(
  drawings: readonly Drawing[],
  label: string,
): Plot.ScaleOptions {
  const ys = drawings.flatMap(({ points: { y, low = [], high = [] }, raw }) => [
    ...(raw?.y ?? y),
    ...low,
    ...high,
  ]);
  const [low, high] = finiteExtent(ys) ?? [0, 1];
  const padding = low === high ? Math.abs(low) * 0.1 || 1 : 0;
  const domain = [low - padding, high + padding];
  return { ...axis(label, domain), domain, nice: 5, grid: true };
}

function marksOf(
  { points, raw, isDots, color }: Drawing,
): (Plot.Markish | null)[] {
  const { x, y, low, high } = points;
  const line = (name: string, { x, y }: BandedLine) =>
    Plot.lineY(y, { x, className: classes(color, name), strokeWidth: 2 });
  if (isDots || x.length === 1) {
    const className = classes(color, "bp-fill", isDots ? "bp-dots" : "");
    const r = isDots ? 1.5 : 3.5;
    return [Plot.dot(y, { x, y, r, stroke: "none", className })];
  }
  const className = classes(color, "bp-fill", "bp-band");
  return [
    low && high ? Plot.areaY(y, { x, y1: low, y2: high, className }) : null,
    raw ? line("bp-raw", raw) : null,
    line("bp-line", points),
  ];
}

/** One line: heights at places, and how far its band reaches. */
interface BandedLine {
  x: number[];
  y: number[];
  low?: number[];
  high?: number[];
}

/** Keeps the points whose values are all finite. */
export function finitePoints(line: CurveRun): BandedLine {
  const { x, y, low, high } = line;
  const kept = y.map((_, i) => i).filter((i) =>
    [x[i], y[i], low?.[i] ?? 0, high?.[i] ?? 0].every(Number.isFinite)
  );
  return mapLine(line, (values) => kept.map((i) => values[i]));
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

/** Thins a line to at most `count` points: each the mean of its neighbours. */
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

/** Replaces each height by the mean of those up to `reach` points away; fewer at the ends, evenly on both sides. */
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

/**
 * Averages several runs at common places, each run read between its points
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

/** Reads the height of a line at a place; nothing beyond its ends. */
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
