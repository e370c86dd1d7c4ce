// @ts-types="@types/d3-scale"
import { type ScaleLinear, scaleLinear } from "d3-scale";
// @ts-types="@types/d3-shape"
import { area, line } from "d3-shape";
import {
  averageRuns,
  type BandedLine,
  finitePoints,
  sampleEvenly,
  smooth,
  thin,
} from "./_curve_points.ts";
import type { CurveSeries } from "./curve_series.ts";
import { layLegend } from "./_curve_legend.ts";
import { curveStyle, paletteSize, px, svgText } from "./_markup.ts";
import { escapeMarkup } from "./escape_markup.ts";

/** Options of {@link renderCurves}. */
export interface CurvesOptions {
  /**
   * Heading.
   *
   * @default ""
   */
  title?: string;
  /**
   * What is along.
   *
   * @default "environment steps"
   */
  xLabel?: string;
  /**
   * What is up.
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

type Scale = ScaleLinear<number, number>;
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
  const box = { left: 60, right: width - 20, top, bottom: height - 46 };
  const { x, y } = scales(drawings, box);
  const parts = [
    `<rect class="bc-ground" width="${width}" height="${height}" rx="8"/>`,
    title ? svgText(20, 30, title, "bc-title") : "",
    `<g transform="translate(0 ${title ? 36 : 8})">${legend.markup}</g>`,
    yLabel ? svgText(20, top - 12, yLabel, "bc-label") : "",
    drawAxes(x, y, box),
    svgText(
      (box.left + box.right) / 2,
      height - 10,
      xLabel,
      "bc-label bc-middle",
    ),
    ...drawings.map((drawing) => draw(drawing, x, y)),
    drawings.length === 0
      ? svgText(
        (box.left + box.right) / 2,
        (box.top + box.bottom) / 2,
        "no data",
        "bc-label bc-middle",
      )
      : "",
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${
    escapeMarkup(title || yLabel || "curves")
  }"><style>${curveStyle}</style>${parts.join("")}</svg>\n`;
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
  box: { left: number; right: number; top: number; bottom: number },
): { x: Scale; y: Scale } {
  const [fromX, toX] = extent(drawings.map(({ points }) => points.x));
  const [fromY, toY] = extent(
    drawings.flatMap(({ points: { y, low = [], high = [] }, raw }) => [
      raw?.y ?? y,
      low,
      high,
    ]),
  );
  // Runs begin at 0, even where their first point comes a little later.
  const startX = fromX > 0 && fromX < 0.2 * toX ? 0 : fromX;
  const padding = fromY === toY ? Math.abs(fromY) * 0.1 || 1 : 0;
  return {
    x: scaleLinear([startX, toX === startX ? startX + 1 : toX], [
      box.left,
      box.right,
    ]),
    y: scaleLinear([fromY - padding, toY + padding], [box.bottom, box.top])
      .nice(5),
  };
}

function extent(lists: readonly (readonly number[])[]): [number, number] {
  let [low, high] = [Infinity, -Infinity];
  for (const list of lists) {
    for (const value of list) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  return low <= high ? [low, high] : [0, 1];
}

function drawAxes(
  x: Scale,
  y: Scale,
  box: { left: number; right: number; top: number; bottom: number },
): string {
  const { left, right, top, bottom } = box;
  const xTicks = x.ticks(Math.max(2, Math.round((right - left) / 110)));
  const yTicks = y.ticks(Math.max(2, Math.round((bottom - top) / 55)));
  const xFormat = x.tickFormat(6, "~s");
  const size = Math.max(...y.domain().map(Math.abs));
  const yFormat = y.tickFormat(
    yTicks.length,
    size >= 1e5 ? "~s" : size < 1e-3 ? "~e" : undefined,
  );
  return [
    ...yTicks.map((tick) =>
      `<path class="bc-grid" d="M${left} ${px(y(tick))}H${right}"/>` +
      svgText(
        left - 8,
        y(tick) + 4,
        tick === 0 ? "0" : yFormat(tick),
        "bc-tick bc-end",
      )
    ),
    `<path class="bc-axis" d="M${left} ${bottom}H${right}"/>`,
    ...xTicks.map((tick) =>
      `<path class="bc-axis" d="M${px(x(tick))} ${bottom}v5"/>` +
      svgText(
        x(tick),
        bottom + 19,
        tick === 0 ? "0" : xFormat(tick),
        "bc-tick bc-middle",
      )
    ),
  ].join("");
}

function draw(drawing: Drawing, x: Scale, y: Scale): string {
  const { points, raw, style, color } = drawing;
  const path = (curve: BandedLine) =>
    line().digits(1)(curve.x.map((at, i) => [x(at), y(curve.y[i])]));
  if (style === "dots") {
    const dots = points.x.map((at, i) =>
      `M${px(x(at))} ${px(y(points.y[i]))}h0`
    );
    return `<path class="bc-dots bc-line${color}" d="${dots.join("")}"/>`;
  }
  if (points.x.length === 1) {
    const [left, top] = [px(x(points.x[0])), px(y(points.y[0]))];
    return `<circle class="bc-fill${color}" cx="${left}" cy="${top}" r="3.5"/>`;
  }
  const { low, high } = points;
  const band = low && high
    ? area<number>().digits(1).x((i) => x(points.x[i]))
      .y0((i) => y(low[i])).y1((i) => y(high[i]))(points.x.map((_, i) => i))
    : null;
  return (band ? `<path class="bc-band bc-fill${color}" d="${band}"/>` : "") +
    (raw
      ? `<path class="bc-line bc-raw bc-line${color}" d="${path(raw)}"/>`
      : "") +
    `<path class="bc-line bc-line${color}" d="${path(points)}"/>`;
}
