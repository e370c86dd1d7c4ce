import * as Plot from "@observablehq/plot";
import { drawable } from "@bellman/statistics";
import {
  chart,
  classes,
  finiteExtent,
  heading,
  image,
  numberAxis,
  placesIn,
} from "./image.ts";

/** Value with its interval, in one row. */
export interface IntervalRow {
  /** Name beside the row. */
  readonly name: string;
  /** Value, drawn as a dot. */
  readonly value: number;
  /** Confidence interval; null for none. */
  readonly interval: readonly [low: number, high: number] | null;
  /**
   * Index of the colour, as {@link CurveSeries.color}.
   *
   * @default place in the list
   */
  readonly color?: number;
}

/** Panel of {@link renderIntervals}: rows with a common axis. */
export interface IntervalPanel {
  /** Heading of the panel. */
  readonly title: string;
  /** Rows, from top to bottom. */
  readonly rows: readonly IntervalRow[];
  /**
   * Reference value, drawn as a dashed line.
   *
   * @default none
   */
  readonly reference?: number;
}

/** Minimum width for panels side by side. */
const TWO_COLUMNS = 700;
/** Height of a row, and of a panel without its rows. */
const ROW = 30, FRAME = 58;
/** Shown letters of a name, and the width of one. */
const MAX_LETTERS = 24, LETTER = 6.4;

/**
 * Draws values with their intervals as an SVG image, as for aggregates of several
 * algorithms: panels with an axis each, two in a row, one if the image is narrower than
 * 700 pixels.
 *
 * @param panels The panels.
 * @param options Texts and width.
 * @returns Text of the SVG image.
 *
 * @example
 * ```ts
 * import { renderIntervals } from "@bellman/training/plots";
 * import { assertStringIncludes } from "@std/assert";
 *
 * const svg = renderIntervals([{
 *   title: "Mean return",
 *   rows: [
 *     { name: "a2c", value: 410, interval: [380, 440] },
 *     { name: "ppo", value: 480, interval: null },
 *   ],
 * }]);
 * assertStringIncludes(svg, "ppo");
 * ```
 */
export function renderIntervals(
  panels: readonly IntervalPanel[],
  { title = "", subtitle = "", width = 760 }: {
    /**
     * Heading of the image.
     *
     * @default ""
     */
    title?: string;
    /**
     * Text below the heading.
     *
     * @default ""
     */
    subtitle?: string;
    /**
     * Width in pixels.
     *
     * @default 760
     */
    width?: number;
  } = {},
): string {
  const columns = width < TWO_COLUMNS || panels.length === 1 ? 1 : 2;
  const head = heading({ title, subtitle, legend: [], width });
  const most = Math.max(0, ...panels.map(({ rows }) => rows.length));
  const size = {
    width: Math.floor(width / columns),
    height: FRAME + ROW * most,
  };
  const placeOf = placesIn(columns, size, head.height);
  const drawn = panels.map((panel, i) => chart(placeOf(i), optionsOf(panel)));
  const height = head.height + Math.ceil(panels.length / columns) * size.height;
  const names = panels.map((it) => it.title).join(", ");
  return image({ width, height, title: title || names }, head.markup, ...drawn);
}

function optionsOf(
  { title, rows, reference }: IntervalPanel,
): Plot.PlotOptions {
  const ends = rows.flatMap(({ value, interval }) => [
    value,
    ...interval ?? [],
    ...reference === undefined ? [] : [reference],
  ]);
  const x = numberAxis("", finiteExtent(ends) ?? [0, 1], { room: 0.06 });
  const nameOf = (i: number) => {
    const { name } = rows[i];
    return name.length > MAX_LETTERS
      ? `${name.slice(0, MAX_LETTERS - 1)}…`
      : name;
  };
  const longest = Math.max(0, ...rows.map((_, i) => nameOf(i).length));
  return {
    marginLeft: 24 + LETTER * longest,
    marginRight: 24,
    marginTop: 30,
    marginBottom: 28,
    // An end that is infinite is at the edge.
    x: { ...x, grid: true, clamp: true },
    y: {
      type: "point",
      domain: rows.map((_, i) => i),
      tickFormat: nameOf,
      label: null,
      tickSize: 0,
    },
    marks: [
      Plot.text([title], {
        frameAnchor: "top-left",
        dy: -18,
        className: "bp-threshold bp-name",
      }),
      reference === undefined ? null : Plot.ruleX([drawable(reference)], {
        className: "bp-threshold",
        strokeDasharray: "5 4",
      }),
      ...rows.flatMap(({ value, interval, color }, i) => [
        interval &&
        Plot.ruleY([i], {
          y: [i],
          x1: [drawable(interval[0])],
          x2: [drawable(interval[1])],
          strokeWidth: 7,
          className: classes(color ?? i, "bp-band"),
        }),
        Plot.dot([value], {
          x: [drawable(value)],
          y: [i],
          r: 4.5,
          stroke: "none",
          className: classes(color ?? i, "bp-fill"),
        }),
      ]),
    ],
  };
}
