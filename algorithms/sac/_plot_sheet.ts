import type { LegendEntry } from "./_plot_form.ts";
import { escapeMarkup } from "@bellman/training";
import { element, type Frame, label, plotStyle } from "./_plot_markup.ts";

/** A panel of a sheet. */
export interface Panel {
  readonly name: string;
  /** What can be seen, in words. */
  readonly description: string;
  /** Draws into a frame that leaves room for axes. */
  draw(frame: Frame): string;
}

/** What is around the panels. */
export interface SheetOptions {
  readonly title: string;
  readonly legend: readonly LegendEntry[];
  /** Pixels right of each frame. */
  readonly margin: number;
}

const frameSize = 250;
const panelsInRow = 3;
/** Pixels around a frame, for axes and names. */
const room = { left: 62, top: 50, bottom: 52 };
const headHeight = 66;

/** Panels side by side under a heading and a legend, as one image. */
export function drawSheet(
  panels: readonly Panel[],
  { title, legend, margin }: SheetOptions,
): string {
  const columns = Math.min(panels.length, panelsInRow);
  const rows = Math.ceil(panels.length / panelsInRow);
  const cell = {
    width: room.left + frameSize + margin,
    height: room.top + frameSize + room.bottom,
  };
  const width = Math.max(columns * cell.width, 420);
  const height = headHeight + rows * cell.height;
  const drawn = panels.map((panel, i) => {
    const left = (i % panelsInRow) * cell.width + room.left;
    const top = headHeight + Math.floor(i / panelsInRow) * cell.height +
      room.top;
    return element(
      "g",
      { class: "qp-panel" },
      element("title", {}, escapeMarkup(panel.description)),
      label(panel.name, { x: left, y: top - 28, style: "qp-text qp-name" }),
      panel.draw({ left, top, width: frameSize, height: frameSize }),
    );
  });
  const descriptions = panels.map((it) => `${it.name}: ${it.description}.`);
  return element(
    "svg",
    {
      xmlns: "http://www.w3.org/2000/svg",
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": title,
    },
    element("title", {}, escapeMarkup(title)),
    element("desc", {}, escapeMarkup(descriptions.join("\n"))),
    element("style", {}, plotStyle),
    element("rect", { class: "qp-ground", width, height, rx: 8 }),
    label(title, { x: 20, y: 30, style: "qp-text qp-title" }),
    drawLegend(legend, { left: 20, top: 44 }),
    ...drawn,
  ) + "\n";
}

/** Signs and their texts in one line. */
function drawLegend(
  entries: readonly LegendEntry[],
  { left, top }: { left: number; top: number },
): string {
  const sign = { top, width: 20, height: 10 };
  let at = left;
  return entries.map(({ text, draw }) => {
    const place = { x: at + sign.width + 6, y: top + 9, style: "qp-text" };
    const drawn = draw({ ...sign, left: at }) + label(text, place);
    // About as wide as letters are on average.
    at = place.x + text.length * 6.5 + 20;
    return drawn;
  }).join("");
}
