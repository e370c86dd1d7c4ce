// @ts-types="@types/d3-scale"
import { type ScaleLinear, scaleLinear } from "d3-scale";

/** What XML does not allow, not even escaped. */
const FORBIDDEN =
  /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

/**
 * Text for use in HTML and SVG, also within attributes. Characters that XML
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

/** Colours of curves, apart for light and dark grounds; both sets keep apart for colour-blind readers. */
const light = [
  "#0b6bcb",
  "#d9480f",
  "#1a8f5a",
  "#9c36b5",
  "#b78103",
  "#c2255c",
];
const dark = ["#58a6ff", "#ff922b", "#3ecf8e", "#da77f2", "#f2c94c", "#ff6b9d"];

/** How many colours there are. */
export const paletteSize = light.length;

function colors(palette: readonly string[]): string {
  return palette.map((color, i) =>
    `.bc-line${i}{stroke:${color}}.bc-fill${i}{fill:${color}}`
  ).join("");
}

/** The style sheet of curves. Its classes begin with `bc-`, as the style of an image within a page holds for all of the page. */
export const curveStyle: string = [
  "text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}",
  ".bc-ground{fill:#ffffff}",
  ".bc-title{font-size:16px;font-weight:600;fill:#1c2024}",
  ".bc-legend{font-size:12.5px;fill:#40464d}",
  ".bc-label{font-size:12.5px;fill:#5d656e}",
  ".bc-tick{font-size:11.5px;fill:#5d656e;font-variant-numeric:tabular-nums}",
  ".bc-middle{text-anchor:middle}.bc-end{text-anchor:end}",
  ".bc-grid{stroke:#e8ebee;fill:none}",
  ".bc-axis{stroke:#a4adb6;fill:none}",
  ".bc-line{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}",
  ".bc-dots{fill:none;stroke-width:3;stroke-linecap:round;opacity:.3}",
  ".bc-band{opacity:.16}.bc-raw{opacity:.28;stroke-width:1.2}",
  colors(light),
  "@media (prefers-color-scheme:dark){",
  ".bc-ground{fill:#16191d}.bc-title{fill:#f0f3f6}.bc-legend{fill:#c3cad2}",
  ".bc-label,.bc-tick{fill:#98a2ad}.bc-grid{stroke:#2a2f36}",
  ".bc-axis{stroke:#5b646e}.bc-band{opacity:.2}.bc-dots{opacity:.34}",
  colors(dark),
  "}",
].join("");

/** The style sheet of reports. */
export const reportStyle: string = `
:root { color-scheme: light dark; --ground: #f4f6f8; --card: #ffffff; --text: #1c2024; --soft: #5d656e; --edge: #e3e7eb }
@media (prefers-color-scheme: dark) { :root { --ground: #0e1013; --card: #16191d; --text: #f0f3f6; --soft: #98a2ad; --edge: #2a2f36 } }
* { box-sizing: border-box }
body { margin: 0; background: var(--ground); color: var(--text); font: 15px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif }
main { max-width: 1120px; margin: 0 auto; padding: 40px 24px 64px }
h1 { margin: 0 0 4px; font-size: 28px; letter-spacing: -0.01em }
h2 { margin: 40px 0 12px; font-size: 18px }
.facts { display: flex; flex-wrap: wrap; gap: 12px; margin: 20px 0 0; padding: 0 }
.facts div { background: var(--card); border: 1px solid var(--edge); border-radius: 8px; padding: 10px 16px; min-width: 120px }
.facts dt { color: var(--soft); font-size: 12.5px }
.facts dd { margin: 0; font-size: 18px; font-weight: 600; font-variant-numeric: tabular-nums }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 440px), 1fr)); gap: 16px }
figure { margin: 0; border: 1px solid var(--edge); border-radius: 8px; overflow: hidden; background: var(--card) }
figure.wide { margin-top: 28px }
figure svg { display: block; width: 100%; height: auto }
pre { margin: 0; padding: 16px 20px; overflow-x: auto; background: var(--card); border: 1px solid var(--edge); border-radius: 8px; font: 13px/1.5 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace }
`;

/** A rectangle in pixels. */
export interface Frame {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** An element of an image; its content is markup. */
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

/** A text at a place. */
export function label(
  content: string,
  { x, y, style }: { x: number; y: number; style: string },
): string {
  return element("text", { class: style, x, y }, escapeMarkup(content));
}

/** A length: a tenth of a pixel is fine enough. */
export function pixels(value: number): string {
  return String(Math.round(value * 10) / 10);
}

/** A number with so many digits, for sentences. */
export function inWords(value: number, digits = 4): string {
  return String(Number(value.toPrecision(digits)));
}

/**
 * The style sheet. Its classes begin with `qp-`, as the style of an image within
 * a page holds for all of the page.
 */
export const plotStyle: string = [
  ".qp-text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;font-size:12px;fill:#40464d}",
  ".qp-title{font-size:16px;font-weight:600;fill:#1c2024}",
  ".qp-name{font-size:13px;font-weight:600}",
  ".qp-tick{font-size:11px;fill:#5d656e;font-variant-numeric:tabular-nums}",
  ".qp-middle{text-anchor:middle}.qp-end{text-anchor:end}",
  ".qp-ground{fill:#ffffff}",
  ".qp-axis{stroke:#a4adb6;fill:none}.qp-grid{stroke:#e8ebee;fill:none}",
  ".qp-contour{stroke:#ffffff;stroke-opacity:.5;stroke-width:.7;fill-rule:evenodd}",
  ".qp-line{fill:none;stroke:#0b6bcb;stroke-width:2;stroke-linejoin:round}",
  ".qp-bar{fill:#0b6bcb}",
  ".qp-dot{fill:#d9480f;stroke:#ffffff;stroke-width:1}.qp-share{fill:#d9480f}",
  "@media (prefers-color-scheme:dark){",
  ".qp-ground{fill:#16191d}.qp-text{fill:#c3cad2}.qp-title{fill:#f0f3f6}",
  ".qp-tick{fill:#98a2ad}.qp-axis{stroke:#5b646e}.qp-grid{stroke:#2a2f36}",
  ".qp-line{stroke:#58a6ff}.qp-bar{fill:#58a6ff}",
  ".qp-share{fill:#ff922b}",
  "}",
].join("");

// @ts-types="@types/d3-scale"

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

/** Ticks below a frame, with what they count. */
export function axisBelow(
  { left, top, width, height }: Frame,
  { ticks, name }: {
    ticks: readonly Tick[];
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
    ticks: readonly Tick[];
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
