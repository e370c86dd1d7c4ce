import { drawable, logAxis } from "@bellman/statistics";
import * as Plot from "@observablehq/plot";
import {
  axis,
  chart,
  classes,
  finiteExtent,
  heading,
  image,
  inWords,
  numberAxis,
  placesIn,
} from "./image.ts";

/** A setting that trials differ in. */
export interface TrialAxis {
  /** Name of the setting. */
  readonly name: string;
  /** Its value in each trial: numbers, or names of which there are few. */
  readonly values: readonly (number | string)[];
  /**
   * True to draw the logarithm of numbers.
   *
   * @default false
   */
  readonly log?: boolean;
}

/** Title, size and text of a figure of trials. */
export interface TrialFigureOptions {
  /**
   * Heading.
   *
   * @default ""
   */
  title?: string;
  /**
   * Name of the scores.
   *
   * @default "Score"
   */
  label?: string;
  /**
   * Width in pixels.
   *
   * @default 760
   */
  width?: number;
  /**
   * Height in pixels; of slices, that of a row.
   *
   * @default 320
   */
  height?: number;
}

/** Width of a slice, at least. */
const SLICE_WIDTH = 260;
/** Room for numbers and names along an axis. */
const MARGIN = { marginLeft: 58, marginRight: 18, marginBottom: 46 };

/** A number as it is drawn; what is not finite is not. */
function drawn(value: number): number {
  return Number.isFinite(value) ? drawable(value) : NaN;
}

function isNumeric({ values }: TrialAxis): boolean {
  return values.every((it) => typeof it === "number");
}

/** Lists the names of an axis in the order of their first trials; numbers by size. */
function namesOf({ values }: TrialAxis): (number | string)[] {
  const names = [...new Set(values)];
  return names.every((it) => it !== "" && Number.isFinite(Number(it)))
    ? names.sort((a, b) => Number(a) - Number(b))
    : names;
}

function scaleOf(one: TrialAxis): Plot.ScaleOptions {
  const { name, values, log = false } = one;
  if (!isNumeric(one)) {
    const domain = namesOf(one), label = axis(name, [0]);
    return { ...label, type: "point", domain, ticks: undefined };
  }
  const extent = finiteExtent(values as number[]) ?? [0, 1];
  if (!log) return { ...numberAxis(name, extent), labelOffset: 40 };
  const { range, ticks } = logAxis(...extent, 4);
  return {
    ...axis(name, extent),
    type: "log",
    domain: range,
    ticks,
    tickFormat: extent[0] < 1e-2 || extent[1] > 1e5
      ? (it: number) => Number(it.toPrecision(3)).toExponential()
      : (it: number) => inWords(it),
    labelOffset: 40,
  };
}

/**
 * Draws the scores of trials over each of their settings, side by side, as an SVG
 * image for light and dark surroundings.
 *
 * @param axes The settings.
 * @param scores Score of each trial.
 * @param options Title, name of the scores and size.
 * @returns The text of the image.
 *
 * @example
 * ```ts
 * import { renderSlices } from "@bellman/training/plots";
 * import { assertStringIncludes } from "@std/assert";
 *
 * const axes = [
 *   { name: "learningRate", values: [1e-4, 1e-2, 1e-3], log: true },
 *   { name: "optimizer", values: ["adam", "sgd", "adam"] },
 * ];
 * const svg = renderSlices(axes, [20, 31, 180], { title: "Slices" });
 * assertStringIncludes(svg, "learningRate");
 * ```
 */
export function renderSlices(
  axes: readonly TrialAxis[],
  scores: readonly number[],
  { title = "", label = "Score", width = 760, height = 260 }:
    TrialFigureOptions = {},
): string {
  const columns = Math.max(1, Math.floor(width / SLICE_WIDTH));
  const head = heading({ title, legend: [], width });
  const rows = Math.ceil(axes.length / columns);
  const size = { width: Math.floor(width / columns), height };
  const y = numberAxis(label, finiteExtent(scores) ?? [0, 1], {
    isRound: true,
  });
  const placeOf = placesIn(columns, size, head.height);
  const charts = axes.map((one, i) =>
    chart(placeOf(i), {
      ...MARGIN,
      x: scaleOf(one),
      y: { ...y, grid: true, labelAnchor: "center", labelOffset: 50 },
      marks: [Plot.dot(scores, {
        x: isNumeric(one)
          ? (one.values as number[]).map(drawn)
          : one.values as string[],
        y: scores.map(drawn),
        r: 3,
        stroke: "none",
        fillOpacity: 0.6,
        className: classes(0, "bp-fill"),
      })],
    })
  );
  const description = "The scores of trials over each of their settings.";
  return image(
    { width, height: head.height + rows * height, title, description },
    head.markup,
    ...charts,
  );
}

/** Returns the places of an axis' values between 0 and 1, and the texts along it. */
function placesOn(
  one: TrialAxis,
): { places: number[]; ticks: { at: number; text: string }[] } {
  if (!isNumeric(one)) {
    const names = namesOf(one), last = Math.max(1, names.length - 1);
    return {
      places: one.values.map((it) => names.indexOf(it) / last),
      ticks: names.map((it, i) => ({ at: i / last, text: String(it) })),
    };
  }
  const values = (one.values as number[]).map(drawn);
  const [low, high] = finiteExtent(values) ?? [0, 1];
  const scaled = one.log ? Math.log : (it: number) => it;
  const length = scaled(high) - scaled(low) || 1;
  return {
    places: values.map((it) => (scaled(it) - scaled(low)) / length),
    ticks: [low, high].map((it, at) => ({ at, text: inWords(it, 3) })),
  };
}

/**
 * Draws trials as lines across their settings to their scores, the better ones more
 * strongly, as an SVG image for light and dark surroundings.
 *
 * @param axes The settings.
 * @param scores Score of each trial.
 * @param options Title, name of the scores and size.
 * @returns The text of the image.
 *
 * @example
 * ```ts
 * import { renderParallelCoordinates } from "@bellman/training/plots";
 * import { assertStringIncludes } from "@std/assert";
 *
 * const axes = [{ name: "numSteps", values: [5, 16, 8] }];
 * const svg = renderParallelCoordinates(axes, [20, 31, 180]);
 * assertStringIncludes(svg, "numSteps");
 * ```
 */
export function renderParallelCoordinates(
  axes: readonly TrialAxis[],
  scores: readonly number[],
  { title = "", label = "Score", width = 760, height = 320 }:
    TrialFigureOptions = {},
): string {
  const head = heading({ title, legend: [], width });
  const all = [...axes, { name: label, values: scores }];
  const scales = all.map(placesOn), ranks = rankOf(scores);
  const points = scores.flatMap((_, trial) =>
    scales.map(({ places }, x) => ({ x, y: places[trial], trial }))
  );
  const texts = scales.flatMap(({ ticks }, x) =>
    ticks.map(({ at, text }) => ({ x, y: at, text }))
  );
  const markup = chart(
    { left: 0, top: head.height, width, height: height - head.height },
    {
      marginLeft: 60,
      marginRight: 60,
      marginTop: 30,
      marginBottom: 16,
      x: { axis: null, domain: [0, all.length - 1] },
      y: { axis: null, domain: [0, 1] },
      marks: [
        Plot.ruleX(all, { x: (_, i) => i, strokeOpacity: 0.4 }),
        Plot.line(points, {
          x: "x",
          y: "y",
          z: "trial",
          strokeWidth: 1.5,
          strokeOpacity: ({ trial }: { trial: number }) =>
            0.06 + 0.8 * ranks[trial] ** 3,
          className: classes(0),
        }),
        Plot.text(texts, {
          x: "x",
          y: "y",
          text: "text",
          dx: 6,
          textAnchor: "start",
        }),
        Plot.text(all, {
          x: (_, i) => i,
          y: 1,
          text: "name",
          dy: -18,
          fontWeight: "bold",
        }),
      ],
    },
  );
  const description = "A line for each trial across its settings to its score.";
  return image({ width, height, title, description }, head.markup, markup);
}

/** Ranks scores from 0 to 1, the highest. */
function rankOf(scores: readonly number[]): number[] {
  const sorted = [...scores].sort((a, b) => a - b);
  return scores.map((it) =>
    sorted.indexOf(it) / Math.max(1, scores.length - 1)
  );
}

/** Row of {@link renderBars}. */
export interface Bar {
  /** Name, at the left. */
  readonly name: string;
  /** Length of the bar. */
  readonly value: number;
}

/** Height of a bar, and of all that is around them. */
const ROW = 40, FRAME = 80;

/**
 * Draws bars, a row each, as an SVG image for light and dark surroundings.
 *
 * @param bars The bars, from top to bottom.
 * @param options Title, name of the values and width; the height is that of the rows.
 * @returns The text of the image.
 *
 * @example
 * ```ts
 * import { renderBars } from "@bellman/training/plots";
 * import { assertStringIncludes } from "@std/assert";
 *
 * const bars = [{ name: "gamma", value: 0.8 }, { name: "numSteps", value: 0.2 }];
 * assertStringIncludes(renderBars(bars, { label: "Importance" }), "gamma");
 * ```
 */
export function renderBars(
  bars: readonly Bar[],
  { title = "", label = "", width = 760 }: Omit<TrialFigureOptions, "height"> =
    {},
): string {
  const head = heading({ title, legend: [], width });
  const height = FRAME + ROW * bars.length;
  const longest = Math.max(...bars.map(({ name }) => name.length), 0);
  const extent = finiteExtent([0, ...bars.map(({ value }) => value)])!;
  const markup = chart({ left: 0, top: head.height, width, height }, {
    marginLeft: 24 + 7 * longest,
    marginRight: 22,
    marginBottom: 46,
    x: {
      ...numberAxis(label, extent, { isRound: true }),
      labelOffset: 40,
      grid: true,
    },
    y: { label: null, domain: bars.map(({ name }) => name) },
    marks: [
      Plot.barX(bars, {
        x: ({ value }) => drawn(value),
        y: "name",
        fill: "currentColor",
        className: classes(0),
      }),
    ],
  });
  const description = "A bar for each value.";
  const size = { width, height: head.height + height };
  return image({ ...size, title, description }, head.markup, markup);
}
