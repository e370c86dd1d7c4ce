import { areaTaps, type Taps } from "./_area_taps.ts";

/**
 * Width and height of a picture in pixels.
 *
 * @example
 * ```ts
 * import type { ImageSize } from "@bellman/envs/atari";
 * import { assertEquals } from "@std/assert";
 *
 * const screen: ImageSize = { width: 160, height: 210 };
 * assertEquals(screen.width * screen.height, 33_600);
 * ```
 */
export interface ImageSize {
  /** Pixels in a row. */
  readonly width: number;
  /** Rows. */
  readonly height: number;
}

/**
 * Settings of {@linkcode AreaResizer}.
 *
 * @example
 * ```ts
 * import { AreaResizer, type AreaResizerOptions } from "@bellman/envs/atari";
 * import { assertEquals } from "@std/assert";
 *
 * const options: AreaResizerOptions = { channels: 3 };
 * const size = { width: 2, height: 1 };
 * const half = new AreaResizer(size, { width: 1, height: 1 }, options);
 * assertEquals(half.resize(Uint8Array.of(0, 10, 20, 4, 20, 40)), Uint8Array.of(2, 15, 30));
 * ```
 */
export interface AreaResizerOptions {
  /**
   * Bytes of a pixel, each averaged by itself.
   *
   * @default 1
   */
  channels?: number;
}

function checkSize(what: string, { width, height }: ImageSize): void {
  const isWhole = (it: number) => Number.isInteger(it) && it >= 1;
  if (isWhole(width) && isWhole(height)) return;
  throw new RangeError(
    `Cannot resize ${what} ${width} by ${height} pixels: expected whole numbers of at least 1`,
  );
}

/** The nearest whole number of a quotient; of two, the even one. */
function rounded(sum: number, total: number): number {
  const quotient = Math.floor(sum / total);
  const twice = 2 * (sum - quotient * total);
  return twice > total || (twice === total && quotient % 2 === 1)
    ? quotient + 1
    : quotient;
}

/**
 * Makes pictures of bytes smaller or larger: each new pixel is the exact average
 * of the area that it covers, rounded to the nearest number, ties to even.
 *
 * OpenCV's `INTER_AREA` gives the same when it makes pictures smaller, but for
 * some of the ties, as it rounds sums of float32.
 *
 * @example
 * ```ts
 * import { AreaResizer } from "@bellman/envs/atari";
 * import { assertEquals } from "@std/assert";
 *
 * const resizer = new AreaResizer(
 *   { width: 3, height: 2 },
 *   { width: 2, height: 1 },
 * );
 * const pixels = Uint8Array.of(10, 40, 70, 10, 40, 70);
 * // A third of each new pixel is half of the middle column.
 * assertEquals(resizer.resize(pixels), Uint8Array.of(20, 60));
 * ```
 */
export class AreaResizer {
  /** Size of the pictures that are resized. */
  readonly from: ImageSize;
  /** Size that they get. */
  readonly to: ImageSize;
  /** Bytes of a pixel. */
  readonly channels: number;
  #columns: Taps;
  #rows: Taps;
  #sums: Int32Array;

  /**
   * Prepares the weights.
   *
   * @param from Size of the pictures that are resized.
   * @param to Size that they get.
   * @param options Bytes of a pixel.
   * @throws {RangeError} If a size or the number of channels is not a whole
   * number of at least 1.
   */
  constructor(
    from: ImageSize,
    to: ImageSize,
    options: AreaResizerOptions = {},
  ) {
    const { channels = 1 } = options;
    checkSize("from", from);
    checkSize("to", to);
    if (!Number.isInteger(channels) || channels < 1) {
      throw new RangeError(
        `Cannot resize pixels of ${channels} bytes: expected a whole number of at least 1`,
      );
    }
    this.from = { ...from };
    this.to = { ...to };
    this.channels = channels;
    this.#columns = areaTaps(from.width, to.width);
    this.#rows = areaTaps(from.height, to.height);
    this.#sums = new Int32Array(from.width * channels);
  }

  /**
   * Resizes a picture.
   *
   * @param pixels `from.height * from.width * channels` bytes, row by row.
   * @param into Where the new pixels are written; a new array without it.
   * @returns `to.height * to.width * channels` bytes.
   * @throws {RangeError} If there are too few or too many pixels.
   */
  resize(
    pixels: Uint8Array,
    into: Uint8Array = new Uint8Array(
      this.to.width * this.to.height * this.channels,
    ),
  ): Uint8Array {
    const { from, to, channels } = this;
    this.#checkLength("pixels of", pixels, from);
    this.#checkLength("pixels into", into, to);
    const row = to.width * channels;
    for (let y = 0; y < to.height; y++) {
      this.#sumColumns(pixels, y);
      for (let c = 0; c < channels; c++) this.#averageRow(into, y * row + c);
    }
    return into;
  }

  #checkLength(what: string, array: Uint8Array, size: ImageSize): void {
    const { width, height } = size;
    const wanted = width * height * this.channels;
    if (array.length === wanted) return;
    throw new RangeError(
      `Cannot resize ${what} ${array.length} bytes: expected ${wanted} for ${width} by ${height}`,
    );
  }

  /** The weighted sums of the source's rows that new row `y` covers. */
  #sumColumns(pixels: Uint8Array, y: number): void {
    const { first, count, weights } = this.#rows, sums = this.#sums;
    const width = sums.length;
    sums.fill(0);
    for (let tap = 0; tap < count; tap++) {
      const weight = weights[y * count + tap];
      const from = (first[y] + tap) * width;
      if (weight === 0) continue;
      for (let x = 0; x < width; x++) sums[x] += weight * pixels[from + x];
    }
  }

  /** The averages of one channel of a new row, from the sums of its columns. */
  #averageRow(into: Uint8Array, at: number): void {
    const { first, count, weights } = this.#columns, sums = this.#sums;
    const { channels } = this, channel = at % channels;
    const total = this.#columns.total * this.#rows.total;
    for (let x = 0; x < first.length; x++) {
      let sum = 0;
      for (let tap = 0; tap < count; tap++) {
        const weight = weights[x * count + tap];
        const from = (first[x] + tap) * channels + channel;
        if (weight !== 0) sum += weight * sums[from];
      }
      into[at + x * channels] = rounded(sum, total);
    }
  }
}
