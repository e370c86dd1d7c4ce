// @ts-types="@types/d3-scale"
import { type ScaleLinear, scaleLinear } from "d3-scale";
import { element, type Frame, label, pixels } from "./_plot_markup.ts";

/** From numbers to pixels. */
export type Scale = ScaleLinear<number, number>;

/** Numbers along the width of a frame. */
export function acrossScale(
  { left, width }: Frame,
  domain: readonly [number, number],
): Scale {
  return scaleLinear(domain, [left, left + width]);
}

/** Numbers up the height of a frame. */
export function upScale(
  { top, height }: Frame,
  domain: readonly [number, number],
): Scale {
  return scaleLinear(domain, [top + height, top]);
}

/** Some round numbers of a scale, and how they are written. */
export function ticksOf(
  scale: Scale,
  count: number,
): { at: number; text: string }[] {
  const size = Math.max(...scale.domain().map(Math.abs));
  const format = scale.tickFormat(
    count,
    size >= 1e5 ? "~s" : size < 1e-3 ? "~e" : undefined,
  );
  return scale.ticks(count).map((value) => ({
    at: scale(value),
    text: value === 0 ? "0" : format(value),
  }));
}

/** Ticks below a frame, with what they count. */
export function axisBelow(
  { left, top, width, height }: Frame,
  { ticks, name }: {
    ticks: readonly { at: number; text: string }[];
    name: string;
  },
): string {
  const bottom = top + height;
  return [
    ...ticks.map(({ at, text }) =>
      element("path", {
        class: "qp-axis",
        d: `M${pixels(at)} ${pixels(bottom)}v4`,
      }) +
      label(text, { x: at, y: bottom + 17, style: "qp-text qp-tick qp-middle" })
    ),
    label(name, {
      x: left + width / 2,
      y: bottom + 34,
      style: "qp-text qp-middle",
    }),
  ].join("");
}

/** Ticks left of a frame, with what they count above them. */
export function axisLeft(
  { left, top }: Frame,
  { ticks, name, across = 0 }: {
    ticks: readonly { at: number; text: string }[];
    name: string;
    /** How far lines go from the ticks into the frame. */
    across?: number;
  },
): string {
  return [
    ...ticks.map(({ at, text }) =>
      (across > 0
        ? element("path", {
          class: "qp-grid",
          d: `M${pixels(left)} ${pixels(at)}h${pixels(across)}`,
        })
        : "") +
      element("path", {
        class: "qp-axis",
        d: `M${pixels(left)} ${pixels(at)}h-4`,
      }) +
      label(text, {
        x: left - 7,
        y: at + 4,
        style: "qp-text qp-tick qp-end",
      })
    ),
    label(name, { x: left, y: top - 7, style: "qp-text" }),
  ].join("");
}

/** The edge of a frame. */
export function edgeOf({ left: x, top: y, width, height }: Frame): string {
  return element("rect", {
    class: "qp-axis",
    "stroke-width": 1.5,
    x,
    y,
    width,
    height,
  });
}

/** The smallest and the largest number that is finite, if there is one. */
export function finiteExtent(
  values: ArrayLike<number>,
): [number, number] | undefined {
  let [low, high] = [Infinity, -Infinity];
  for (let i = 0; i < values.length; i++) {
    if (!Number.isFinite(values[i])) continue;
    low = Math.min(low, values[i]);
    high = Math.max(high, values[i]);
  }
  return low <= high ? [low, high] : undefined;
}

/** A number, if it is in a range; float32 may miss the ends by a little. */
export function within(
  { low, high }: { low: number; high: number },
  value: number,
): number | undefined {
  const slack = 1e-6 * (high - low);
  const isInside = value >= low - slack && value <= high + slack;
  return isInside ? Math.min(Math.max(value, low), high) : undefined;
}
