import { checkWhole } from "../../_checks.ts";

/** The neighbours of each new pixel along an axis, and how much of each. */
interface Taps {
  /** The first neighbour of each new pixel. */
  first: Int32Array;
  /** Largest number of neighbours of one. */
  count: number;
  /** Weights of `count` neighbours each, those beyond the last ones 0. */
  weights: Int32Array;
  /** The sum of a new pixel's weights. */
  total: number;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}

/**
 * Computes how much of each of `from` pixels lies in each of `to` pixels, along
 * an axis whose length is a common multiple of both.
 */
export function areaTaps(from: number, to: number): Taps {
  const divisor = greatestCommonDivisor(from, to);
  const total = from / divisor, unit = to / divisor;
  const first = new Int32Array(to);
  const last = new Int32Array(to);
  let count = 0;
  for (let i = 0; i < to; i++) {
    first[i] = Math.floor(i * total / unit);
    last[i] = Math.ceil((i + 1) * total / unit) - 1;
    count = Math.max(count, last[i] - first[i] + 1);
  }
  const weights = new Int32Array(to * count);
  for (let i = 0; i < to; i++) {
    for (let k = first[i]; k <= last[i]; k++) {
      const end = Math.min((k + 1) * unit, (i + 1) * total);
      weights[i * count + k - first[i]] = end - Math.max(k * unit, i * total);
    }
  }
  return { first, count, weights, total };
}

/** Width and height of a picture in pixels. */
export interface ImageSize {
  /** Pixels in a row. */
  readonly width: number;
  /** Rows. */
  readonly height: number;
}

/** Settings of {@linkcode AreaResizer}. */
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

/** Rounds a quotient to the nearest whole number; of two, the even one. */
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
 * some of the ties, where its sums of float32 fall to either side.
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
    checkWhole(channels, 1, `resize pixels of ${channels} bytes`);
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
   * @param into Array for the new pixels; a new one without it.
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

  /**
   * Computes the weighted sums of the source's rows that new row `y` covers.
   */
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

  /**
   * Computes the averages of one channel of a new row, from the sums of its
   * columns.
   */
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
