import { escapeMarkup } from "./escape_markup.ts";

/** What images and reports share: escaping, colours, style sheets. */

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

/** A text at a place in an image. */
export function svgText(
  x: number,
  y: number,
  content: string,
  classes: string,
): string {
  return `<text class="${classes}" x="${px(x)}" y="${px(y)}">${
    escapeMarkup(content)
  }</text>`;
}

/** A length for an image: a tenth of a pixel is fine enough. */
export function px(value: number): string {
  return String(Math.round(value * 10) / 10);
}

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
