import { divideAndConquer, vectorScratch } from "./_divide_and_conquer.ts";
import {
  type Block,
  type MatrixBlock,
  openWorkspace,
  part,
  type Place,
  rowStride,
  type Tools,
} from "./_kernels.ts";
import {
  copySymmetric,
  copyTransposed,
  largestMagnitude,
  type MatrixArray,
  type MatrixOptions,
  sameKind,
  squareSize,
} from "./_matrix.ts";

/** Reflectors that are applied together, as one product. */
const PANEL = 32;
/** A sum of squares below this is taken for 0; entries are at most 1. */
const VANISHING = 1e-270;

/** Counts the numbers that `tridiagonalize` needs as scratch for a matrix. */
function tridiagonalScratch(stride: number): number {
  return 3 * PANEL * stride + 2 * PANEL;
}

/** A symmetric tridiagonal matrix T = Q^T A Q. */
interface Tridiagonal {
  diagonal: Float64Array;
  /** The numbers beside the diagonal, and one more. */
  beside: Float64Array;
  /**
   * Q = H(0) H(1) ..., where H(i) = I - factors[i] v v^T, and v stands in row i
   * of what was A, right of the diagonal; it is 0 before that.
   */
  factors: Float64Array;
}

/**
 * Reduces a symmetric matrix, of which it reads and overwrites the upper
 * triangle, to tridiagonal form by Householder reflectors (LAPACK's dsytrd):
 * within a panel each row is brought up to date when its turn comes, and the
 * rows after the panel by one symmetric product.
 */
function tridiagonalize(
  tools: Tools,
  size: number,
  a: MatrixBlock,
  scratch: Block,
): Tridiagonal {
  const result = {
    diagonal: new Float64Array(size),
    beside: new Float64Array(size),
    factors: new Float64Array(size),
  };
  const task = { size, a, scratch, result };
  for (let start = 0; start < size; start += PANEL) {
    const count = Math.min(PANEL, size - start);
    for (let j = 0; j < count; j++) reduceRow(tools, task, start, j);
    updateRest(tools, task, start + count);
  }
  return result;
}

/**
 * Places the rows V, then W, then V again, so that [W V] is contiguous as well.
 */
function panels(a: MatrixBlock, scratch: Block): Place[] {
  const all = { at: scratch.at, stride: a.stride };
  return [0, PANEL, 2 * PANEL].map((row) => part(all, row, 0));
}

interface Task {
  size: number;
  a: MatrixBlock;
  scratch: Block;
  result: Tridiagonal;
}

/** Reduces one row and finds its v and w, with A - v w^T - w v^T next. */
function reduceRow(
  { kernels }: Tools,
  { size, a, scratch, result }: Task,
  start: number,
  j: number,
): void {
  const { stride } = a;
  const i = start + j, next = i + 1, length = size - next;
  const [v, w, vAgain] = panels(a, scratch);
  const factors = scratch.at + 3 * PANEL * stride * 8;
  const row = part(a, i, i).at, vFrom = part(v, 0, i).at;
  const wFrom = part(w, 0, i).at;
  gather(scratch.numbers, { count: j, stride, column: i });
  kernels.subtractRows(j, size - i, vFrom, stride, factors + PANEL * 8, row);
  kernels.subtractRows(j, size - i, wFrom, stride, factors, row);
  result.diagonal[i] = a.numbers[i * stride + i];
  if (length === 0) return;
  const vector = a.numbers.subarray(i * stride + next, i * stride + size);
  const squares = kernels.dot(length - 1, row + 16, row + 16);
  const { beta, tau } = reflector(vector, squares);
  result.beside[i] = beta;
  result.factors[i] = tau;
  for (const row of [j, 2 * PANEL + j]) {
    scratch.numbers.set(vector, row * stride + next);
  }
  const vRows = part(v, 0, next).at, wRows = part(w, 0, next).at;
  const ownV = part(vAgain, j, next).at, ownW = part(w, j, next).at;
  kernels.multiplySymmetric(length, part(a, next, next).at, stride, ownV, ownW);
  kernels.dotRows(j, length, vRows, stride, ownV, factors);
  kernels.subtractRows(j, length, wRows, stride, factors, ownW);
  kernels.dotRows(j, length, wRows, stride, ownV, factors);
  kernels.subtractRows(j, length, vRows, stride, factors, ownW);
  const own = scratch.numbers.subarray(
    (PANEL + j) * stride + next,
    (PANEL + j) * stride + size,
  );
  for (let k = 0; k < length; k++) own[k] *= tau;
  const shift = -0.5 * tau * kernels.dot(length, ownV, ownW);
  kernels.addScaled(length, shift, ownV, ownW);
}

/** Collects a column of V and of W behind them, as factors of rows. */
function gather(
  numbers: Float64Array,
  { count, stride, column }: { count: number; stride: number; column: number },
): void {
  const to = 3 * PANEL * stride;
  for (let l = 0; l < count; l++) {
    numbers[to + l] = numbers[l * stride + column];
    numbers[to + PANEL + l] = numbers[(PANEL + l) * stride + column];
  }
}

/**
 * Replaces x by the v, v[0] = 1, with (I - tau v v^T) x = (beta, 0, ...).
 *
 * @param squares The sum of squares of x after its first number.
 */
function reflector(
  x: Float64Array,
  squares: number,
): { beta: number; tau: number } {
  const alpha = x[0];
  x[0] = 1;
  if (squares === 0 || alpha * alpha + squares < VANISHING) {
    // A direction found from squares this small would not be accurate.
    x.fill(0, 1);
    return { beta: alpha, tau: 0 };
  }
  const norm = Math.sqrt(alpha * alpha + squares);
  const beta = alpha > 0 ? -norm : norm;
  const scale = 1 / (alpha - beta);
  for (let i = 1; i < x.length; i++) x[i] *= scale;
  return { beta, tau: (beta - alpha) / beta };
}

/** Computes A -= V^T W + W^T V in the rows and columns after a panel. */
function updateRest(
  { kernels, work }: Tools,
  { size, a, scratch }: Task,
  from: number,
): void {
  const { stride } = a;
  const rest = size - from;
  if (rest === 0) return;
  const [v, w] = panels(a, scratch);
  const left = part(v, 0, from).at, right = part(w, 0, from).at;
  // deno-fmt-ignore -- an operand a line
  kernels.multiply(
    rest, rest, 2 * PANEL,
    left, 1, stride,
    right, stride, 1,
    part(a, from, from).at, stride,
    -1, 1, 1, work,
  );
}

/** Counts the numbers that `applyReflectors` needs as scratch for a matrix. */
function reflectorScratch(size: number, stride: number): number {
  return PANEL * (2 * stride + size + 2 * PANEL);
}

type Scratch = ReturnType<typeof layOut>;

/** Reflectors that are applied together. */
interface Panel {
  /** Number of the first. */
  start: number;
  /** Number of reflectors. */
  width: number;
  /** Numbers of the first. */
  length: number;
}

/**
 * Multiplies each row of a matrix by H(0) H(1) ... as a column vector, for the
 * reflectors that `tridiagonalize` left in `a`. Blocks of them are applied as
 * H(i) H(i+1) ... = I - V^T T V (LAPACK's dlarft and dlarfb).
 */
function applyReflectors(
  tools: Tools,
  options: {
    size: number;
    a: MatrixBlock;
    factors: Float64Array;
    rows: Place;
    scratch: Block;
  },
): void {
  const { size, a, factors, rows, scratch } = options;
  const spaces = layOut(size, a.stride, scratch);
  const count = size - 1;
  const last = Math.floor((count - 1) / PANEL) * PANEL;
  for (let start = last; start >= 0; start -= PANEL) {
    const width = Math.min(PANEL, count - start);
    const panel = { start, width, length: count - start };
    copyReflectors(a, panel, spaces.v);
    triangle(tools, spaces, { panel, factors });
    const columns = part(rows, 0, start + 1);
    applyBlock(tools, spaces, { panel, size, columns });
  }
}

function layOut(size: number, stride: number, scratch: Block) {
  let end = 0;
  const take = (rows: number, stride: number): MatrixBlock => {
    const start = end;
    end += rows * stride;
    const numbers = scratch.numbers.subarray(start, end);
    return { at: scratch.at + start * 8, numbers, stride };
  };
  return {
    /** V: a reflector a row, with zeros before it. */
    v: take(PANEL, stride),
    /** T^T V. */
    tv: take(PANEL, stride),
    /** Rows times V^T. */
    product: take(size, PANEL),
    /** Dot products of reflectors. */
    gram: take(PANEL, PANEL),
    /** T. */
    t: take(PANEL, PANEL),
  };
}

function copyReflectors(
  { numbers, stride }: MatrixBlock,
  { start, width, length }: Panel,
  { numbers: v }: MatrixBlock,
): void {
  for (let r = 0; r < width; r++) {
    const from = (start + r) * stride + start + 1;
    v.fill(0, r * stride, r * stride + r);
    v.set(numbers.subarray(from + r, from + length), r * stride + r);
  }
}

/** Computes T^T V, by way of T's columns from the first to the last. */
function triangle(
  { kernels, work }: Tools,
  { v, gram, t, tv }: Scratch,
  { panel: { start, width, length }, factors }: {
    panel: Panel;
    factors: Float64Array;
  },
): void {
  // deno-fmt-ignore -- an operand a line
  kernels.multiply(
    width, width, length,
    v.at, v.stride, 1,
    v.at, 1, v.stride,
    gram.at, PANEL,
    1, 0, 0, work,
  );
  const products = gram.numbers, sums = t.numbers;
  sums.fill(0);
  for (let j = 0; j < width; j++) {
    const tau = factors[start + j];
    sums[j * PANEL + j] = tau;
    for (let i = 0; i < j; i++) {
      let sum = 0;
      for (let k = i; k < j; k++) {
        sum += sums[i * PANEL + k] * products[k * PANEL + j];
      }
      sums[i * PANEL + j] = -tau * sum;
    }
  }
  // deno-fmt-ignore -- an operand a line
  kernels.multiply(
    width, length, width,
    t.at, 1, PANEL,
    v.at, v.stride, 1,
    tv.at, tv.stride,
    1, 0, 0, work,
  );
}

/** Computes rows -= (rows V^T) (T^T V). */
function applyBlock(
  { kernels, work }: Tools,
  { v, tv, product }: Scratch,
  { panel: { width, length }, size, columns }: {
    panel: Panel;
    size: number;
    columns: Place;
  },
): void {
  // deno-fmt-ignore -- an operand a line
  kernels.multiply(
    size, width, length,
    columns.at, columns.stride, 1,
    v.at, 1, v.stride,
    product.at, PANEL,
    1, 0, 0, work,
  );
  // deno-fmt-ignore -- an operand a line
  kernels.multiply(
    size, length, width,
    product.at, PANEL, 1,
    tv.at, tv.stride, 1,
    columns.at, columns.stride,
    -1, 1, 0, work,
  );
}

const ACTION = "find the eigenvalues of a matrix";
/** Below 2 ** -1000 the scale's inverse would not be a number. */
const MIN_EXPONENT = -1000;

/**
 * Eigenvalues and eigenvectors that {@link symmetricEigen} found: A V = V D,
 * with D diag(values) and V the vectors.
 */
export interface SymmetricEigen<T extends MatrixArray> {
  /** The eigenvalues, ascending: `size` numbers. */
  values: T;
  /**
   * The eigenvectors, orthonormal: column j belongs to `values[j]`, so that
   * its number i is `vectors[i * size + j]`. Their signs are not determined.
   */
  vectors: T;
}

/**
 * Finds all eigenvalues and eigenvectors of a symmetric matrix, in double
 * precision whatever the array's kind.
 *
 * As LAPACK's `dsyevd`: Householder reduction to a tridiagonal matrix, divide
 * and conquer, and the reflectors applied to what it finds. Each eigenvalue is
 * exact for a matrix that differs from A by rounding of its largest numbers.
 * Both triangles are read: where they differ by rounding, their mean counts.
 *
 * @param matrix A, `size` x `size` numbers, row-major; it is left as it is.
 * @returns The eigenvalues, ascending, and the eigenvectors as columns, of the
 * same kind as `matrix`.
 * @throws {TypeError} If `matrix` is neither a Float64Array nor a Float32Array.
 * @throws {RangeError} If A is not square, not finite, or clearly not
 * symmetric: mirrored numbers differ by more than 1e-5 of the largest.
 * @example
 * ```ts
 * import { symmetricEigen } from "@bellman/linear-algebra";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * const { values, vectors } = symmetricEigen(new Float64Array([2, 1, 1, 2]));
 * assertAlmostEquals(values[0], 1);
 * assertAlmostEquals(values[1], 3);
 * // The second column is (1, 1) or (-1, -1), over the root of 2.
 * assertAlmostEquals(vectors[1] * vectors[3], 0.5);
 * ```
 */
export function symmetricEigen<T extends MatrixArray>(
  matrix: T,
  options: MatrixOptions = {},
): SymmetricEigen<T> {
  const size = squareSize(matrix, { action: ACTION, size: options.size });
  const largest = largestMagnitude(matrix, { action: ACTION, columns: size });
  const unit = powerOfTwoNear(largest);
  const stride = rowStride(size);
  const forSteps = Math.max(
    size * size,
    tridiagonalScratch(stride),
    reflectorScratch(size, stride),
  );
  const { blocks, ...tools } = openWorkspace([
    forSteps,
    size * size,
    vectorScratch(size),
    size * stride,
    size * stride,
  ]);
  const [scratch, secular, vectors, ...matrices] = blocks;
  const [a, rows] = matrices.map((it) => ({ ...it, stride }));
  copySymmetric(matrix, a, { action: ACTION, size, largest, scale: 1 / unit });
  const reduced = tridiagonalize(tools, size, a, scratch);
  const { diagonal: values, beside, factors } = reduced;
  const problem = { size, values, beside, rows, vectors, secular };
  const order = divideAndConquer(tools, { ...problem, packed: scratch });
  applyReflectors(tools, { size, a, factors, rows, scratch });
  const result = {
    values: sameKind(matrix, size),
    vectors: sameKind(matrix, size * size),
  };
  for (let j = 0; j < size; j++) result.values[j] = values[order[j]] * unit;
  copyTransposed(rows, order, result.vectors);
  return result;
}

/**
 * Returns a power of two near the largest entry: scaling by it rounds nothing,
 * and keeps squares from overflowing and vanishing.
 */
function powerOfTwoNear(largest: number): number {
  if (largest === 0) return 1;
  return 2 ** Math.max(MIN_EXPONENT, Math.floor(Math.log2(largest)));
}
