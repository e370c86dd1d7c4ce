// @ts-types="@types/d3-scale"
import { type ScaleLinear, scaleLinear } from "d3-scale";
import texts from "./texts.json" with { type: "json" };

/** Characters that XML does not allow, not even escaped. */
const FORBIDDEN =
  /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

/**
 * Escapes text for use in HTML and SVG, also within attributes. Characters that XML
 * does not allow are left out.
 *
 * @param text Any text.
 * @returns Markup that shows it.
 *
 * @example
 * ```ts
 * import { escapeMarkup } from "@bellman/training";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(escapeMarkup('a < "b"\0'), "a &lt; &quot;b&quot;");
 * ```
 */
export function escapeMarkup(text: string): string {
  return text.replace(FORBIDDEN, "")
    .replace(/[&<>"]/g, (character) => ESCAPES[character]);
}

/** Number of colours of curves. */
export const paletteSize = 6;

/** Style sheet of curves, for an image. */
export const curveStyle: string = compact(texts["curves.css"]);

/** Style sheet of Q plots, for an image. */
export const plotStyle: string = compact(texts["q_values.css"]);

/** Drops comments and line breaks of a style sheet. */
function compact(css: string): string {
  return css.replace(/\/\*.*?\*\/|\s+/gs, " ").trim();
}

/** Rectangle in pixels. */
export interface Frame {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** Writes an element of an image; its content is markup. */
export function element(
  name: string,
  attributes: Readonly<Record<string, string | number>>,
  ...content: readonly string[]
): string {
  const written = Object.entries(attributes).map(([key, value]) =>
    ` ${key}="${
      typeof value === "number" ? pixels(value) : escapeMarkup(value)
    }"`
  ).join("");
  return content.length === 0
    ? `<${name}${written}/>`
    : `<${name}${written}>${content.join("")}</${name}>`;
}

/** Writes a whole image, which is called by its title. */
export function image(
  { width, height, title }: { width: number; height: number; title: string },
  ...content: readonly string[]
): string {
  const root = {
    xmlns: "http://www.w3.org/2000/svg",
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    role: "img",
    "aria-label": title,
  };
  return element("svg", root, ...content) + "\n";
}

/** Writes a text at a place. */
export function label(
  content: string,
  { x, y, style }: { x: number; y: number; style: string },
): string {
  return element("text", { class: style, x, y }, escapeMarkup(content));
}

/** Writes a length: a tenth of a pixel is fine enough. */
export function pixels(value: number): string {
  return String(Math.round(value * 10) / 10);
}

/** Writes a number with so many digits, for sentences. */
export function inWords(value: number, digits = 4): string {
  return String(Number(value.toPrecision(digits)));
}

// @ts-types="@types/d3-scale"

/** From numbers to pixels. */
export type Scale = ScaleLinear<number, number>;

/** Scales numbers to the width of a frame. */
export function acrossScale(
  { left, width }: Frame,
  domain: readonly [number, number],
): Scale {
  return scaleLinear(domain, [left, left + width]);
}

/** Scales numbers to the height of a frame. */
export function upScale(
  { top, height }: Frame,
  domain: readonly [number, number],
): Scale {
  return scaleLinear(domain, [top + height, top]);
}

/** Tick of an axis: its place in pixels and its text. */
export interface Tick {
  readonly at: number;
  readonly text: string;
}

/** Chooses some round numbers of a scale, and how they are written. */
export function ticksOf(
  scale: Scale,
  count: number,
  format: (value: number) => string = formatOf(scale, count),
): Tick[] {
  return scale.ticks(count).map((value) => ({
    at: scale(value),
    text: value === 0 ? "0" : format(value),
  }));
}

/** Chooses how numbers of a scale are written. */
export function formatOf(
  scale: Scale,
  count: number,
): (value: number) => string {
  const size = Math.max(...scale.domain().map(Math.abs));
  const specifier = size >= 1e5 ? "~s" : size < 1e-3 ? "~e" : undefined;
  return scale.tickFormat(count, specifier);
}

/** Draws a path in a style. */
export function path(style: string, d: string): string {
  return element("path", { class: style, d });
}

/** Draws a frame as a rectangle. */
export function rectangle(
  attributes: Readonly<Record<string, string | number>>,
  { left: x, top: y, width, height }: Frame,
): string {
  return element("rect", { ...attributes, x, y, width, height });
}

/** Draws ticks below a frame, with their name. */
export function axisBelow(
  { left, top, width, height }: Frame,
  { ticks, name }: { ticks: readonly Tick[]; name: string },
): string {
  const bottom = top + height;
  return [
    ...ticks.map(({ at, text }) =>
      path("qp-axis", `M${pixels(at)} ${pixels(bottom)}v4`) +
      label(text, { x: at, y: bottom + 17, style: "qp-text qp-tick qp-middle" })
    ),
    label(name, {
      x: left + width / 2,
      y: bottom + 34,
      style: "qp-text qp-middle",
    }),
  ].join("");
}

/** Draws ticks left of a frame, with their name above them. */
export function axisLeft(
  { left, top }: Frame,
  { ticks, name, across = 0 }: {
    ticks: readonly Tick[];
    name: string;
    /** Length of the lines from the ticks into the frame. */
    across?: number;
  },
): string {
  return [
    ...ticks.map(({ at, text }) =>
      (across > 0
        ? path("qp-grid", `M${pixels(left)} ${pixels(at)}h${pixels(across)}`)
        : "") +
      path("qp-axis", `M${pixels(left)} ${pixels(at)}h-4`) +
      label(text, { x: left - 7, y: at + 4, style: "qp-text qp-tick qp-end" })
    ),
    label(name, { x: left, y: top - 7, style: "qp-text" }),
  ].join("");
}

/** Draws the edge of a frame. */
export function edgeOf(frame: Frame): string {
  return rectangle({ class: "qp-axis", "stroke-width": 1.5 }, frame);
}

/** Finds the smallest and the largest number that is finite, if there is one. */
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

/** Keeps a number that is in a range; float32 may miss the ends by a little. */
export function within(
  { low, high }: { low: number; high: number },
  value: number,
): number | undefined {
  const slack = 1e-6 * (high - low);
  const isInside = value >= low - slack && value <= high + slack;
  return isInside ? Math.min(Math.max(value, low), high) : undefined;
}
