import type { RgbImage } from "@bellman/types";
import glyphs from "./glyphs.json" with { type: "json" };

/** Bitmap font: rows of five pixels by letter, the leftmost pixel in the highest bit. */
const GLYPHS: Readonly<Record<string, readonly number[]>> = glyphs;
const ROWS = 7;
/** Pixels of a letter and the gap after it. */
const ADVANCE = 6;
const MARGIN = 3;

/** Position within an episode. */
export interface PlayMoment {
  /** Number of the episode, from 1. */
  episode: number;
  /** Steps of the episode so far. */
  step: number;
  /** Sum of its rewards so far. */
  return: number;
}

/**
 * Formats a caption: `EPISODE 2  STEP 17  RETURN -3.5`.
 *
 * @example
 * ```ts
 * import { captionOf } from "@bellman/runs/play";
 * import { assertEquals } from "@std/assert";
 *
 * const moment = { episode: 2, step: 17, return: -3.5 };
 * assertEquals(captionOf(moment, 3), "EPISODE 2  STEP 17  RETURN -3.5");
 * ```
 */
export function captionOf(moment: PlayMoment, episodes = 1): string {
  const { episode, step, return: sum } = moment;
  const number = Number.isInteger(sum) ? String(sum) : sum.toFixed(1);
  const first = episodes > 1 ? `EPISODE ${episode}  ` : "";
  return `${first}STEP ${step}  RETURN ${number}`.toUpperCase();
}

/**
 * Draws a line of text over a darkened strip at the bottom of an image, in the largest
 * letters that fit; an image too narrow for any stays the same.
 *
 * @param image Image; not changed.
 * @param text Digits, and the letters of {@linkcode captionOf}.
 * @returns An image of the same size.
 *
 * @example
 * ```ts
 * import { withCaption } from "@bellman/runs/play";
 * import { assert } from "@std/assert";
 *
 * const image = { width: 60, height: 30, data: new Uint8Array(60 * 30 * 3) };
 * assert(withCaption(image, "STEP 3").data.includes(255));
 * ```
 */
export function withCaption(image: RgbImage, text: string): RgbImage {
  const { width, height } = image;
  const needed = text.length * ADVANCE + 2 * MARGIN;
  const scale = Math.min(
    Math.max(1, Math.round(height / 200)),
    Math.floor(width / needed),
  );
  const top = height - scale * (ROWS + 2 * MARGIN);
  if (scale < 1 || top < 0) return image;
  const data = image.data.slice();
  for (let i = 3 * top * width; i < data.length; i++) data[i] >>= 2;
  for (let at = 0; at < text.length; at++) {
    const rows = GLYPHS[text[at]] ?? [];
    for (let y = 0; y < scale * rows.length; y++) {
      const bits = rows[Math.floor(y / scale)];
      const row = (top + scale * MARGIN + y) * width;
      for (let x = 0; x < scale * 5; x++) {
        if ((bits >> 4 - Math.floor(x / scale) & 1) === 0) continue;
        const to = 3 * (row + scale * (MARGIN + at * ADVANCE) + x);
        data.fill(255, to, to + 3);
      }
    }
  }
  return { width, height, data };
}
