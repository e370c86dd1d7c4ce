import gifenc from "gifenc";
import { fileError } from "../terminal/errors.ts";
import type { RgbImage } from "@bellman/types";
import type { PictureSink } from "./pictures.ts";

/** Highest frame rate of a GIF: viewers slow shorter delays down. */
export const MOST_GIF_FRAMES_PER_SECOND = 50;

type Color = [red: number, green: number, blue: number];

/** The used part of gifenc, which has no types. */
interface Gifenc {
  GIFEncoder(options: { auto: boolean }): {
    writeHeader(): void;
    writeFrame(
      pixels: Uint8Array,
      width: number,
      height: number,
      options: {
        first: boolean;
        palette: Color[] | null;
        delay: number;
        transparent: boolean;
        transparentIndex: number;
        dispose: number;
      },
    ): void;
    finish(): void;
    bytesView(): Uint8Array;
    reset(): void;
  };
  quantize(rgba: Uint8Array, colors: number): Color[];
  applyPalette(rgba: Uint8Array, palette: Color[]): Uint8Array;
}

const { GIFEncoder, quantize, applyPalette } = gifenc as Gifenc;

/** Index of pixels that stay as in the last image. */
const UNCHANGED = 0;

/** Largest number of colours; one index stands for unchanged pixels. */
const MOST_COLORS = 255;

/** Disposal: the next image is drawn over this one. */
const KEEP = 1;

/** Returns the milliseconds of an image: whole hundredths of a second, right in sum. */
function delayOf(index: number, framesPerSecond: number): number {
  const hundredths = (count: number) =>
    Math.round(100 * count / framesPerSecond);
  return 10 * (hundredths(index + 1) - hundredths(index));
}

/** Returns the colours of a table, by index. */
function paletteOf(indices: ReadonlyMap<number, number>): Color[] {
  const colors = [...indices.keys()]
    .map((it): Color => [it >> 16, it >> 8 & 255, it & 255]);
  return [[0, 0, 0], ...colors];
}

/** Part of an image. */
interface Part {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** Returns the smallest part with all changed pixels; one pixel if none changed. */
function changedPart(
  pixels: Uint8Array,
  { width, height }: RgbImage,
): Part {
  const isSame = (it: number) => it === UNCHANGED;
  const isRowSame = (y: number) =>
    pixels.subarray(y * width, (y + 1) * width).every(isSame);
  let top = 0, bottom = height - 1;
  while (top < bottom && isRowSame(top)) top++;
  while (bottom > top && isRowSame(bottom)) bottom--;
  let left = width - 1, right = 0;
  for (let y = top; y <= bottom; y++) {
    const row = pixels.subarray(y * width, (y + 1) * width);
    const first = row.findIndex((it) => it !== UNCHANGED);
    if (first < 0) continue;
    left = Math.min(left, first);
    right = Math.max(right, row.findLastIndex((it) => it !== UNCHANGED));
  }
  if (right < left) [left, right] = [0, 0];
  return { left, top, width: right - left + 1, height: bottom - top + 1 };
}

/** Moves the pixels of a part to the front. */
function cut(pixels: Uint8Array, part: Part, rowPixels: number): Uint8Array {
  const { left, top, width, height } = part;
  for (let y = 0; y < height; y++) {
    const from = (top + y) * rowPixels + left;
    pixels.copyWithin(y * width, from, from + width);
  }
  return pixels.subarray(0, width * height);
}

/** Offset of an image's position, in the bytes of a later image. */
const PLACE_OFFSET = 9;

/** Converts the pixels that differ from the last image to indices. */
class Indexer {
  /** Indices of the first image's colours, which the whole file shares. */
  readonly #shared = new Map<number, number>();
  /** Last image. */
  #before: Uint8Array | undefined;
  #pixels = new Uint8Array(0);
  /** Image with a fourth byte per pixel, where it has too many colours. */
  #rgba = new Uint8Array(0);

  /** Returns indices of an image's pixels, and its colours where they are its own. */
  index({ data }: RgbImage): { pixels: Uint8Array; palette: Color[] | null } {
    const isFirst = this.#before === undefined;
    if (isFirst) this.#pixels = new Uint8Array(data.length / 3);
    const palette = isFirst || !this.#fill(data, this.#shared, 0)
      ? this.#ownColors(data, isFirst)
      : null;
    if (isFirst) this.#before = data.slice();
    else this.#before!.set(data);
    return { pixels: this.#pixels, palette };
  }

  #ownColors(data: Uint8Array, isFirst: boolean): Color[] {
    const own = isFirst ? this.#shared : new Map<number, number>();
    if (this.#fill(data, own, MOST_COLORS)) return paletteOf(own);
    own.clear();
    return this.#nearestColors(data);
  }

  /**
   * Looks up the colours of all changed pixels; adds missing ones while the table
   * has less than `most`. Returns false if it lacks some.
   */
  #fill(
    data: Uint8Array,
    indices: Map<number, number>,
    most: number,
  ): boolean {
    const pixels = this.#pixels, before = this.#before;
    let last = -1, lastIndex = 0;
    for (let i = 0, at = 0; i < pixels.length; i++, at += 3) {
      const red = data[at], green = data[at + 1], blue = data[at + 2];
      if (
        before !== undefined && before[at] === red &&
        before[at + 1] === green && before[at + 2] === blue
      ) {
        pixels[i] = UNCHANGED;
        continue;
      }
      const color = red << 16 | green << 8 | blue;
      if (color !== last) {
        let index = indices.get(color);
        if (index === undefined) {
          if (indices.size >= most) return false;
          index = indices.size + 1;
          indices.set(color, index);
        }
        [last, lastIndex] = [color, index];
      }
      pixels[i] = lastIndex;
    }
    return true;
  }

  /** Sets the pixels to the nearest of a few colours that suit the image. */
  #nearestColors(data: Uint8Array): Color[] {
    const pixels = this.#pixels, before = this.#before;
    if (this.#rgba.length === 0) {
      this.#rgba = new Uint8Array(4 * pixels.length).fill(255);
    }
    const rgba = this.#rgba;
    for (let i = 0; i < pixels.length; i++) {
      for (let c = 0; c < 3; c++) rgba[4 * i + c] = data[3 * i + c];
    }
    const palette = quantize(rgba, MOST_COLORS);
    const nearest = applyPalette(rgba, palette);
    for (let i = 0; i < pixels.length; i++) {
      const at = 3 * i;
      const isSame = before !== undefined && before[at] === data[at] &&
        before[at + 1] === data[at + 1] && before[at + 2] === data[at + 2];
      pixels[i] = isSame ? UNCHANGED : nearest[i] + 1;
    }
    return [[0, 0, 0], ...palette];
  }
}

/**
 * Animated GIF that loops, written image by image; only the last one is kept.
 * Colours are exact; images of more than 255 colours get the best ones.
 */
export class GifWriter implements PictureSink {
  readonly #path: string;
  readonly #framesPerSecond: number;
  readonly #encoder = GIFEncoder({ auto: false });
  readonly #indexer = new Indexer();
  #file: Deno.FsFile | undefined;
  #count = 0;

  /**
   * @param path Path of the file.
   * @param framesPerSecond Frame rate.
   */
  constructor(path: string, framesPerSecond: number) {
    this.#path = path;
    this.#framesPerSecond = framesPerSecond;
  }

  /**
   * Adds an image; all have one size.
   *
   * @throws {UsageError} If it cannot be written; no file is left then.
   */
  async show(image: RgbImage): Promise<void> {
    const first = this.#count === 0;
    const { pixels, palette } = this.#indexer.index(image);
    const part = first
      ? { left: 0, top: 0, width: image.width, height: image.height }
      : changedPart(pixels, image);
    const indices = cut(pixels, part, image.width);
    if (first) this.#encoder.writeHeader();
    this.#encoder.writeFrame(indices, part.width, part.height, {
      first,
      palette,
      delay: delayOf(this.#count++, this.#framesPerSecond),
      transparent: !first,
      transparentIndex: UNCHANGED,
      dispose: KEEP,
    });
    if (!first) { // The encoder puts all images into the upper left corner.
      const bytes = this.#encoder.bytesView();
      const view = new DataView(bytes.buffer, bytes.byteOffset);
      view.setUint16(PLACE_OFFSET, part.left, true);
      view.setUint16(PLACE_OFFSET + 2, part.top, true);
    }
    await this.#write();
  }

  /**
   * Completes the file.
   *
   * @throws {UsageError} If it cannot be written; no file is left then.
   */
  async finish(): Promise<string> {
    this.#encoder.finish();
    await this.#write();
    await this.#orGiveUp(async () => {
      this.#close();
      await Deno.rename(this.#unfinished, this.#path);
    });
    return `wrote ${this.#path}`;
  }

  /** Removes what was written. */
  async abort(): Promise<void> {
    if (this.#count === 0) return;
    this.#close();
    await Deno.remove(this.#unfinished).catch(() => {});
  }

  /** Writes the encoded bytes to the file. */
  async #write(): Promise<void> {
    await this.#orGiveUp(async () => {
      this.#file ??= await Deno.create(this.#unfinished);
      const bytes = this.#encoder.bytesView();
      for (let start = 0; start < bytes.length;) {
        start += await this.#file.write(bytes.subarray(start));
      }
    });
    this.#encoder.reset();
  }

  async #orGiveUp(write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      await this.abort();
      throw fileError(error, this.#path) ?? error;
    }
  }

  #close(): void {
    this.#file?.close();
    this.#file = undefined;
  }

  /** Path until the GIF is complete. */
  get #unfinished(): string {
    return `${this.#path}.tmp`;
  }
}
