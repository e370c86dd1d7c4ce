/** Text and numbers of images: elements, lengths, the style sheet. */
import { escapeMarkup } from "@bellman/training";

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
