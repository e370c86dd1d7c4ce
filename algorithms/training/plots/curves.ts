// @ts-types="@types/d3-shape"
import { area, line } from "d3-shape";
import { mean } from "../episodes.ts";
import {
  acrossScale,
  curveStyle,
  element,
  finiteExtent,
  formatOf,
  type Frame,
  image,
  label,
  paletteSize,
  path,
  pixels,
  type Scale,
  ticksOf,
  upScale,
} from "./svg.ts";

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
   * Text above the vertical axis.
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

interface Drawing {
  name: string;
  style: "line" | "dots";
  points: BandedLine;
  /** The line before it was smoothed. */
  raw?: BandedLine;
  color: number;
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
 * import { renderCurves } from "@bellman/training";
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
    .sort((a, b) => Number(b.style === "dots") - Number(a.style === "dots"));
  const legend = layLegend(series, width);
  const top = 16 + (title ? 30 : 0) + legend.height + (yLabel ? 22 : 4);
  const frame = { left: 60, top, width: width - 80, height: height - 46 - top };
  const middle = frame.left + frame.width / 2;
  const { x, y } = scales(drawings, frame);
  return image(
    { width, height, title: title || yLabel || "curves" },
    element("style", {}, curveStyle),
    element("rect", { class: "bc-ground", width, height, rx: 8 }),
    title ? label(title, { x: 20, y: 30, style: "bc-title" }) : "",
    element(
      "g",
      { transform: `translate(0 ${title ? 36 : 8})` },
      legend.markup,
    ),
    yLabel ? label(yLabel, { x: 20, y: top - 12, style: "bc-label" }) : "",
    drawAxes(x, y, frame),
    label(xLabel, { x: middle, y: height - 10, style: "bc-label bc-middle" }),
    ...drawings.map((drawing) => draw(drawing, x, y)),
    drawings.length > 0 ? "" : label("no data", {
      x: middle,
      y: top + frame.height / 2,
      style: "bc-label bc-middle",
    }),
  );
}

function prepare(
  { name, runs, style = "line" }: CurveSeries,
  index: number,
  { band = "std", smoothing = 0 }: CurvesOptions,
): Drawing {
  const drawing = { name, style, color: index % paletteSize };
  const lines = runs.map(finitePoints).filter(({ x }) => x.length > 0);
  if (style === "dots") {
    const x = lines.flatMap((line) => line.x);
    const y = lines.flatMap((line) => line.y);
    return { ...drawing, points: sampleEvenly({ x, y }, dotPoints) };
  }
  if (lines.length > 1) {
    return { ...drawing, points: averageRuns(lines, band, linePoints) };
  }
  const points = thin(lines[0] ?? { x: [], y: [] }, linePoints);
  const reach = Math.round(points.x.length * smoothing / 2);
  return reach > 0
    ? { ...drawing, points: smooth(points, reach), raw: points }
    : { ...drawing, points };
}

function scales(
  drawings: readonly Drawing[],
  frame: Frame,
): { x: Scale; y: Scale } {
  const xs = drawings.flatMap(({ points }) => points.x);
  const [fromX, toX] = finiteExtent(xs) ?? [0, 1];
  const [fromY, toY] = finiteExtent(
    drawings.flatMap(({ points: { y, low = [], high = [] }, raw }) => [
      ...(raw?.y ?? y),
      ...low,
      ...high,
    ]),
  ) ?? [0, 1];
  // Runs begin at 0, even where their first point comes a little later.
  const startX = fromX > 0 && fromX < 0.2 * toX ? 0 : fromX;
  const padding = fromY === toY ? Math.abs(fromY) * 0.1 || 1 : 0;
  return {
    x: acrossScale(frame, [startX, toX === startX ? startX + 1 : toX]),
    y: upScale(frame, [fromY - padding, toY + padding]).nice(5),
  };
}

function drawAxes(x: Scale, y: Scale, frame: Frame): string {
  const { left, top, width, height } = frame;
  const [right, bottom] = [left + width, top + height];
  const yCount = Math.max(2, Math.round(height / 55));
  const yFormat = formatOf(y, y.ticks(yCount).length);
  const xCount = Math.max(2, Math.round(width / 110));
  return [
    ...ticksOf(y, yCount, yFormat).map(({ at, text }) =>
      path("bc-grid", `M${left} ${pixels(at)}H${right}`) +
      label(text, { x: left - 8, y: at + 4, style: "bc-tick bc-end" })
    ),
    path("bc-axis", `M${left} ${bottom}H${right}`),
    ...ticksOf(x, xCount, x.tickFormat(6, "~s")).map(({ at, text }) =>
      path("bc-axis", `M${pixels(at)} ${bottom}v5`) +
      label(text, { x: at, y: bottom + 19, style: "bc-tick bc-middle" })
    ),
  ].join("");
}

function draw(drawing: Drawing, x: Scale, y: Scale): string {
  const { points, raw, style, color } = drawing;
  if (style === "dots") {
    const dots = points.x.map((at, i) =>
      `M${pixels(x(at))} ${pixels(y(points.y[i]))}h0`
    );
    return path(`bc-dots bc-line${color}`, dots.join(""));
  }
  if (points.x.length === 1) {
    const [cx, cy] = [x(points.x[0]), y(points.y[0])];
    return element("circle", { class: `bc-fill${color}`, cx, cy, r: 3.5 });
  }
  const { low, high } = points;
  const band = low && high
    ? area<number>().digits(1).x((i) => x(points.x[i]))
      .y0((i) => y(low[i])).y1((i) => y(high[i]))(points.x.map((_, i) => i))
    : null;
  const curve = (classes: string, { x: along, y: up }: BandedLine) =>
    path(
      `${classes} bc-line${color}`,
      line().digits(1)(along.map((at, i) => [x(at), y(up[i])])) ?? "",
    );
  return (band ? path(`bc-band bc-fill${color}`, band) : "") +
    (raw ? curve("bc-line bc-raw", raw) : "") + curve("bc-line", points);
}

/** Lays the names of the series in rows, as many as the width needs. */
function layLegend(
  series: readonly CurveSeries[],
  width: number,
): { markup: string; height: number } {
  let [left, row] = [20, 0];
  const entries = series.map(({ name, runs, style }, i) => {
    const text = runs.length > 1 && style !== "dots"
      ? `${name} (${runs.length} runs)`
      : name;
    const size = 24 + text.length * 6.7 + 18;
    if (left > 20 && left + size > width - 10) [left, row] = [20, row + 1];
    const [at, cy] = [left, row * 20 + 10];
    left += size;
    const color = i % paletteSize;
    const swatch = style === "dots"
      ? element("circle", {
        class: `bc-fill${color}`,
        opacity: 0.6,
        cx: at + 8,
        cy,
        r: 3,
      })
      : path(`bc-line bc-line${color}`, `M${at} ${cy}h16`);
    return swatch + label(text, { x: at + 24, y: cy + 4, style: "bc-legend" });
  });
  // A single curve under a title needs no name.
  return series.length === 0 || series.every(({ name }) => name === "")
    ? { markup: "", height: 0 }
    : { markup: entries.join(""), height: (row + 1) * 20 };
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
  const fraction = (at - x[left]) / (x[right] - x[left]);
  const weight = Math.min(1, Math.max(0, fraction));
  return y[left] * (1 - weight) + y[right] * weight;
}
