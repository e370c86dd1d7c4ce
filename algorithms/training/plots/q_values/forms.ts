import { drawable, rangeAround } from "@bellman/statistics";
import type { DiscreteSpace } from "@bellman/types";
import * as Plot from "@observablehq/plot";
import { type ActionAxis, type ActionPlane, pointOn } from "./action_plane.ts";
import {
  axis,
  chart,
  classes,
  finiteExtent,
  type Frame,
  inWords,
  type LegendEntry,
  numberAxis,
} from "../image.ts";

/** Q values and actions in one state. */
export interface StateValues {
  /** Q of the actions of the form. */
  readonly values: readonly number[];
  /** Actions of the policy, as the environment takes them, row-major. */
  readonly samples: readonly number[];
}

/** Form in which Q and the policy are drawn in one state. */
export interface PlotForm {
  /** The actions whose values are drawn, a call of `qValues` for each. */
  readonly actions: readonly Float32Array[];
  /** Signs and their meaning. */
  readonly legend: readonly LegendEntry[];
  /** Draws a state into a frame, axes included. */
  draw(frame: Frame, state: StateValues): string;
  /** Describes a state as text. */
  describe(state: StateValues): string;
}

/** Pixels that axes take of a frame. */
const MARGINS = { marginLeft: 62, marginRight: 16, marginBottom: 40 };
/** Colours of Q and of what the policy does. */
const [Q, POLICY] = [0, 1];
/** Bins of a histogram over numbers of an action. */
const BINS = 40;
/** Colours of the ramp from low to high values. */
const RAMP_PARTS = 64;
/** Part of a frame that Q takes above the histogram. */
const UPPER_PART = 0.62;

interface ProfileOptions {
  /** The number that varies. */
  readonly along: { name: string; low: number; high: number };
  readonly actions: readonly Float32Array[];
  /** Place of the action's number in the row of a sample. */
  readonly row: { readonly size: number; readonly index: number };
  /** Actions that are discrete: a bar each. */
  readonly count?: number;
}

/** Makes plots of Q over one number of a box action, with a histogram of the samples. */
export function curvePlot(plane: ActionPlane, gridSize: number): PlotForm {
  const [along] = plane.axes;
  return profilePlot({
    along,
    actions: plane.lines(gridSize),
    row: { size: plane.size, index: along.index },
  });
}

/** Makes plots of Q of each discrete action, with the share that it has of the samples. */
export function barPlot({ n, start = 0 }: DiscreteSpace): PlotForm {
  return profilePlot({
    along: { name: "action", low: start - 0.5, high: start + n - 0.5 },
    actions: [new Float32Array()],
    row: { size: 1, index: 0 },
    count: n,
  });
}

/** Draws Q over the actions above, the samples below. */
function profilePlot(
  { along, actions, row, count }: ProfileOptions,
): PlotForm {
  const isBars = count !== undefined;
  const { name, low, high } = along;

  /** Counts the part of the samples that lies in each bin. */
  function sharesOf(samples: readonly number[]): number[] {
    const shares = Array<number>(count ?? BINS).fill(0);
    for (let i = row.index; i < samples.length; i += row.size) {
      const bin = Math.floor((samples[i] - low) / (high - low) * shares.length);
      shares[Math.min(Math.max(bin, 0), shares.length - 1)] += row.size /
        samples.length;
    }
    return shares;
  }

  /** Draws bars side by side along the axis. */
  function bars(heights: readonly number[], { base, inset, color }: {
    base: number;
    inset: number;
    color: number;
  }): Plot.Markish {
    const edge = (i: number) => low + i / heights.length * (high - low);
    return Plot.rectY(heights, {
      x1: (_, i) => edge(i),
      x2: (_, i) => edge(i + 1),
      y1: base,
      y2: (height) => height,
      insetLeft: inset,
      insetRight: inset,
      className: classes(color, "bp-fill"),
    });
  }

  function valueMarks(values: readonly number[], base: number): Plot.Markish {
    if (isBars) return bars(values, { base, inset: 3, color: Q });
    return Plot.lineY(values, {
      x: (_, i) => pointOn(along, i, values.length),
      className: classes(Q, "bp-line"),
      strokeWidth: 2,
    });
  }

  const domain = [low, high];
  const x = {
    ...axis(name, domain),
    domain,
    ...(isBars && { ticks: Math.min(count, 10), tickFormat: "d" }),
  };
  return {
    actions,
    legend: [
      { text: "Q", sign: isBars ? "box" : "line", color: Q },
      { text: "samples of the policy", sign: "box", color: POLICY },
    ],
    draw(frame, { values: given, samples }) {
      const values = drawn(given);
      const height = Math.round(UPPER_PART * frame.height);
      const lower = {
        ...frame,
        top: frame.top + height,
        height: frame.height - height,
      };
      const extent = finiteExtent(values) ?? [0, 1];
      const y = numberAxis("Q", extent, { room: 0.06 });
      const [least, most] = y.domain;
      // Bars begin at 0, or at the edge where 0 is out of sight.
      const base = Math.min(Math.max(0, least), most);
      const shares = sharesOf(samples);
      return chart({ ...frame, height }, {
        ...MARGINS,
        marginBottom: 6,
        x: { ...x, axis: null },
        y: { ...y, grid: true },
        marks: [valueMarks(values, base), ...notFinite(values)],
      }) + chart(lower, {
        ...MARGINS,
        x,
        y: {
          ...axis("samples", [1]),
          domain: [0, Math.max(...shares) || 1],
          nice: 2,
          ticks: 2,
          tickFormat: "~%",
          grid: true,
        },
        marks: [
          bars(shares, { base: 0, inset: isBars ? 3 : 0.25, color: POLICY }),
        ],
      });
    },
    describe({ values, samples }) {
      const valueAt = (i: number) =>
        isBars ? low + 0.5 + i : pointOn(along, i, values.length);
      const shares = sharesOf(samples);
      const most = largest(shares);
      const share = inWords(100 * shares[most]);
      const sampled = isBars
        ? `${share}% of the samples are action ${valueAt(most)}`
        : `the samples' mean is ${inWords(meanOf(samples, row))}`;
      const found = valuesInWords(
        values,
        (best) => `${name} = ${inWords(valueAt(best))}`,
      );
      return `${found}; ${sampled}`;
    },
  };
}

/** About how many contours there are; they lie at round numbers. */
const LEVELS = 20;

/** Makes plots of contours of Q over two numbers of the action, with samples as dots over them. */
export function contourPlot(plane: ActionPlane, gridSize: number): PlotForm {
  const { axes, size } = plane;
  const [across, up] = axes;
  const [x, y] = axes.map(({ name, low, high }) => {
    const domain = [low, high];
    return { ...axis(name, domain), domain };
  });

  /** Draws the contours without axes: the frame cuts off what lies outside the bounds. */
  function field(frame: Frame, values: readonly number[]): string {
    const extent = finiteExtent(values);
    if (extent === undefined) return "";
    const [low, high] = extent;
    const color = { domain: extent, scheme: "viridis" } as const;
    // Points of the grid are in the middle of its cells.
    const half = ({ low, high }: ActionAxis) =>
      (high - low) / (gridSize - 1) / 2;
    const contours = chart(frame, {
      margin: 0,
      axis: null,
      x,
      y,
      color,
      marks: [
        Plot.contour(values, {
          width: gridSize,
          height: gridSize,
          x1: across.low - half(across),
          x2: across.high + half(across),
          y1: up.low - half(up),
          y2: up.high + half(up),
          value: Plot.identity,
          // Where rounding alone tells them apart, there is one.
          thresholds: rangeAround(low, high)[0] === low ? LEVELS : [low],
          fill: "value",
          title: "value",
          stroke: "white",
          strokeOpacity: 0.5,
        } as Plot.ContourOptions),
      ],
    });
    const at = (part: number) => low + part / RAMP_PARTS * (high - low);
    const ramp = { ...frame, top: frame.top - 58, height: 46 };
    return contours + chart(ramp, {
      margin: 0,
      marginBottom: 34,
      x: { ...axis("Q", extent), domain: extent },
      color,
      marks: [
        Plot.rectX(Array.from({ length: RAMP_PARTS }, (_, i) => i), {
          x1: at,
          x2: (part) => at(part + 1),
          fill: (part) => at(part + 0.5),
          // No ground is seen between them.
          insetRight: -0.5,
        }),
      ],
    });
  }

  return {
    actions: plane.lines(gridSize),
    legend: [{ text: "samples of the policy", sign: "dot", color: POLICY }],
    draw(frame, { values: given, samples }) {
      const values = drawn(given);
      const { marginLeft, marginRight, marginBottom } = MARGINS;
      const marginTop = 64;
      const inner = {
        left: frame.left + marginLeft,
        top: frame.top + marginTop,
        width: frame.width - marginLeft - marginRight,
        height: frame.height - marginTop - marginBottom,
      };
      const rows = Array.from(
        { length: samples.length / size },
        (_, i) => axes.map(({ index }) => samples[i * size + index]),
      );
      return field(inner, values) + chart(frame, {
        ...MARGINS,
        marginTop,
        x,
        y,
        marks: [
          ...notFinite(values),
          Plot.dot(rows, {
            x: "0",
            y: "1",
            r: 2.6,
            stroke: "white",
            className: classes(POLICY, "bp-fill", "bp-samples"),
          }),
          Plot.frame(),
        ],
      });
    },
    describe({ values, samples }) {
      const place = (best: number) =>
        axes.map((axis, i) => {
          const at = i === 0 ? best % gridSize : Math.floor(best / gridSize);
          return `${axis.name} = ${inWords(pointOn(axis, at, gridSize))}`;
        }).join(", ");
      const means = axes
        .map(({ index }) => inWords(meanOf(samples, { size, index })));
      const found = valuesInWords(values, place);
      return `${found}; the samples' mean is ${means.join(", ")}`;
    },
  };
}

/** Returns finite values as they are drawn, others as they are. */
function drawn(values: readonly number[]): number[] {
  return values.map((it) => Number.isFinite(it) ? drawable(it) : it);
}

/** Finds the largest value's place; NaN is the least. */
function largest(values: readonly number[]): number {
  let best = 0;
  for (let i = 1; i < values.length; i++) {
    if (values[i] > values[best] || Number.isNaN(values[best])) best = i;
  }
  return best;
}

/** Means one column of rows. */
function meanOf(
  rows: readonly number[],
  { size, index }: { size: number; index: number },
): number {
  let sum = 0;
  for (let i = index; i < rows.length; i += size) sum += rows[i];
  return sum * size / rows.length;
}

/** Describes the range of Q, and where it is highest. */
function valuesInWords(
  values: readonly number[],
  placeOf: (best: number) => string,
): string {
  const extent = finiteExtent(values);
  if (extent === undefined) return NOT_FINITE;
  const [low, high] = extent.map((it) => inWords(it));
  return `Q from ${low} to ${high}, highest at ${placeOf(largest(values))}`;
}

/** Writes in the middle of a chart that there is nothing to draw. */
function notFinite(values: readonly number[]): Plot.Markish[] {
  return finiteExtent(values) === undefined
    ? [Plot.text([NOT_FINITE], { frameAnchor: "middle" })]
    : [];
}

const NOT_FINITE = "Q is not finite";
