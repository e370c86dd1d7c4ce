import type { DiscreteSpace } from "@bellman/types";
// @ts-types="@types/d3-contour"
import { contours } from "d3-contour";
// @ts-types="@types/d3-scale"
import { scaleLinear } from "d3-scale";
// @ts-types="@types/d3-shape"
import { line } from "d3-shape";
import type { ActionPlane } from "./_action_plane.ts";
import {
  acrossScale,
  axisBelow,
  axisLeft,
  edgeOf,
  element,
  finiteExtent,
  type Frame,
  inWords,
  label,
  path,
  pixels,
  rectangle,
  type Scale,
  ticksOf,
  upScale,
  within,
} from "./svg.ts";

/** Q values and actions in one state. */
export interface StateValues {
  /** Q of the actions that the form asks for. */
  readonly values: ArrayLike<number>;
  /** Actions of the policy, as the environment takes them, row-major. */
  readonly samples: ArrayLike<number>;
}

/** Sign of a legend and its meaning. */
export interface LegendEntry {
  readonly text: string;
  /** Draws the sign into a small frame. */
  draw(frame: Frame): string;
}

/** Form in which Q and the policy are drawn in one state. */
export interface PlotForm {
  /** The actions whose values are drawn, a call of `qValues` for each. */
  readonly actions: readonly Float32Array[];
  /** Pixels that it needs right of its frame. */
  readonly margin: number;
  /** Signs and their meaning. */
  readonly legend: readonly LegendEntry[];
  /** Draws a state. */
  draw(frame: Frame, state: StateValues): string;
  /** Describes a state in words. */
  describe(state: StateValues): string;
}

/** Bins of a histogram over numbers of an action. */
const bins = 40;
/** Part of a frame that Q takes; between them is a heading. */
const upperPart = 0.68;
const headingHeight = 26;
/** Part of a bar's place that is left free. */
const barGap = 0.2;
const binGap = 0.08;

interface ProfileOptions {
  readonly axis: { name: string; low: number; high: number };
  readonly actions: readonly Float32Array[];
  /** Place of the action's number in the row of a sample. */
  readonly row: { readonly size: number; readonly index: number };
  /** Actions that are discrete: a bar each. */
  readonly count?: number;
}

/** Makes plots of Q over one number of a box action, with a histogram of the samples. */
export function curvePlot(plane: ActionPlane, gridSize: number): PlotForm {
  const [axis] = plane.axes;
  return profilePlot({
    axis,
    actions: plane.lines(gridSize),
    row: { size: plane.size, index: axis.index },
  });
}

/** Makes plots of Q of each discrete action, with the share that it has of the samples. */
export function barPlot({ n, start = 0 }: DiscreteSpace): PlotForm {
  return profilePlot({
    axis: { name: "action", low: start - 0.5, high: start + n - 0.5 },
    actions: [new Float32Array()],
    row: { size: 1, index: 0 },
    count: n,
  });
}

/** Draws Q over the actions above, the samples below. */
function profilePlot({ axis, actions, row, count }: ProfileOptions): PlotForm {
  const isBars = count !== undefined;

  /** Counts the part of the samples that lies in each bin. */
  function sharesOf(samples: ArrayLike<number>): Float64Array {
    const shares = new Float64Array(count ?? bins);
    for (let i = row.index; i < samples.length; i += row.size) {
      const value = within(axis, samples[i]);
      if (value === undefined) continue;
      const bin = (value - axis.low) / (axis.high - axis.low) * shares.length;
      shares[Math.min(Math.floor(bin), shares.length - 1)] += row.size /
        samples.length;
    }
    return shares;
  }

  return {
    actions,
    margin: 16,
    legend: [
      { text: "Q", draw: isBars ? drawBox("qp-bar") : drawLine },
      { text: "samples of the policy", draw: drawBox("qp-share") },
    ],
    draw(frame, { values, samples }) {
      const height = Math.round(upperPart * frame.height);
      const lower = {
        ...frame,
        top: frame.top + height + headingHeight,
        height: frame.height - height - headingHeight,
      };
      const x = acrossScale(frame, [axis.low, axis.high]);
      const ticks = isBars ? wholeTicks(x, count) : ticksOf(x, 5);
      return drawValues({ ...frame, height }, { values, isBars }) +
        drawShares(lower, { shares: sharesOf(samples), isBars }) +
        axisBelow(lower, { ticks, name: axis.name });
    },
    describe({ values, samples }) {
      const valueAt = (i: number) =>
        isBars
          ? axis.low + 0.5 + i
          : axis.low + i / (values.length - 1) * (axis.high - axis.low);
      const shares = sharesOf(samples);
      const most = largest(shares);
      const share = inWords(100 * shares[most]);
      const sampled = isBars
        ? `${share}% of the samples are action ${valueAt(most)}`
        : `the samples' mean is ${inWords(meanOf(samples, row))}`;
      const found = valuesInWords(
        values,
        (best) => `${axis.name} = ${inWords(valueAt(best))}`,
      );
      return `${found}; ${sampled}`;
    },
  };
}

function drawLine({ left, top, width, height }: Frame): string {
  const d = `M${pixels(left)} ${pixels(top + height / 2)}h${pixels(width)}`;
  return path("qp-line", d);
}

function drawBox(style: string): LegendEntry["draw"] {
  return (frame) => rectangle({ class: style }, frame);
}

/** Chooses whole numbers alone, thinned out where they are many. */
function wholeTicks(x: Scale, count: number): { at: number; text: string }[] {
  return x.ticks(Math.min(count, 10)).filter(Number.isInteger)
    .map((value) => ({ at: x(value), text: String(value) }));
}

/** Draws Q as a curve over the whole width, or as a bar for each action. */
function drawValues(
  frame: Frame,
  { values, isBars }: { values: ArrayLike<number>; isBars: boolean },
): string {
  const extent = finiteExtent(values);
  if (extent === undefined) return notFinite(frame);
  const [low, high] = extent;
  const padding = (high - low) * 0.06 || 1;
  const y = upScale(frame, [low - padding, high + padding]).nice(5);
  const ticks = ticksOf(y, 5);
  const axis = axisLeft(frame, { ticks, name: "Q", across: frame.width });
  if (isBars) {
    const heights = { heights: values, y, style: "qp-bar", gap: barGap };
    return axis + bars(frame, heights);
  }
  const x = acrossScale(frame, [0, values.length - 1]);
  const curve = line().digits(1).defined(([, value]) => Number.isFinite(value))
    .x(([i]) => x(i)).y(([, value]) => y(value));
  const points = Array.from(values, (value, i): [number, number] => [i, value]);
  return axis + path("qp-line", curve(points) ?? "");
}

/** Draws shares of the samples, as bars from 0. */
function drawShares(
  frame: Frame,
  { shares, isBars }: { shares: Float64Array; isBars: boolean },
): string {
  const gap = isBars ? barGap : binGap;
  const y = upScale(frame, [0, Math.max(...shares) || 1]).nice(2);
  const format = y.tickFormat(2, "~%");
  return axisLeft(frame, {
    ticks: y.ticks(2).map((share) => ({ at: y(share), text: format(share) })),
    name: "share of samples",
    across: frame.width,
  }) + bars(frame, { heights: shares, y, style: "qp-share", gap });
}

/** Draws bars from 0, or from the bottom where 0 is out of sight. */
function bars(
  { left, width }: Frame,
  { heights, y, style, gap }: {
    heights: ArrayLike<number>;
    y: Scale;
    style: string;
    gap: number;
  },
): string {
  const [low, high] = y.domain();
  const base = y(Math.min(Math.max(0, low), high));
  const place = width / heights.length;
  return Array.from(heights, (value, i) => {
    if (!Number.isFinite(value)) return "";
    const end = y(value);
    return rectangle({ class: style }, {
      left: left + (i + gap / 2) * place,
      top: Math.min(base, end),
      width: (1 - gap) * place,
      height: Math.abs(end - base),
    });
  }).join("");
}

/** From low to high, also for colour-blind readers: viridis. */
const colors = ["#440154", "#3b528b", "#21918c", "#5ec962", "#fde725"];

/** Width of the bar of colours. */
const barWidth = 12;

/**
 * Makes plots of contours of Q over two numbers of the action, about so many
 * `levels`, with samples as dots over them.
 */
export function contourPlot(
  plane: ActionPlane,
  { gridSize, levels: count }: { gridSize: number; levels: number },
): PlotForm {
  const { axes, size } = plane;
  const [across, up] = axes;

  function drawField(frame: Frame, values: ArrayLike<number>): string {
    const extent = finiteExtent(values);
    if (extent === undefined) return notFinite(frame);
    const [low, high] = extent;
    const round = scaleLinear(extent, [0, 1]);
    const text = round.tickFormat(count);
    const levels = round.ticks(count)
      .filter((level) => level > low && level < high);
    const fills = bandColors(levels.length + 1);
    const paths = contourPaths(values, { levels, gridSize, frame });
    return [
      rectangle({ fill: fills[0] }, frame),
      ...paths.map((d, i) =>
        element(
          "path",
          { class: "qp-contour", fill: fills[i + 1], d },
          element("title", {}, `Q above ${text(levels[i])}`),
        )
      ),
      colorBar(frame, { edges: [low, ...levels, high], fills }),
    ].join("");
  }

  function dots(samples: ArrayLike<number>, x: Scale, y: Scale): string[] {
    const drawn: string[] = [];
    for (let i = 0; i < samples.length; i += size) {
      const first = within(across, samples[i + across.index]);
      const second = within(up, samples[i + up.index]);
      if (first === undefined || second === undefined) continue;
      drawn.push(dot(x(first), y(second)));
    }
    return drawn;
  }

  return {
    actions: plane.lines(gridSize),
    margin: 64,
    legend: [
      { text: "Q, from low to high", draw: drawColors },
      { text: "samples of the policy", draw: drawDot },
    ],
    draw(frame, { values, samples }) {
      const x = acrossScale(frame, [across.low, across.high]);
      const y = upScale(frame, [up.low, up.high]);
      return [
        drawField(frame, values),
        element("g", { class: "qp-dots" }, ...dots(samples, x, y)),
        edgeOf(frame),
        axisBelow(frame, { ticks: ticksOf(x, 5), name: across.name }),
        axisLeft(frame, { ticks: ticksOf(y, 5), name: up.name }),
      ].join("");
    },
    describe({ values, samples }) {
      const place = (best: number) =>
        axes.map((axis, i) => {
          const at = i === 0 ? best % gridSize : Math.floor(best / gridSize);
          const value = plane.points(axis, gridSize)[at];
          return `${axis.name} = ${inWords(value)}`;
        }).join(", ");
      const means = axes
        .map(({ index }) => inWords(meanOf(samples, { size, index })));
      const found = valuesInWords(values, place);
      return `${found}; the samples' mean is ${means.join(", ")}`;
    },
  };
}

function dot(cx: number, cy: number): string {
  return element("circle", { class: "qp-dot", cx, cy, r: 2.6 });
}

function drawDot({ left, top, width, height }: Frame): string {
  return dot(left + width / 2, top + height / 2);
}

function drawColors({ left, top, width, height }: Frame): string {
  const part = { top, width: width / colors.length, height };
  return colors.map((fill, i) =>
    rectangle({ fill }, { ...part, left: left + i * width / colors.length })
  ).join("");
}

/** Chooses colours of bands, from low to high. */
function bandColors(count: number): string[] {
  const color = scaleLinear<string>()
    .domain(colors.map((_, i) => i / (colors.length - 1))).range(colors);
  return Array.from(
    { length: count },
    (_, i) => color(count === 1 ? 0.5 : i / (count - 1)),
  );
}

/** Draws for each level a path around all that lies above it, in pixels. */
function contourPaths(
  values: ArrayLike<number>,
  { levels, gridSize, frame }: {
    levels: number[];
    gridSize: number;
    frame: Frame;
  },
): string[] {
  const { left, top, width, height } = frame;
  // Point i of the grid comes at i + 0.5; what lies outside goes to the edge.
  const fraction = (at: number) =>
    Math.min(Math.max((at - 0.5) / (gridSize - 1), 0), 1);
  const point = ([x, y]: number[]) =>
    `${pixels(left + width * fraction(x))} ${
      pixels(top + height * (1 - fraction(y)))
    }`;
  return contours().size([gridSize, gridSize]).thresholds(levels)(
    Array.from(values),
  ).map(({ coordinates }) =>
    coordinates.flat().map((ring) => `M${ring.map(point).join("L")}Z`).join("")
  );
}

/** Draws the scale of the colours. */
function colorBar(
  { left, top, width, height }: Frame,
  { edges, fills }: { edges: readonly number[]; fills: readonly string[] },
): string {
  const bar = { left: left + width + 10, top, width: barWidth, height };
  const [low, high] = [edges[0], edges[edges.length - 1]];
  const at = upScale(bar, [low, high]);
  const isFlat = low === high;
  const parts = fills.map((fill, i) => {
    const [y, bottom] = isFlat
      ? [top, top + height]
      : [at(edges[i + 1]), at(edges[i])];
    return rectangle({ fill }, { ...bar, top: y, height: bottom - y });
  });
  const x = bar.left + barWidth + 5;
  const ticks = isFlat ? [{ at: at(low), text: inWords(low) }] : ticksOf(at, 6);
  return [
    ...parts,
    edgeOf(bar),
    ...ticks.map((tick) =>
      label(tick.text, { x, y: tick.at + 4, style: "qp-text qp-tick" })
    ),
    label("Q", { x: bar.left, y: top - 7, style: "qp-text" }),
  ].join("");
}

/** Finds the largest number. */
function largest(values: ArrayLike<number>): number {
  let best = 0;
  for (let i = 1; i < values.length; i++) {
    if (values[i] > values[best] || Number.isNaN(values[best])) best = i;
  }
  return best;
}

/** Computes the mean of one number of rows. */
function meanOf(
  rows: ArrayLike<number>,
  { size, index }: { size: number; index: number },
): number {
  let sum = 0;
  for (let i = index; i < rows.length; i += size) sum += rows[i];
  return sum * size / rows.length;
}

/** Describes Q; the place is that of the largest value. */
function valuesInWords(
  values: ArrayLike<number>,
  placeOf: (best: number) => string,
): string {
  const extent = finiteExtent(values);
  if (extent === undefined) return NOT_FINITE;
  const [low, high] = extent.map((it) => inWords(it));
  return `Q from ${low} to ${high}, highest at ${placeOf(largest(values))}`;
}

/** Draws a note in the place of values that are not finite. */
function notFinite({ left, top, width, height }: Frame): string {
  const middle = { x: left + width / 2, y: top + height / 2 };
  return label(NOT_FINITE, { ...middle, style: "qp-text qp-middle" });
}

const NOT_FINITE = "Q is not finite";
