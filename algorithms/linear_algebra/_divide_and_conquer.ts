import { type Block, type MatrixBlock, part, type Tools } from "./_kernels.ts";

/** Tridiagonal eigenproblem and its scratch memory. */
interface TridiagonalProblem {
  size: number;
  /** Diagonal; on return the eigenvalues, number r for row r. */
  values: Float64Array;
  /** Off-diagonal. */
  beside: Float64Array;
  /** Rows that become the eigenvectors. */
  rows: MatrixBlock;
  /** Vectors, each of `size` numbers, in double precision. */
  vectors: Block<Float64Array>;
  /** size x size numbers: rows packed for a product. */
  packed: Block;
  /** size x size numbers in double precision: eigenvectors of a merge. */
  secular: Block;
}

/** Half the distance between 1 and the next number, in each precision. */
const ROUNDING = 2 ** -53, SINGLE_ROUNDING = 2 ** -24;
/** Vectors of numbers that a merge needs. */
const VECTORS = 6;
/** Parts up to this size are quicker to solve than to divide. */
const LEAF = 16;

/** Counts the numbers that `vectors` must hold. */
export function vectorScratch(size: number): number {
  return VECTORS * size;
}

/**
 * Finds the eigenvalues and eigenvectors of a symmetric tridiagonal matrix by
 * divide and conquer (J. Cuppen, Numerische Mathematik 36, 1981; LAPACK's
 * dstedc): halves are solved separately, and joined by a rank-one update.
 *
 * @returns The rows in ascending order of their eigenvalues.
 */
export function divideAndConquer(
  tools: Tools,
  problem: TridiagonalProblem,
): Int32Array {
  const { size, rows } = problem;
  const order = Int32Array.from({ length: size }, (_, i) => i);
  rows.numbers.fill(0);
  for (let i = 0; i < size; i++) rows.numbers[i * rows.stride + i] = 1;
  conquer(tools, { problem, order, from: 0, to: size });
  return order;
}

interface Range {
  problem: TridiagonalProblem;
  order: Int32Array;
  from: number;
  to: number;
}

function conquer(tools: Tools, range: Range): void {
  const { problem, order, from, to } = range;
  if (to - from <= LEAF) {
    implicitQl(range);
    sortRows(order.subarray(from, to), problem.values);
    return;
  }
  const middle = (from + to) >> 1;
  const join = problem.beside[middle - 1];
  problem.values[middle - 1] -= Math.abs(join);
  problem.values[middle] -= Math.abs(join);
  conquer(tools, { ...range, to: middle });
  conquer(tools, { ...range, from: middle });
  merge(tools, range, { middle, join });
}

/** Solves diag(values) + 2 |join| z z^T, which joins the two halves. */
function merge(
  tools: Tools,
  range: Range,
  { middle, join }: { middle: number; join: number },
): void {
  const { problem, order, from, to } = range;
  const [left, right] = [
    order.subarray(from, middle),
    order.subarray(middle, to),
  ];
  const sorted = mergeSorted(problem.values, left, right);
  const task = { problem, sorted, from, middle, to, join };
  const deflated = deflate(tools, task);
  if (deflated === null) {
    order.set(sorted, from);
    return;
  }
  const roots = solveSecular(tools, problem, deflated);
  multiplyRows(tools, task, deflated);
  const count = roots.length;
  problem.values.set(roots, from);
  problem.values.set(deflated.droppedValues, from + count);
  const rows = Int32Array.from({ length: to - from }, (_, i) => from + i);
  const [moved, dropped] = [rows.subarray(0, count), rows.subarray(count)];
  order.set(mergeSorted(problem.values, moved, dropped), from);
}

/** Finds the new eigenvalues; their eigenvectors become the rows of `secular`. */
function solveSecular(
  { kernels }: Tools,
  problem: TridiagonalProblem,
  { kept, place, z, values, rho }: Deflated,
): Float64Array {
  const { size, vectors, secular } = problem;
  const count = kept.length;
  const at = (vector: number) => vectors.at + vector * size * 8;
  const [d, weights, squares, refined, spare, places] = [0, 1, 2, 3, 4, 5]
    .map(at);
  let norm = 0;
  for (const weight of z) norm += weight * weight;
  const scale = 1 / Math.sqrt(norm);
  for (let i = 0; i < count; i++) {
    const weight = z[i] * scale;
    vectors.numbers[i] = values[i];
    vectors.numbers[size + i] = weight;
    vectors.numbers[2 * size + i] = weight * weight;
  }
  const { buffer } = vectors.numbers;
  new Int32Array(buffer, places, count).set(place);
  const roots = new Float64Array(count);
  if (count === 1) {
    roots[0] = values[0] + rho * norm;
    secular.numbers[0] = 1;
    return roots;
  }
  const rowBytes = count * 8;
  for (let j = 0; j < count; j++) {
    const gaps = secular.at + j * rowBytes;
    roots[j] = kernels.secularRoot(count, j, d, squares, rho * norm, gaps);
  }
  kernels.refineWeights(count, d, secular.at, count, weights, refined);
  for (let j = 0; j < count; j++) {
    const row = secular.at + j * rowBytes;
    kernels.secularVector(count, refined, places, row, spare);
  }
  return roots;
}

/**
 * Computes the new eigenvectors in terms of the whole problem. A row that only
 * one half had a part in is 0 in the other's columns, which saves up to half
 * the work.
 */
function multiplyRows(
  { kernels, work }: Tools,
  { problem, from, middle, to }: MergeTask,
  deflated: Deflated,
): void {
  const { rows, packed, secular } = problem;
  const { bytes } = rows;
  const { byPlace, dropped, topCount, bottomFrom } = deflated;
  const count = byPlace.length, width = to - from;
  let end = 0;
  const pack = (
    list: ArrayLike<number>,
    first: number,
    last: number,
  ): number => {
    const start = end;
    for (let i = 0; i < list.length; i++) {
      const at = list[i] * rows.stride;
      packed.numbers.set(rows.numbers.subarray(at + first, at + last), end);
      end += last - first;
    }
    return start;
  };
  const top = pack(byPlace.subarray(0, topCount), from, middle);
  const bottom = pack(byPlace.subarray(bottomFrom), middle, to);
  const others = pack(dropped, from, to);
  dropped.forEach((_, i) => {
    const start = others + i * width;
    rows.numbers.set(
      packed.numbers.subarray(start, start + width),
      (from + count + i) * rows.stride + from,
    );
  });
  const product = (column: number, columns: number, half: {
    start: number;
    first: number;
    width: number;
  }): void =>
    // deno-fmt-ignore -- an operand a line
    kernels.multiply(
      count, half.width, columns,
      secular.at + column * bytes, count * 8 / bytes, 1,
      packed.at + half.start * bytes, half.width, 1,
      part(rows, from, half.first).at, rows.stride,
      1, 0, 0, work,
    );
  product(0, topCount, { start: top, first: from, width: middle - from });
  product(bottomFrom, count - bottomFrom, {
    start: bottom,
    first: middle,
    width: to - middle,
  });
}

/** Halves of the columns where a row may have nonzero numbers. */
const TOP = 1, BOTH = 2, BOTTOM = 3;

/** Merge without the eigenpairs that do not change. */
interface Deflated {
  /** Rows that take part, ascending by value. */
  kept: number[];
  /** Values and weights of these rows. */
  values: number[];
  z: number[];
  /** Index of each of them in `byPlace`. */
  place: Int32Array;
  /** The same rows: those of the top half, of both, of the bottom half. */
  byPlace: Int32Array;
  /** Rows of the top half or of both. */
  topCount: number;
  /** The first row of both or of the bottom half. */
  bottomFrom: number;
  /** Rows that stay eigenvectors, ascending by value. */
  dropped: number[];
  droppedValues: number[];
  rho: number;
}

interface MergeTask extends Omit<Range, "order"> {
  sorted: Int32Array;
  middle: number;
  join: number;
}

/**
 * Deflates diag(values) + rho z z^T: removes numbers of z that vanish, and of equal
 * values all but one by a rotation (LAPACK's dlaed2).
 *
 * @returns Null if nothing changes.
 */
function deflate(tools: Tools, task: MergeTask): Deflated | null {
  const { problem, sorted, from } = task;
  const { values } = problem;
  const z = weights(task);
  const rho = 2 * Math.abs(task.join);
  let largestZ = 0, largestValue = 0;
  for (const row of sorted) {
    largestZ = Math.max(largestZ, Math.abs(z[row - from]));
    largestValue = Math.max(largestValue, Math.abs(values[row]));
  }
  const rounding = problem.rows.bytes === 8 ? ROUNDING : SINGLE_ROUNDING;
  const tolerance = 8 * rounding * Math.max(largestZ, largestValue);
  if (rho * largestZ <= tolerance) return null;
  const weighted = { ...task, z, rho, tolerance };
  return arrange(weighted, split(tools, weighted));
}

/** Joins rows of the halves' eigenvectors to one vector of norm 1. */
function weights(task: MergeTask): Float64Array {
  const { from, middle, to, join } = task;
  const { numbers, stride } = task.problem.rows;
  const z = new Float64Array(to - from);
  const sign = join < 0 ? -Math.SQRT1_2 : Math.SQRT1_2;
  for (let row = from; row < middle; row++) {
    z[row - from] = numbers[row * stride + middle - 1] * Math.SQRT1_2;
  }
  for (let row = middle; row < to; row++) {
    z[row - from] = numbers[row * stride + middle] * sign;
  }
  return z;
}

interface Weighted extends MergeTask {
  /** Weight of each row, from the first on. */
  z: Float64Array;
  rho: number;
  tolerance: number;
}

interface Split {
  kept: number[];
  dropped: number[];
  /** TOP, BOTH or BOTTOM by row. */
  types: Uint8Array;
}

/** Sorts the rows into those that take part and those that do not. */
function split(tools: Tools, task: Weighted): Split {
  const { problem, sorted, from, middle, z, rho, tolerance } = task;
  const types = new Uint8Array(z.length).fill(BOTTOM);
  types.fill(TOP, 0, middle - from);
  const kept: number[] = [], dropped: number[] = [];
  let before = -1;
  for (const row of sorted) {
    if (rho * Math.abs(z[row - from]) <= tolerance) {
      dropped.push(row);
      continue;
    }
    if (before >= 0) {
      const turned = rotateAway(tools, task, [before, row]);
      (turned ? dropped : kept).push(before);
      if (turned && types[row - from] !== types[before - from]) {
        types[row - from] = BOTH;
      }
    }
    before = row;
  }
  if (before >= 0) kept.push(before);
  sortRows(dropped, problem.values);
  return { kept, dropped, types };
}

/** Rotates two rows so that the first has no weight, where that is exact. */
function rotateAway(
  { kernels }: Tools,
  { problem, from, to, z, tolerance }: Weighted,
  [before, row]: readonly [number, number],
): boolean {
  const { values, rows } = problem;
  const zRow = z[row - from], zBefore = z[before - from];
  const norm = Math.sqrt(zRow * zRow + zBefore * zBefore);
  const c = zRow / norm, s = -zBefore / norm;
  const upper = values[row], lower = values[before];
  if (Math.abs((upper - lower) * c * s) > tolerance) return false;
  z[row - from] = norm;
  z[before - from] = 0;
  const at = (r: number) => rows.at + (r * rows.stride + from) * rows.bytes;
  kernels.rotateRows(to - from, at(before), at(row), c, s);
  values[before] = lower * c * c + upper * s * s;
  values[row] = lower * s * s + upper * c * c;
  return true;
}

/** Puts the rows that take part next to others of their type. */
function arrange(
  { problem: { values }, from, rho, z }: Weighted,
  { kept, dropped, types }: Split,
): Deflated {
  const starts = [0, 0, 0, 0, 0];
  for (const row of kept) starts[types[row - from] + 1]++;
  for (let type = 1; type < 5; type++) starts[type] += starts[type - 1];
  const topCount = starts[BOTTOM], bottomFrom = starts[BOTH];
  const byPlace = new Int32Array(kept.length);
  const place = new Int32Array(kept.length);
  for (let i = 0; i < kept.length; i++) {
    place[i] = starts[types[kept[i] - from]]++;
    byPlace[place[i]] = kept[i];
  }
  return {
    kept,
    values: kept.map((row) => values[row]),
    z: kept.map((row) => z[row - from]),
    place,
    byPlace,
    topCount,
    bottomFrom,
    dropped,
    droppedValues: dropped.map((row) => values[row]),
    rho,
  };
}

/** Off-diagonal numbers that count as 0 in a matrix of norm about 1. */
const VANISHING = 1e-140;
/** Steps for one eigenvalue; two are usual. */
const MAX_STEPS = 60;

/**
 * Solves a small part of a tridiagonal problem by the implicit QL algorithm
 * (EISPACK's imtql2), from one row up to another. The off-diagonal number of the last
 * row is overwritten.
 */
function implicitQl({ problem, from, to }: Range): void {
  const { values, beside } = problem;
  let largest = 0;
  for (let i = from; i < to; i++) {
    const next = i < to - 1 ? Math.abs(beside[i]) : 0;
    largest = Math.max(largest, Math.abs(values[i]) + next);
  }
  const negligible = Math.max(VANISHING, ROUNDING * largest);
  for (let low = from; low < to; low++) {
    for (let step = 0; step < MAX_STEPS; step++) {
      let high = low;
      while (high < to - 1 && Math.abs(beside[high]) > negligible) high++;
      if (high === low) break;
      sweep(problem, { from, to, low, high });
    }
  }
}

/** Computes the root of a sum of squares, rounding less than Math.hypot. */
function norm(x: number, y: number): number {
  const squares = x * x + y * y;
  return squares > 1e-280 ? Math.sqrt(squares) : Math.hypot(x, y);
}

/** Takes one step with Wilkinson's shift on the rows from `low` to `high`. */
function sweep(
  { values, beside, rows }: TridiagonalProblem,
  range: { from: number; to: number; low: number; high: number },
): void {
  const { from, to, low, high } = range;
  const { numbers, stride } = rows;
  const slope = (values[low + 1] - values[low]) / (2 * beside[low]);
  const root = norm(slope, 1);
  let g = values[high] - values[low] +
    beside[low] / (slope + (slope < 0 ? -root : root));
  let s = 1, c = 1, p = 0;
  for (let i = high - 1; i >= low; i--) {
    const f = s * beside[i], b = c * beside[i];
    const length = norm(f, g);
    beside[i + 1] = length;
    if (length === 0) {
      values[i + 1] -= p;
      beside[high] = 0;
      return;
    }
    s = f / length;
    c = g / length;
    g = values[i + 1] - p;
    const change = (values[i] - g) * s + 2 * c * b;
    p = s * change;
    values[i + 1] = g + p;
    g = c * change - b;
    const upper = i * stride, lower = upper + stride;
    for (let k = from; k < to; k++) {
      const x = numbers[upper + k], y = numbers[lower + k];
      numbers[lower + k] = s * x + c * y;
      numbers[upper + k] = c * x - s * y;
    }
  }
  values[low] -= p;
  beside[low] = g;
  beside[high] = 0;
}

/** Sorts rows by value; equal ones stay in their order. */
function sortRows(rows: number[] | Int32Array, values: Float64Array): void {
  rows.sort((a, b) => values[a] - values[b]);
}

/** Merges two ascending lists of rows. */
function mergeSorted(
  values: Float64Array,
  left: Int32Array,
  right: Int32Array,
): Int32Array {
  const merged = new Int32Array(left.length + right.length);
  let l = 0, r = 0;
  for (let i = 0; i < merged.length; i++) {
    const takeLeft = r === right.length ||
      (l < left.length && values[left[l]] <= values[right[r]]);
    merged[i] = takeLeft ? left[l++] : right[r++];
  }
  return merged;
}
