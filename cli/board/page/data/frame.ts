import { drawable, logAxis, rangeAround, ticksOver } from "@bellman/statistics";
import { heightsAt, type Line } from "./groups.ts";

/** Line of a chart. */
export interface Curve extends Line {
  readonly name: string;
  /** Index of the colour; those above the last one are dashed. */
  readonly color: number;
  /** True to draw its points alone. */
  readonly isDots?: boolean;
}

/** Colours of a chart, of which the style sheet has a light and a dark set. */
export const COLORS = 6;
/** Dashes of the first colours, of those above them, and so on. */
export const DASHES: readonly (readonly number[])[] = [
  [],
  [7, 4],
  [2, 3],
  [9, 3, 2, 3],
];

/** Where and how curves are drawn. */
export interface Scales {
  xLabel: string;
  log: boolean;
  zoom: readonly [number, number] | null;
}

/** Ranges of a chart. */
export interface Frame {
  x: [number, number];
  y: [number, number];
  log: boolean;
}

/** Writes the numbers along an axis: short, but not two of them alike. */
export function tickTexts(ticks: readonly (number | null)[]): string[] {
  for (let digits = 6;; digits++) {
    const texts = ticks.map((it) => it === null ? "" : tickText(it, digits));
    if (digits === 17 || new Set(texts).size === texts.length) return texts;
  }
}

function tickText(value: number, digits: number): string {
  const size = Math.abs(value);
  const text = (it: number) => String(Number(it.toPrecision(digits)));
  if (size >= 1e12) return text(value).replace("e+", "e");
  if (size >= 1e9) return `${text(value / 1e9)}G`;
  if (size >= 1e6) return `${text(value / 1e6)}M`;
  if (size >= 1e4) return `${text(value / 1e3)}k`;
  return size > 0 && size < 1e-3
    ? Number(value.toPrecision(digits - 3)).toExponential()
    : text(value);
}

/** Line whose ranges are computed. */
type Points = Line & Pick<Curve, "isDots">;

/** Returns the range of all places, from 0 where they begin near it. */
export function wholeRange(curves: readonly Points[]): [number, number] {
  let from = Infinity, to = -Infinity;
  for (const { x } of curves) {
    if (x.length === 0) continue;
    from = Math.min(from, x[0]);
    to = Math.max(to, x[x.length - 1]);
  }
  if (!(from <= to)) return [0, 1];
  // Runs begin at 0, even where their first point comes a little later.
  if (from > 0 && from < 0.2 * to) from = 0;
  if (curves.some(({ isDots }) => isDots)) {
    // Dots at the edges are seen whole.
    const room = (to - from) * 0.02 || 1;
    return [from - room, to + room];
  }
  return from === to
    ? [from, from + Math.max(1, 1e-9 * Math.abs(from))]
    : [from, roundedUp(to)];
}

/** Rounds up to a number of two digits, so that a growing curve seldom moves all others. */
function roundedUp(value: number): number {
  if (!(value > 1e-300 && value < 1e300)) return value;
  const unit = 10 ** (Math.floor(Math.log10(value)) - 1);
  return Number((Math.ceil(value / unit - 1e-9) * unit).toPrecision(12));
}

/** Returns the least and the most of some numbers at the places that are seen, and next to these. */
function extent(
  curves: readonly Line[],
  [from, to]: readonly [number, number],
  numbersAt: (line: Line, place: number) => readonly number[],
): [number, number] {
  let low = Infinity, high = -Infinity;
  for (const line of curves) {
    for (let i = 0; i < line.x.length; i++) {
      if ((line.x[i + 1] ?? line.x[i]) < from) continue;
      for (const value of numbersAt(line, i)) {
        low = Math.min(low, value);
        high = Math.max(high, value);
      }
      if (line.x[i] > to) break;
    }
  }
  return [low, high];
}

/** Computes the ranges in which curves are seen. */
export function frameOf(
  curves: readonly Points[],
  { log, zoom }: Pick<Scales, "log" | "zoom">,
): Frame {
  const x: [number, number] = zoom === null ? wholeRange(curves) : [...zoom];
  const fit = (values: readonly (number | undefined)[]) =>
    values.map((it) => Number.isFinite(it) ? drawable(it!) : NaN)
      .filter((it) => log ? it > 0 : it === it);
  let [low, high] = extent(curves, x, ({ y }, i) => fit([y[i]]));
  // Bands of few runs are so wide that nothing else would be seen.
  const [least, most] = log
    ? [low / 3, high * 3]
    : [low - (high - low) / 2, high + (high - low) / 2];
  const edges = extent(
    curves,
    x,
    (line, i) => fit([line.low?.[i], line.high?.[i]]),
  );
  if (edges[0] <= edges[1] && least < most) {
    low = Math.min(low, Math.max(edges[0], least));
    high = Math.max(high, Math.min(edges[1], most));
  }
  if (!(low <= high)) [low, high] = log ? [1, 10] : [0, 1];
  const y = log ? logAxis(low, high).range : rangeAround(low, high, 0.04);
  return { x, y, log };
}

/** Lists round numbers from one to another. */
export function ticksOf(range: readonly [number, number]): number[] {
  return ticksOver(...range, 6).ticks;
}

/** Lists ticks of heights: powers of ten for logarithms, where there are two of them. */
export function yTicks({ y, log }: Pick<Frame, "y" | "log">): number[] {
  return log ? logAxis(...y).ticks : ticksOf(y);
}

/** Place of a chart within its image. */
export interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** Makes the functions from numbers to places in a box. */
export function placing(
  { x, y, log }: Frame,
  { left, top, width, height }: Box,
): { x(value: number): number; y(value: number): number } {
  const scaled = log ? Math.log : drawable;
  const [low, high] = y.map(scaled);
  return {
    x: (value) => left + width * ((value - x[0]) / (x[1] - x[0])),
    y: (value) => top + height * ((high - scaled(value)) / (high - low)),
  };
}

/** Lists the heights of curves at a place, the highest first. */
export function valuesAt(
  curves: readonly Curve[],
  x: number,
): { curve: Curve; value: number }[] {
  return curves.map((curve) => ({ curve, value: heightsAt(curve, [x])[0] }))
    .sort((a, b) =>
      (Number.isNaN(b.value) ? -Infinity : b.value) -
        (Number.isNaN(a.value) ? -Infinity : a.value) || 0
    );
}
