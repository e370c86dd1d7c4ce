import { openPlainSync } from "@bellman/files";
import gifenc from "gifenc";
import { closeSync, writeFileSync } from "node:fs";
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
        palette: Color[];
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

/** Largest number of colours; one index represents unchanged pixels. */
const MOST_COLORS = 255;

/** Disposal: the next image is drawn over this one. */
const KEEP = 1;

/** Returns the milliseconds of an image: whole hundredths of a second, right in sum. */
function delayOf(index: number, framesPerSecond: number): number {
  const hundredths = (count: number) =>
    Math.round(100 * count / framesPerSecond);
  return 10 * (hundredths(index + 1) - hundredths(index));
}

/** Indices of an image's pixels in its palette, and the palette. */
interface Indexed {
  pixels: Uint8Array;
  palette: Color[];
}

/** Gives each pixel its colour, or `UNCHANGED` where it is as in the image before. */
function indexColors({ data }: RgbImage, before?: Uint8Array): Indexed {
  const pixels = new Uint8Array(data.length / 3);
  const indices = new Map<number, number>();
  for (let i = 0; i < pixels.length; i++) {
    if (isUnchanged(i, data, before)) continue;
    const color = data[3 * i] << 16 | data[3 * i + 1] << 8 | data[3 * i + 2];
    let index = indices.get(color);
    if (index === undefined) {
      if (indices.size === MOST_COLORS) return nearestColors(data, before);
      index = indices.size + 1;
      indices.set(color, index);
    }
    pixels[i] = index;
  }
  const colors = [...indices.keys()]
    .map((it): Color => [it >> 16, it >> 8 & 255, it & 255]);
  return { pixels, palette: [[0, 0, 0], ...colors] };
}

/** The same with the colours that suit an image of many. */
function nearestColors(data: Uint8Array, before?: Uint8Array): Indexed {
  const rgba = new Uint8Array(data.length / 3 * 4).fill(255);
  for (let i = 0; 4 * i < rgba.length; i++) {
    for (let c = 0; c < 3; c++) rgba[4 * i + c] = data[3 * i + c];
  }
  const palette = quantize(rgba, MOST_COLORS);
  const pixels = applyPalette(rgba, palette)
    .map((it, i) => isUnchanged(i, data, before) ? UNCHANGED : it + 1);
  return { pixels, palette: [[0, 0, 0], ...palette] };
}

function isUnchanged(
  pixel: number,
  data: Uint8Array,
  before: Uint8Array | undefined,
): boolean {
  const at = 3 * pixel;
  return before !== undefined && before[at] === data[at] &&
    before[at + 1] === data[at + 1] && before[at + 2] === data[at + 2];
}

/**
 * Animated GIF that loops, written image by image; only the last one is kept.
 * Colours are exact; images of more than 255 colours get the best ones.
 */
export class GifWriter implements PictureSink {
  readonly #path: string;
  readonly #framesPerSecond: number;
  readonly #encoder = GIFEncoder({ auto: false });
  #before: Uint8Array | undefined;
  #file: number | undefined;
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
    const first = this.#before === undefined;
    const { pixels, palette } = indexColors(image, this.#before);
    this.#before = image.data.slice();
    if (first) this.#encoder.writeHeader();
    this.#encoder.writeFrame(pixels, image.width, image.height, {
      first,
      palette,
      delay: delayOf(this.#count++, this.#framesPerSecond),
      transparent: !first,
      transparentIndex: UNCHANGED,
      dispose: KEEP,
    });
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
    await this.#orGiveUp(() => {
      this.#file ??= openPlainSync(this.#unfinished, "create");
      writeFileSync(this.#file, this.#encoder.bytesView());
    });
    this.#encoder.reset();
  }

  async #orGiveUp(write: () => void | Promise<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      await this.abort();
      throw fileError(error, this.#path) ?? error;
    }
  }

  #close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  /** Path until the GIF is complete. */
  get #unfinished(): string {
    return `${this.#path}.tmp`;
  }
}
