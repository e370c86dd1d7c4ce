import type { ImageSize } from "@bellman/envs/atari";

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

/** Rounds to the nearest whole number; of two, the even one. */
function rounded(value: number): number {
  const below = Math.floor(value), rest = value - below;
  return rest > 0.5 || (rest === 0.5 && below % 2 === 1) ? below + 1 : below;
}

/**
 * Averages areas as OpenCV's `INTER_AREA` does on x86-64 where no side gets
 * longer: by sums of float32, in its order.
 */
export class OpencvResizer {
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

  /** Returns the new pixels of a picture. */
  resize(pixels: Uint8Array): Uint8Array {
    const from = this.#from, to = this.#to;
    const into = new Uint8Array(to.width * to.height * this.#channels);
    const isWhole = from.width % to.width === 0 &&
      from.height % to.height === 0;
    if (isWhole) this.#resizeByWhole(pixels, into);
    else this.#resizeByTaps(pixels, into);
    return into;
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
      for (let x = 0; x < sums.length; x++) into[at + x] = rounded(sums[x]);
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
      );
    }
  }
}
