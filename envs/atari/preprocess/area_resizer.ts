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

/** The parts of new pixels along an axis, in OpenCV's order and numbers. */
interface FloatTaps {
  /** The new pixel of each part. */
  targets: Int32Array;
  /** The old pixel that it comes from. */
  sources: Int32Array;
  weights: Float32Array;
}

/** Parts of an old pixel that OpenCV leaves out. */
const LEAST_PART = 1e-3;

/**
 * Computes how much of each of `from` pixels lies in each of `to` pixels, as
 * `computeResizeAreaTab` of OpenCV's `resize.cpp` has it.
 */
function floatTaps(from: number, to: number): FloatTaps {
  const taps: [target: number, source: number, weight: number][] = [];
  const scale = from / to;
  for (let i = 0; i < to; i++) {
    const start = i * scale, end = start + scale;
    const length = Math.min(scale, from - start);
    const last = Math.min(Math.floor(end), from - 1);
    const first = Math.min(Math.ceil(start), last);
    if (first - start > LEAST_PART) {
      taps.push([i, first - 1, (first - start) / length]);
    }
    for (let k = first; k < last; k++) taps.push([i, k, 1 / length]);
    if (end - last > LEAST_PART) {
      taps.push([i, last, Math.min(end - last, 1, length) / length]);
    }
  }
  return {
    targets: Int32Array.from(taps, ([target]) => target),
    sources: Int32Array.from(taps, ([, source]) => source),
    weights: Float32Array.from(taps, ([, , weight]) => weight),
  };
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
  /**
   * Rounding of averages half-way between two numbers: to the even one, or as
   * OpenCV's `INTER_AREA` does on x86-64, whose sums of float32 fall to either
   * side. OpenCV only averages where no side gets longer.
   *
   * @default "even"
   */
  ties?: "even" | "opencv";
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

/** OpenCV's way to average: sums of float32, in its order. */
class OpencvAverages {
  readonly #from: ImageSize;
  readonly #to: ImageSize;
  readonly #channels: number;
  readonly #columns: FloatTaps;
  readonly #rows: FloatTaps;
  /** One row of the source by new columns, and the sums of such rows. */
  readonly #row: Float32Array;
  readonly #sums: Float32Array;

  constructor(from: ImageSize, to: ImageSize, channels: number) {
    this.#from = from;
    this.#to = to;
    this.#channels = channels;
    this.#columns = floatTaps(from.width, to.width);
    this.#rows = floatTaps(from.height, to.height);
    this.#row = new Float32Array(to.width * channels);
    this.#sums = new Float32Array(to.width * channels);
  }

  resize(pixels: Uint8Array, into: Uint8Array): void {
    const { width, height } = this.#from, { width: columns } = this.#to;
    const isWhole = width % columns === 0 && height % this.#to.height === 0;
    if (isWhole) this.#resizeByWhole(pixels, into);
    else this.#resizeByTaps(pixels, into);
  }

  #resizeByTaps(pixels: Uint8Array, into: Uint8Array): void {
    const { targets, sources, weights } = this.#rows;
    const row = this.#row, sums = this.#sums;
    for (let tap = 0; tap < sources.length; tap++) {
      if (tap === 0 || targets[tap] !== targets[tap - 1]) sums.fill(0);
      this.#sumColumns(pixels, sources[tap]);
      for (let x = 0; x < row.length; x++) {
        sums[x] += Math.fround(weights[tap] * row[x]);
      }
      if (targets[tap] === targets[tap + 1]) continue;
      const at = targets[tap] * sums.length;
      for (let x = 0; x < sums.length; x++) into[at + x] = rounded(sums[x], 1);
    }
  }

  /** Sums one row of the source by new columns. */
  #sumColumns(pixels: Uint8Array, y: number): void {
    const { targets, sources, weights } = this.#columns;
    const row = this.#row, channels = this.#channels;
    const start = y * this.#from.width * channels;
    row.fill(0);
    for (let tap = 0; tap < sources.length; tap++) {
      const from = start + sources[tap] * channels;
      const to = targets[tap] * channels;
      for (let c = 0; c < channels; c++) {
        row[to + c] += Math.fround(weights[tap] * pixels[from + c]);
      }
    }
  }

  /** Averages blocks of whole pixels: their sums are exact, the quotient is not. */
  #resizeByWhole(pixels: Uint8Array, into: Uint8Array): void {
    const channels = this.#channels, { width } = this.#to;
    const across = this.#from.width / width;
    const down = this.#from.height / this.#to.height;
    const scale = Math.fround(1 / (across * down));
    const isQuartet = across === 2 && down === 2 &&
      [1, 3, 4].includes(channels);
    const stride = this.#from.width * channels;
    for (let i = 0; i < into.length; i++) {
      const c = i % channels, pixel = (i - c) / channels;
      const x = pixel % width, y = (pixel - x) / width;
      let sum = 0;
      for (let dy = 0; dy < down; dy++) {
        const start = (y * down + dy) * stride + x * across * channels + c;
        for (let dx = 0; dx < across; dx++) {
          sum += pixels[start + dx * channels];
        }
      }
      into[i] = isQuartet ? (sum + 2) >> 2 : rounded(
        Math.fround(Math.fround(sum) * scale),
        1,
      );
    }
  }
}

/**
 * Makes pictures of bytes smaller or larger: each new pixel is the exact average
 * of the area that it covers, rounded to the nearest number, ties to even.
 *
 * OpenCV's `INTER_AREA` gives the same when it makes pictures smaller, but for
 * some of the ties; with `ties: "opencv"` it gives the same for those too.
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
  #opencv: OpencvAverages | undefined;

  /**
   * Prepares the weights.
   *
   * @param from Size of the pictures that are resized.
   * @param to Size that they get.
   * @param options Bytes of a pixel, and which way ties are rounded.
   * @throws {RangeError} If a size or the number of channels is not a whole
   * number of at least 1, or pictures get larger where ties are OpenCV's.
   */
  constructor(
    from: ImageSize,
    to: ImageSize,
    options: AreaResizerOptions = {},
  ) {
    const { channels = 1, ties = "even" } = options;
    checkSize("from", from);
    checkSize("to", to);
    checkWhole(channels, 1, `resize pixels of ${channels} bytes`);
    this.from = { ...from };
    this.to = { ...to };
    this.channels = channels;
    this.#columns = areaTaps(from.width, to.width);
    this.#rows = areaTaps(from.height, to.height);
    this.#sums = new Int32Array(from.width * channels);
    if (ties === "even") return;
    if (to.width > from.width || to.height > from.height) {
      throw new RangeError(
        `Cannot resize ${from.width} by ${from.height} pixels to ${to.width} by ${to.height} as OpenCV does: it averages where no side gets longer`,
      );
    }
    this.#opencv = new OpencvAverages(from, to, channels);
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
    if (this.#opencv !== undefined) {
      this.#opencv.resize(pixels, into);
      return into;
    }
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
