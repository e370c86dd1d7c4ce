import type { DiscreteSpace } from "@bellman/types";
// @ts-types="@types/d3-shape"
import { line } from "d3-shape";
import type { ActionPlane } from "./_action_plane.ts";
import {
  acrossScale,
  axisBelow,
  axisLeft,
  element,
  finiteExtent,
  type Frame,
  inWords,
  pixels,
  type Scale,
  ticksOf,
  upScale,
  within,
} from "./svg.ts";
import {
  largest,
  type LegendEntry,
  meanOf,
  notFinite,
  type PlotForm,
  type StateValues,
  valuesInWords,
} from "./_plot_form.ts";

/** Bins of a histogram over numbers of an action. */
const bins = 40;
/** The part of a frame that Q takes; what is between is a heading. */
const upperPart = 0.68;
const headingHeight = 26;
/** The part of a bar's place that is left free. */
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

/** Q over one number of a box action, with a histogram of the samples. */
export function curvePlot(plane: ActionPlane, gridSize: number): PlotForm {
  const [axis] = plane.axes;
  return new ProfilePlot({
    axis,
    actions: plane.lines(gridSize),
    row: { size: plane.size, index: axis.index },
  });
}

/** Q of each discrete action, with the share that it has of the samples. */
export function barPlot({ n, start = 0 }: DiscreteSpace): PlotForm {
  return new ProfilePlot({
    axis: { name: "action", low: start - 0.5, high: start + n - 0.5 },
    actions: [new Float32Array()],
    row: { size: 1, index: 0 },
    count: n,
  });
}

/** Q over the actions above, the samples below. */
class ProfilePlot implements PlotForm {
  readonly actions: readonly Float32Array[];
  readonly margin = 16;
  readonly legend: readonly LegendEntry[];
  readonly #options: ProfileOptions;

  constructor(options: ProfileOptions) {
    this.#options = options;
    this.actions = options.actions;
    const isCurve = options.count === undefined;
    this.legend = [
      { text: "Q", draw: isCurve ? drawLine : drawBox("qp-bar") },
      { text: "samples of the policy", draw: drawBox("qp-share") },
    ];
  }

  draw(frame: Frame, { values, samples }: StateValues): string {
    const { axis, count } = this.#options;
    const height = Math.round(upperPart * frame.height);
    const upper = { ...frame, height };
    const lower = {
      ...frame,
      top: frame.top + height + headingHeight,
      height: frame.height - height - headingHeight,
    };
    const x = acrossScale(frame, [axis.low, axis.high]);
    const ticks = count === undefined ? ticksOf(x, 5) : wholeTicks(x, count);
    const isBars = count !== undefined;
    return drawValues(upper, { values, isBars }) +
      drawShares(lower, { shares: this.#shares(samples), isBars }) +
      axisBelow(lower, { ticks, name: axis.name });
  }

  /** The part of the samples that lies in each bin. */
  #shares(samples: ArrayLike<number>): Float64Array {
    const { axis, row: { size, index }, count = bins } = this.#options;
    const shares = new Float64Array(count);
    for (let i = index; i < samples.length; i += size) {
      const value = within(axis, samples[i]);
      if (value === undefined) continue;
      const bin = (value - axis.low) / (axis.high - axis.low) * count;
      shares[Math.min(Math.floor(bin), count - 1)] += size / samples.length;
    }
    return shares;
  }

  describe({ values, samples }: StateValues): string {
    const { axis, row, count } = this.#options;
    const valueAt = (i: number) =>
      count === undefined
        ? axis.low + i / (values.length - 1) * (axis.high - axis.low)
        : axis.low + 0.5 + i;
    const shares = this.#shares(samples);
    const most = largest(shares);
    const sampled = count === undefined
      ? `the samples' mean is ${inWords(meanOf(samples, row))}`
      : `${inWords(100 * shares[most])}% of the samples are action ${
        valueAt(most)
      }`;
    return `${
      valuesInWords(
        values,
        (best) => `${axis.name} = ${inWords(valueAt(best))}`,
      )
    }; ${sampled}`;
  }
}

function drawLine({ left, top, width, height }: Frame): string {
  const d = `M${pixels(left)} ${pixels(top + height / 2)}h${pixels(width)}`;
  return element("path", { class: "qp-line", d });
}

function drawBox(style: string): LegendEntry["draw"] {
  return ({ left: x, top: y, width, height }) =>
    element("rect", { class: style, x, y, width, height });
}

/** Whole numbers alone, thinned out where they are many. */
function wholeTicks(x: Scale, count: number): { at: number; text: string }[] {
  return x.ticks(Math.min(count, 10)).filter(Number.isInteger)
    .map((value) => ({ at: x(value), text: String(value) }));
}

/** Q as a curve over the whole width, or as a bar for each action. */
function drawValues(
  frame: Frame,
  { values, isBars }: { values: ArrayLike<number>; isBars: boolean },
): string {
  const extent = finiteExtent(values);
  if (extent === undefined) return notFinite(frame);
  const [low, high] = extent;
  const padding = (high - low) * 0.06 || 1;
  const y = upScale(frame, [low - padding, high + padding]).nice(5);
  const axis = axisLeft(frame, {
    ticks: ticksOf(y, 5),
    name: "Q",
    across: frame.width,
  });
  if (isBars) {
    return axis +
      bars(frame, { heights: values, y, style: "qp-bar", gap: barGap });
  }
  const x = acrossScale(frame, [0, values.length - 1]);
  const curve = line().digits(1).defined(([, value]) => Number.isFinite(value))
    .x(([i]) => x(i)).y(([, value]) => y(value));
  const points = Array.from(values, (value, i): [number, number] => [i, value]);
  return axis + element("path", { class: "qp-line", d: curve(points) ?? "" });
}

/** Shares of the samples, as bars from 0. */
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

/** Bars from 0, or from the bottom where 0 is out of sight. */
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
    return element("rect", {
      class: style,
      x: left + (i + gap / 2) * place,
      y: Math.min(base, end),
      width: (1 - gap) * place,
      height: Math.abs(end - base),
    });
  }).join("");
}
