import { drawable, rangeAround, ticksOver } from "@bellman/statistics";
import * as Plot from "@observablehq/plot";
import { DOMImplementation } from "@xmldom/xmldom";
import texts from "./texts.json" with { type: "json" };

/** Code points that XML does not allow: control characters and lone surrogates. */
const FORBIDDEN =
  /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

/**
 * Escapes text for HTML and SVG, attributes included. Characters that XML does not
 * allow are removed.
 *
 * @param text Any text.
 * @returns Escaped markup.
 *
 * @example
 * ```ts
 * import { escapeMarkup } from "@bellman/training/plots";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(escapeMarkup('a < "b"\0'), "a &lt; &quot;b&quot;");
 * ```
 */
export function escapeMarkup(text: string): string {
  return text.replace(FORBIDDEN, "")
    .replace(/[&<>"]/g, (character) => ESCAPES[character]);
}

/** Number of colours in a palette. */
const paletteSize = 6;

/** Makes CSS classes of marks in the colour of a series (`currentColor`). */
export function classes(color: number, ...names: readonly string[]): string {
  return [`bp-color${color % paletteSize}`, ...names].join(" ");
}

/** Part of an image, in pixels. */
export interface Frame {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** Document for the elements of charts, since there is no page. */
const document = new DOMImplementation().createDocument(null, "images");

/** Draws a chart into a frame of an image. */
export function chart(
  { left, top, width, height }: Frame,
  options: Plot.PlotOptions,
): string {
  const svg = Plot.plot({
    ...options,
    width,
    height,
    className: "bp-chart",
    document: document as never,
  });
  // Its style is for pages only.
  svg.removeChild(svg.getElementsByTagName("style")[0]);
  svg.setAttribute("x", String(left));
  svg.setAttribute("y", String(top));
  // Hundredths of a pixel are precise enough.
  return String(svg).replace(/(="-?\d+\.\d\d)\d{3,}(?=")/g, "$1");
}

/** Entry of a legend: a symbol in the colour of a series, and its label. */
export interface LegendEntry {
  readonly text: string;
  readonly sign: keyof typeof SIGNS;
  /** Index of the colour. */
  readonly color: number;
}

const SIGNS = {
  line: '<path d="M0 -4h16" stroke="currentColor" stroke-width="2"/>',
  dot: '<circle cx="8" cy="-4" r="3" fill="currentColor"/>',
  box: '<rect y="-9" width="16" height="10" fill="currentColor"/>',
};

/** Mean width of a letter, in pixels. */
const LETTER = 6.7;
/** Mean width of a title's letter. */
const TITLE_LETTER = 8.7;

/** Breaks a text into lines of a width. */
function linesOf(text: string, width: number, letter = LETTER): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const longer = lines.length === 0 ? word : `${lines.at(-1)} ${word}`;
    const fits = lines.length > 0 && longer.length * letter <= width;
    if (fits) lines[lines.length - 1] = longer;
    else if (word !== "") lines.push(word);
  }
  return lines;
}

/**
 * Lays out a title, a subtitle and the entries of a legend, in as many rows as the
 * width needs.
 */
export function heading(
  { title, subtitle = "", legend, width }: {
    title: string;
    subtitle?: string;
    legend: readonly LegendEntry[];
    width: number;
  },
): { markup: string; height: number } {
  const below = linesOf(subtitle, width - 40);
  const titles = linesOf(title, width - 40, TITLE_LETTER);
  const start = titles.length > 0 ? 16 + 20 * titles.length : 8;
  const top = start + 17 * below.length;
  let [left, row] = [20, 0];
  const most = Math.floor((width - 62) / LETTER);
  const entries = legend.map(({ text: whole, sign, color }) => {
    const text = whole.length > most ? `${whole.slice(0, most - 1)}…` : whole;
    // Estimated from the mean width of letters.
    const size = 42 + text.length * LETTER;
    if (left > 20 && left + size > width - 10) [left, row] = [20, row + 1];
    const place = `translate(${left} ${top + 20 * row + 14})`;
    left += size;
    return `<g class="${classes(color)}" transform="${place}">${
      SIGNS[sign]
    }<text class="bp-text" x="24">${escapeMarkup(text)}</text></g>`;
  });
  const heading = titles.map((text, i) =>
    `<text class="bp-text bp-title" x="20" y="${30 + 20 * i}">${
      escapeMarkup(text)
    }</text>`
  );
  const notes = below.map((text, i) =>
    `<text class="bp-text bp-note" x="20" y="${start + 17 * i + 12}">${
      escapeMarkup(text)
    }</text>`
  );
  return {
    markup: [...heading, ...notes, ...entries].join(""),
    height: top + (entries.length > 0 ? 20 * (row + 1) : 0),
  };
}

/** Joins parts to an image with style and description. */
export function image(
  { width, height, title, description = "" }: {
    width: number;
    height: number;
    title: string;
    description?: string;
  },
  ...content: readonly string[]
): string {
  const name = escapeMarkup(title);
  const style = texts["plots.css"].replace(/\/\*.*?\*\/|\s+/gs, " ").trim();
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${name}">
<title>${name}</title>
<desc>${escapeMarkup(description)}</desc>
<style>${style}</style>
<rect class="bp-ground" width="100%" height="100%" rx="8"/>
${content.join("\n")}
</svg>
`;
}

/**
 * Chooses label and number format of an axis: thousands for large numbers, exponents
 * for very small or large ones.
 */
export function axis(
  label: string,
  extent: readonly number[],
): Plot.ScaleOptions {
  const size = Math.max(...extent.map(Math.abs));
  const { format } = new Intl.NumberFormat("en-US", {
    notation: size < 1 || size >= 1e15 ? "scientific" : "compact",
    maximumSignificantDigits: 4,
  });
  return {
    label: label || null,
    labelAnchor: "center",
    labelArrow: "none",
    ticks: 5,
    ...((size >= 1e5 || size < 1e-3 && size > 0) && { tickFormat: format }),
  };
}

/** Margin of an axis, and whether it ends at round numbers. */
interface AxisRoom {
  readonly room?: number;
  readonly isRound?: boolean;
}

/** Makes an axis from the lowest to the highest number, with round ticks. */
export function numberAxis(
  label: string,
  [low, high]: readonly [number, number],
  { room = 0, isRound = false }: AxisRoom = {},
): Plot.ScaleOptions & { domain: number[]; ticks: number[] } {
  const [from, to] = rangeAround(low, high, room);
  const { ticks, around } = ticksOver(from, to, HEIGHT_TICKS);
  if (!isRound) {
    return { ...axis(label, [from, to]), domain: [from, to], ticks };
  }
  const marks = [...new Set([around[0], ...ticks, around[1]])];
  return { ...axis(label, around), domain: [...around], ticks: marks };
}

/** Largest number of steps between an axis's ticks. */
const HEIGHT_TICKS = 7;

/** Places equal charts in rows of so many, from `top` on. */
export function placesIn(
  columns: number,
  { width, height }: { width: number; height: number },
  top = 0,
): (i: number) => { left: number; top: number; width: number; height: number } {
  return (i) => ({
    left: (i % columns) * width,
    top: top + Math.floor(i / columns) * height,
    width,
    height,
  });
}

/** Formats a number with few digits. */
export function inWords(value: number, digits = 4): string {
  return String(Number(value.toPrecision(digits)));
}

/** Finds the lowest and highest finite number, limited to what charts can draw. */
export function finiteExtent(
  values: ArrayLike<number>,
): [number, number] | undefined {
  let [low, high] = [Infinity, -Infinity];
  for (let i = 0; i < values.length; i++) {
    if (!Number.isFinite(values[i])) continue;
    low = Math.min(low, values[i]);
    high = Math.max(high, values[i]);
  }
  return low <= high ? [drawable(low), drawable(high)] : undefined;
}
