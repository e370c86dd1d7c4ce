import * as Plot from "@observablehq/plot";
import { drawable, ticksOver } from "@bellman/statistics";
import {
  axis,
  chart,
  classes,
  finiteExtent,
  heading,
  image,
  type LegendEntry,
  numberAxis,
  placesIn,
} from "./image.ts";
import {
  averageRuns,
  BAND_WORDS,
  type BandedLine,
  type CurveBand,
  type CurveRun,
  finitePoints,
  sampleEvenly,
  smooth,
  thin,
} from "./lines.ts";

/** Curve of the runs of one configuration, for example with different seeds. */
export interface CurveSeries {
  /** Name in the legend. */
  readonly name: string;
  /** Runs; several are drawn as their mean with a band. */
  readonly runs: readonly CurveRun[];
  /**
   * `"dots"` draws only the points, faintly.
   *
   * @default "line"
   */
  readonly style?: "line" | "dots";
  /**
   * Index of the colour: 0 blue, 1 orange, 2 green, 3 purple, 4 amber, 5 pink.
   *
   * @default index in the list
   */
  readonly color?: number;
}

/** Threshold, drawn as a dashed horizontal line. */
export interface CurveThreshold {
  /** Height on the vertical axis. */
  readonly value: number;
  /** Label of the line, such as `solved: 475`. */
  readonly label: string;
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
   * Text below the heading; if a line shows several runs, the name of the band is
   * added.
   *
   * @default ""
   */
  subtitle?: string;
  /**
   * Text below the horizontal axis.
   *
   * @default "Environment steps"
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
   * Band over several runs.
   *
   * @default "ci"
   */
  band?: CurveBand;
  /**
   * Smooth each run over this fraction of its points; the raw line of a single run is
   * drawn faintly.
   *
   * @default 0
   */
  smoothing?: number;
  /**
   * Threshold line.
   *
   * @default none
   */
  threshold?: CurveThreshold;
}

/** Points of a drawn line: more are not visible. */
const linePoints = 300;
/** Dots of a drawn series; of more, every second or every nth is drawn. */
export const MAX_DOTS = 1500;

/** Points of a series, as they are drawn. */
interface Drawing {
  readonly color: number;
  readonly isDots: boolean;
  readonly points: BandedLine;
  /** Line before smoothing. */
  readonly raw?: BandedLine;
}

/**
 * Draws curves over environment steps as an SVG image: the mean of each series' runs
 * with a band for their spread. It includes colours for light and dark backgrounds and
 * needs no script.
 *
 * @param series The curves.
 * @param options Texts, size and band.
 * @returns Text of the SVG image.
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
  const { xLabel = "Environment steps", yLabel = "", threshold } = options;
  const drawings = series.map((curve, i) => prepare(curve, i, options))
    .filter(({ points }) => points.x.length > 0)
    // Dots are drawn below lines.
    .sort((a, b) => Number(b.isDots) - Number(a.isDots));
  // A single curve under a title needs no name.
  const legend = series.every(({ name }) => name === "")
    ? []
    : series.map(legendEntry);
  const subtitle = subtitleOf(series, options);
  const head = heading({ title, subtitle, legend, width });
  const frame = { left: 0, top: head.height, width };
  const limit = threshold && { ...threshold, value: drawable(threshold.value) };
  const y = yScale(drawings, { label: yLabel, threshold: limit });
  const marginLeft = (yLabel ? 44 : 20) + 7 * longest(y);
  return image(
    { width, height, title: title || yLabel || "curves" },
    head.markup,
    chart({ ...frame, height: height - head.height }, {
      marginLeft,
      marginRight: 22,
      marginTop: 14,
      marginBottom: xLabel ? 46 : 28,
      x: xScale(drawings, xLabel),
      y: { ...y, labelOffset: marginLeft - 10 },
      marks: [
        ...drawings.flatMap(marksOf),
        ...limit === undefined ? [] : thresholdMarks(limit),
        drawings.length > 0
          ? null
          : Plot.text(["no data"], { frameAnchor: "middle" }),
      ],
    }),
  );
}

/** Panel of {@link renderPanels}: curves with common axes. */
export interface CurvePanel {
  /** The curves. */
  readonly series: readonly CurveSeries[];
  /** Heading of the panel. */
  readonly title: string;
  /**
   * Threshold line.
   *
   * @default none
   */
  readonly threshold?: CurveThreshold;
}

/** Minimum width for panels side by side. */
const TWO_COLUMNS = 700;

/**
 * Draws several panels of curves as one SVG image, each with its own axes, as for
 * environments with different returns: two in a row, one if the image is narrower than
 * 700 pixels.
 *
 * @param panels The panels.
 * @param options As in {@link renderCurves}; the height is that of a panel.
 * @returns Text of the SVG image.
 *
 * @example
 * ```ts
 * import { renderPanels } from "@bellman/training/plots";
 * import { assertEquals } from "@std/assert";
 *
 * const series = [{ name: "a2c", runs: [{ x: [0, 100], y: [1, 5] }] }];
 * const svg = renderPanels([
 *   { title: "CartPole-v1", series },
 *   { title: "Pendulum-v1", series },
 * ], { title: "Return" });
 * assertEquals(svg.match(/role="img"/g)?.length, 3);
 * ```
 */
export function renderPanels(
  panels: readonly CurvePanel[],
  { title = "", width = 760, height = 320, ...options }: Omit<
    CurvesOptions,
    "threshold"
  > = {},
): string {
  const columns = width < TWO_COLUMNS ? 1 : 2;
  const size = { width: Math.floor(width / columns), height };
  const rows = Math.ceil(panels.length / columns);
  const placeOf = placesIn(columns, size);
  const drawn = panels.map(({ series, ...panel }, i) => {
    const { left, top } = placeOf(i);
    return renderCurves(series, { ...options, ...panel, ...size })
      .replace("<svg ", `<svg x="${left}" y="${top}" `);
  });
  return image({ width, height: rows * height, title }, ...drawn);
}

/** Adds the name of the band to the subtitle, if there is one. */
function subtitleOf(
  series: readonly CurveSeries[],
  { subtitle = "", band = "ci" }: CurvesOptions,
): string {
  const isAveraged = series.some(({ runs, style }) =>
    style !== "dots" && runs.length > 1
  );
  return [subtitle, isAveraged ? BAND_WORDS[band] : ""]
    .filter((it) => it !== "").join("; ");
}

function legendEntry(
  { name, runs, style, color }: CurveSeries,
  place: number,
): LegendEntry {
  const index = color ?? place;
  if (style === "dots") return { text: name, sign: "dot", color: index };
  const text = runs.length > 1 ? `${name} (${runs.length} runs)` : name;
  return { text, sign: "line", color: index };
}

function prepare(
  { runs, style, color: own }: CurveSeries,
  place: number,
  { band = "ci", smoothing = 0 }: CurvesOptions,
): Drawing {
  const color = own ?? place;
  const isDots = style === "dots";
  const lines = runs.map(finitePoints).filter(({ x }) => x.length > 0);
  if (isDots) {
    const x = lines.flatMap((line) => line.x);
    const y = lines.flatMap((line) => line.y);
    return { color, isDots, points: sampleEvenly({ x, y }, MAX_DOTS) };
  }
  const smoothed = (line: BandedLine): BandedLine => {
    const reach = Math.round(line.x.length * smoothing / 2);
    return reach > 0 ? smooth(line, reach) : line;
  };
  if (lines.length > 1) {
    const points = averageRuns(lines.map(smoothed), band, linePoints);
    return { color, isDots, points };
  }
  const raw = thin(lines[0] ?? { x: [], y: [] }, linePoints);
  const points = smoothed(raw);
  return points === raw
    ? { color, isDots, points }
    : { color, isDots, points, raw };
}

function xScale(
  drawings: readonly Drawing[],
  label: string,
): Plot.ScaleOptions {
  const xs = drawings.flatMap(({ points }) => points.x);
  const [from, to] = finiteExtent(xs) ?? [0, 1];
  // Runs start at 0, even if their first point comes a little later.
  const start = from > 0 && from < 0.2 * to ? 0 : from;
  const last = to === start ? start + Math.max(1, 1e-9 * Math.abs(start)) : to;
  const { ticks, around: [, next] } = ticksOver(start, last);
  // Shows a tick that is only slightly beyond the data.
  const isNear = next > last && next - last <= 0.04 * (last - start);
  if (isNear) ticks.push(next);
  const domain = [start, isNear ? next : last];
  return { ...axis(label, domain), ticks, labelOffset: 40, domain };
}

function yScale(
  drawings: readonly Drawing[],
  { label, threshold }: { label: string; threshold?: CurveThreshold },
): Plot.ScaleOptions {
  const ys = drawings.flatMap(({ points: { y, low = [], high = [] }, raw }) => [
    ...(raw?.y ?? y),
    ...low,
    ...high,
  ]);
  if (threshold !== undefined) ys.push(threshold.value);
  const extent = finiteExtent(ys) ?? [0, 1];
  return {
    ...numberAxis(label, extent, { isRound: true }),
    labelAnchor: "center",
    grid: true,
  };
}

/** Counts the letters of an axis's longest tick label. */
function longest({ ticks, tickFormat }: Plot.ScaleOptions): number {
  const numbers = ticks as number[];
  const decimals = numbers.map((it) => String(it).split(".")[1]?.length ?? 0);
  const { format } = new Intl.NumberFormat("en-US", {
    minimumFractionDigits: Math.min(20, Math.max(...decimals)),
  });
  const written = tickFormat as typeof format | undefined ?? format;
  return Math.max(...numbers.map((it) => written(it).length));
}

function thresholdMarks(
  { value, label }: CurveThreshold,
): Plot.Markish[] {
  return [
    Plot.ruleY([value], { className: "bp-threshold", strokeDasharray: "5 4" }),
    Plot.text([label], {
      y: value,
      frameAnchor: "left",
      textAnchor: "start",
      dx: 6,
      dy: -8,
      className: "bp-threshold",
    }),
  ];
}

function marksOf(
  { points, raw, isDots, color }: Drawing,
): (Plot.Markish | null)[] {
  const { x, y, low, high } = points;
  const line = (name: string, { x, y }: BandedLine) =>
    Plot.lineY(y, { x, className: classes(color, name), strokeWidth: 2 });
  if (isDots || x.length === 1) {
    const className = classes(color, "bp-fill", isDots ? "bp-dots" : "");
    const r = !isDots ? 3.5 : x.length > 200 ? 1.5 : 2.5;
    return [Plot.dot(y, { x, y, r, stroke: "none", className })];
  }
  const className = classes(color, "bp-fill", "bp-band");
  return [
    low && high ? Plot.areaY(y, { x, y1: low, y2: high, className }) : null,
    raw ? line("bp-raw", raw) : null,
    line("bp-line", points),
  ];
}
