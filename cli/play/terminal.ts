import type { Picture } from "./picture.ts";

const ESC = "\x1b[";
/** The upper half of a cell: its colour is the upper of two pixels. */
const HALF_BLOCK = "▀";

/** The mean colour of a rectangle of pixels, as `r;g;b`. */
function meanColour(
  { width, data }: Picture,
  [left, top, right, bottom]: [number, number, number, number],
): string {
  let red = 0, green = 0, blue = 0;
  for (let y = top; y < bottom; y++) {
    for (let x = left; x < right; x++) {
      const at = 3 * (y * width + x);
      red += data[at];
      green += data[at + 1];
      blue += data[at + 2];
    }
  }
  const count = (bottom - top) * (right - left);
  return [red, green, blue].map((it) => Math.round(it / count)).join(";");
}

/**
 * Draws a picture as lines of coloured half blocks, two pixels a character,
 * scaled down to at most `columns` by `rows` characters.
 */
export function toTerminal(
  picture: Picture,
  { columns, rows }: { columns: number; rows: number },
): string {
  const { width, height } = picture;
  const scale = Math.max(width / columns, height / (2 * rows), 1);
  const cellsWide = Math.floor(width / scale);
  const cellsHigh = Math.floor(height / scale / 2);
  const edge = (cell: number, limit: number): number =>
    Math.min(Math.round(cell * scale), limit);
  const colour = (x: number, y: number): string => {
    const left = edge(x, width - 1), top = edge(y, height - 1);
    const right = Math.max(edge(x + 1, width), left + 1);
    const bottom = Math.max(edge(y + 1, height), top + 1);
    return meanColour(picture, [left, top, right, bottom]);
  };
  const lines: string[] = [];
  for (let row = 0; row < cellsHigh; row++) {
    let line = "";
    for (let x = 0; x < cellsWide; x++) {
      const upper = colour(x, 2 * row), lower = colour(x, 2 * row + 1);
      line += `${ESC}38;2;${upper};48;2;${lower}m${HALF_BLOCK}`;
    }
    lines.push(`${line}${ESC}0m`);
  }
  return lines.join("\n");
}

/** Moves the cursor up over a picture that {@linkcode toTerminal} drew. */
export function cursorUp(drawn: string): string {
  return `${ESC}${drawn.split("\n").length}A\r`;
}
