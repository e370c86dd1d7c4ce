import { hexToBytes } from "@noble/hashes/utils.js";
import hues from "./palettes.json" with { type: "json" };

/** Colours that the numbers in an emulator's screen represent. */
export interface Palette {
  /** Red, green and blue of each of the 256 numbers, one after the other. */
  readonly rgb: Uint8Array;
  /** The gray of each of the 256 numbers. */
  readonly gray: Uint8Array;
}

/** Computes the emulator's gray, which for some colours of PAL is not OpenCV's. */
function grayOf([red, green, blue]: Uint8Array): number {
  return Math.round(0.2989 * red + 0.587 * green + 0.114 * blue);
}

/**
 * Makes the palette of 128 colours. Numbers are even. An odd one, which PAL shows after a frame with an odd count
 * of lines, stands for the gray form of the colour below it. As a gray, though,
 * the emulator takes it for the blue of the colour above, and so does this.
 */
function paletteOf(colors: Uint8Array): Palette {
  const rgb = new Uint8Array(768), gray = new Uint8Array(256);
  for (let i = 0; i < 256; i += 2) {
    const color = colors.subarray(3 * (i >> 1), 3 * (i >> 1) + 3);
    rgb.set(color, 3 * i);
    gray[i] = grayOf(color);
    rgb.fill(gray[i], 3 * i + 3, 3 * i + 6);
    gray[i + 1] = colors[3 * (i >> 1) + 5] ?? 0;
  }
  return { rgb, gray };
}

/** Reads eight colours of each of the 16 hues, dark to bright, as RRGGBB. */
function colorsOf(hues: readonly string[]): Uint8Array {
  return hexToBytes(hues.join("").replaceAll(" ", ""));
}

/** The colours of American television. */
export const NTSC: Palette = paletteOf(colorsOf(hues.ntsc));

/** The colours of European television. */
export const PAL: Palette = paletteOf(colorsOf(hues.pal));

/** Turns palette numbers into red, green and blue. */
export function paint(
  screen: Uint8Array,
  { rgb }: Palette,
  into: Uint8Array,
): void {
  for (let i = 0, at = 0; i < screen.length; i++) {
    const color = 3 * screen[i];
    into[at++] = rgb[color];
    into[at++] = rgb[color + 1];
    into[at++] = rgb[color + 2];
  }
}

/** Turns palette numbers into grays. */
export function paintGray(
  screen: Uint8Array,
  { gray }: Palette,
  into: Uint8Array,
): void {
  for (let i = 0; i < screen.length; i++) into[i] = gray[screen[i]];
}
