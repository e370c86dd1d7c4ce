import type { RgbImage } from "@bellman/types";
import gifenc from "gifenc";

/** Highest frame rate of a GIF: viewers slow down shorter delays. */
const MOST_FRAMES_PER_SECOND = 50;

type Color = [red: number, green: number, blue: number];

/** Used part of gifenc, which has no types. */
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
    bytes(): Uint8Array<ArrayBuffer>;
    reset(): void;
  };
  quantize(rgba: Uint8Array, colors: number): Color[];
  applyPalette(rgba: Uint8Array, palette: Color[]): Uint8Array;
}

const { GIFEncoder, quantize, applyPalette } = gifenc as Gifenc;

/** Palette index of pixels that are the same as in the last image. */
const UNCHANGED = 0;

/** Largest number of colours; one index is for unchanged pixels. */
const MOST_COLORS = 255;

/** Disposal method: the next image is drawn over this one. */
const KEEP = 1;

/**
 * Returns the delay of an image in milliseconds: whole hundredths of a second, correct
 * in sum.
 */
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

/** Gives each pixel its palette index, or `UNCHANGED` if it is as in the image before. */
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

/** Gives each pixel the index of the nearest colour, for images of many colours. */
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
 * Encoder of looping animated GIFs, image by image; only the last image is kept.
 * Colours are exact up to 255 in an image, else the nearest of a palette.
 *
 * @example
 * ```ts
 * import { GifEncoder } from "@bellman/training/plots";
 * import { assertEquals } from "@std/assert";
 *
 * const encoder = new GifEncoder(20);
 * const start = encoder.add({ width: 1, height: 1, data: Uint8Array.of(255, 0, 0) });
 * assertEquals(new TextDecoder().decode(start.slice(0, 6)), "GIF89a");
 * assertEquals(encoder.finish().length, 1);
 * ```
 */
export class GifEncoder {
  readonly #framesPerSecond: number;
  readonly #encoder = GIFEncoder({ auto: false });
  #before: RgbImage | undefined;
  #count = 0;

  /**
   * Starts an animation.
   *
   * @param framesPerSecond Frame rate, at most 50.
   * @throws {RangeError} If the rate is not possible in a GIF.
   */
  constructor(framesPerSecond: number) {
    if (
      !(framesPerSecond > 0 && framesPerSecond <= MOST_FRAMES_PER_SECOND)
    ) {
      throw new RangeError(
        `Cannot animate at ${framesPerSecond} images a second: expected more than 0 and at most ${MOST_FRAMES_PER_SECOND}`,
      );
    }
    this.#framesPerSecond = framesPerSecond;
  }

  /**
   * Adds an image.
   *
   * @param image Image of the same size as those before.
   * @returns The next bytes of the file.
   * @throws {RangeError} If the size differs.
   */
  add(image: RgbImage): Uint8Array<ArrayBuffer> {
    const { width, height } = image, before = this.#before;
    const { pixels, palette } = indexColors(image, before?.data);
    if (before === undefined) this.#encoder.writeHeader();
    else if (before.width !== width || before.height !== height) {
      throw new RangeError(
        `Cannot animate an image of ${width} by ${height} pixels: expected ${before.width} by ${before.height}, as the one before`,
      );
    }
    this.#before = { width, height, data: image.data.slice() };
    this.#encoder.writeFrame(pixels, width, height, {
      first: before === undefined,
      palette,
      delay: delayOf(this.#count++, this.#framesPerSecond),
      transparent: before !== undefined,
      transparentIndex: UNCHANGED,
      dispose: KEEP,
    });
    return this.#bytes();
  }

  /**
   * Ends the animation.
   *
   * @returns The last bytes of the file.
   */
  finish(): Uint8Array<ArrayBuffer> {
    this.#encoder.finish();
    return this.#bytes();
  }

  /** Returns the bytes encoded since the last call. */
  #bytes(): Uint8Array<ArrayBuffer> {
    const bytes = this.#encoder.bytes();
    this.#encoder.reset();
    return bytes;
  }
}

/**
 * Encodes images, such as those of an episode, as a looping animated GIF.
 *
 * @param images Images of equal size.
 * @param options Frame rate.
 * @returns Bytes of the file.
 * @throws {RangeError} If there are no images, sizes differ, or the rate is not
 * possible.
 *
 * @example
 * ```ts
 * import { make } from "@bellman/envs";
 * import { renderAnimation } from "@bellman/training/plots";
 * import { assert } from "@std/assert";
 *
 * const env = make("CartPole-v1");
 * env.reset({ seed: 0 });
 * const images = Array.from({ length: 5 }, () => {
 *   env.step(1);
 *   return env.render({ width: 90, height: 60 });
 * });
 * const gif = renderAnimation(images, { framesPerSecond: env.framesPerSecond });
 * assert(gif.length < 5000);
 * ```
 */
export function renderAnimation(
  images: Iterable<RgbImage>,
  { framesPerSecond = 30 }: {
    /**
     * Images per second; `framesPerSecond` of an environment is real time.
     *
     * @default 30
     */
    framesPerSecond?: number;
  } = {},
): Uint8Array<ArrayBuffer> {
  const encoder = new GifEncoder(framesPerSecond);
  const parts = Array.from(images, (image) => encoder.add(image));
  if (parts.length === 0) {
    throw new RangeError("Cannot animate 0 images: expected at least one");
  }
  parts.push(encoder.finish());
  const sizes = parts.map(({ length }) => length);
  const gif = new Uint8Array(sizes.reduce((sum, size) => sum + size));
  let place = 0;
  for (const part of parts) {
    gif.set(part, place);
    place += part.length;
  }
  return gif;
}
