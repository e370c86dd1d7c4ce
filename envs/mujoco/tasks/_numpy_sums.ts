/**
 * Sums in the order in which NumPy adds, so that rewards have Gymnasium's last
 * digits: eight running sums side by side, and halves of what is longer than 128.
 */

const LANES = 8;
const BLOCK = 128;

/** Running sums; overwritten by each sum. */
const lanes = new Float64Array(LANES);

/** Adds `count` numbers from `at` on. */
function pairwise(values: Float64Array, at: number, count: number): number {
  if (count > BLOCK) {
    const half = (count >> 1) - (count >> 1) % LANES;
    const first = pairwise(values, at, half);
    return first + pairwise(values, at + half, count - half);
  }
  const whole = at + count - count % LANES;
  let sum = 0, i = at;
  if (whole > at) {
    for (let lane = 0; lane < LANES; lane++) lanes[lane] = values[i++];
    while (i < whole) {
      for (let lane = 0; lane < LANES; lane++) lanes[lane] += values[i++];
    }
    sum = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
      ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
  }
  for (; i < at + count; i++) sum += values[i];
  return sum;
}

/** Sums numbers. */
export function sumOf(values: Float64Array): number {
  return pairwise(values, 0, values.length);
}

let squares = new Float64Array(BLOCK);

/** Returns room for squares, which is used again by all sums. */
function roomFor(count: number): Float64Array {
  if (squares.length < count) squares = new Float64Array(count);
  return squares;
}

/** Sums the squares of numbers, each clipped to a range before. */
export function sumOfSquares(
  values: Float64Array,
  low: number = -Infinity,
  high: number = Infinity,
): number {
  const room = roomFor(values.length);
  for (let i = 0; i < values.length; i++) {
    const value = Math.min(Math.max(values[i], low), high);
    room[i] = value * value;
  }
  return pairwise(room, 0, values.length);
}

const { fround } = Math;
const singleLanes = new Float32Array(LANES);

/** Sums four lanes in single precision. */
function half(from: number): number {
  return fround(
    fround(singleLanes[from] + singleLanes[from + 1]) +
      fround(singleLanes[from + 2] + singleLanes[from + 3]),
  );
}

/** Sums up to 128 squares in single precision, as of Gymnasium's actions. */
export function sumOfSingleSquares(values: Float32Array): number {
  const whole = values.length - values.length % LANES;
  let sum = 0;
  for (let i = 0; i < whole; i++) {
    const lane = i % LANES;
    const before = i < LANES ? 0 : singleLanes[lane];
    singleLanes[lane] = before + fround(values[i] * values[i]);
  }
  if (whole > 0) sum = fround(half(0) + half(4));
  for (let i = whole; i < values.length; i++) {
    sum = fround(sum + fround(values[i] * values[i]));
  }
  return sum;
}

/**
 * Computes the control cost in single precision, as Gymnasium does.
 *
 * @param weight Weight of the sum of squares.
 * @param action The action.
 */
export function actionCost(weight: number, action: Float32Array): number {
  return fround(fround(weight) * sumOfSingleSquares(action));
}
