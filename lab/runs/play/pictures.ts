import type { RgbImage } from "@bellman/types";
import { openPlainSync } from "@bellman/files";
import { encode } from "fast-png";
import { closeSync, mkdirSync, writeFileSync } from "node:fs";
import { captionOf, type PlayMoment } from "./caption.ts";
import type { CommandIo } from "../program/process.ts";

const ESC = "\x1b[";

/** Writer or display of an episode's images. */
export interface PictureSink {
  /** Shows or writes an image. */
  show(picture: RgbImage, moment: PlayMoment): Promise<void> | void;
  /** Finishes, and returns a line about the files; empty for a terminal. */
  finish(): Promise<string>;
  /** Removes an unfinished file. */
  abort?(): Promise<void>;
}

/**
 * Makes a writer of PNG files, one for each image, in a folder that the first one
 * creates.
 *
 * @example
 * ```ts
 * import { pngSink } from "@bellman/runs/play";
 * import { assertEquals } from "@std/assert";
 *
 * const dir = await Deno.makeTempDir();
 * const sink = pngSink(dir);
 * const image = { width: 2, height: 2, data: new Uint8Array(12) };
 * await sink.show(image, { episode: 1, step: 0, return: 0 });
 * assertEquals(await sink.finish(), `wrote 1 pictures to ${dir}`);
 * ```
 */
export function pngSink(dir: string): PictureSink {
  let count = 0;
  return {
    show: (picture, { episode, step }) => {
      if (count++ === 0) mkdirSync(dir, { recursive: true });
      const name = `episode_${episode}_step_${String(step).padStart(5, "0")}`;
      const file = openPlainSync(`${dir}/${name}.png`, "create");
      writeFileSync(file, encodePng(picture));
      closeSync(file);
    },
    finish: () => Promise.resolve(`wrote ${count} pictures to ${dir}`),
  };
}

/**
 * Makes a display that draws the images in the terminal, with step and return below.
 *
 * @example
 * ```ts
 * import { terminalSink } from "@bellman/runs/play";
 * import { processIo } from "@bellman/runs/program";
 * import { assertEquals } from "@std/assert";
 *
 * const sink = terminalSink(processIo(), 30);
 * assertEquals(await sink.finish(), "");
 * ```
 */
export function terminalSink(
  io: CommandIo,
  framesPerSecond: number,
): PictureSink {
  const { raw = io, size = () => ({ columns: 80, rows: 24 }) } = io;
  let drawn: string | undefined;
  return {
    show: async (picture, moment) => {
      const { columns, rows } = size();
      const up = drawn === undefined ? "" : cursorUp(drawn);
      const caption = captionOf(moment).toLowerCase().slice(0, columns - 1);
      const image = toTerminal(picture, { columns, rows: rows - 3 });
      // The line before may have been longer.
      drawn = `${image}\n${caption}${ESC}K`;
      raw.out(`${up}${drawn}\n`);
      await new Promise((done) => setTimeout(done, 1000 / framesPerSecond));
    },
    finish: () => Promise.resolve(""),
  };
}

/** Encodes an image as a PNG file. */
export function encodePng({ width, height, data }: RgbImage): Uint8Array {
  return encode({ width, height, data, channels: 3 });
}

/** Half block character in the colour of the upper of two pixels. */
const HALF_BLOCK = "▀";

/** Returns the mean colour of a rectangle of pixels, as `r;g;b`. */
function meanColour(
  { width, data }: RgbImage,
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
 * Draws an image as lines of coloured half blocks, two pixels a character, scaled down
 * to at most `columns` by `rows` characters.
 */
export function toTerminal(
  picture: RgbImage,
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

/** Moves the cursor to the top of an image from {@linkcode toTerminal}. */
export function cursorUp(drawn: string): string {
  return `${ESC}${drawn.split("\n").length}A\r`;
}
