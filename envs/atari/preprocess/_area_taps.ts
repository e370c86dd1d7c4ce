/** The neighbours of each new pixel along an axis, and how much of each. */
export interface Taps {
  /** The first neighbour of each new pixel. */
  first: Int32Array;
  /** How many neighbours each has at most. */
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
 * How much of each of `from` pixels lies in each of `to` pixels, along an axis
 * whose length is a common multiple of both.
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
export interface FloatTaps {
  /** The new pixel of each part. */
  targets: Int32Array;
  /** The old pixel that it comes from. */
  sources: Int32Array;
  weights: Float32Array;
}

/** Parts of an old pixel that OpenCV leaves out. */
const LEAST_PART = 1e-3;

/**
 * How much of each of `from` pixels lies in each of `to` pixels, as
 * `computeResizeAreaTab` of OpenCV's `resize.cpp` has it.
 */
export function floatTaps(from: number, to: number): FloatTaps {
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
