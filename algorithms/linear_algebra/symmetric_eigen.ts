import { divideAndConquer, vectorScratch } from "./_divide_and_conquer.ts";
import {
  type Block,
  doublesOf,
  type MatrixArray,
  type MatrixBlock,
  openWorkspace,
  part,
  type Place,
  type Precision,
  rowStride,
  type Tools,
} from "./_kernels.ts";
import {
  copySymmetric,
  copyTransposed,
  largestMagnitude,
  sameKind,
  squareSize,
} from "./_matrix.ts";

/** Chooses how many rows are reduced before the rest is updated. */
function depthOf(size: number): number {
  return size < 600 ? 16 : 32;
}

/** A sum of squares below this counts as 0; entries are at most 1. */
const VANISHING = 1e-270;

/** Counts the numbers that `tridiagonalize` needs as scratch for a matrix. */
function tridiagonalScratch(size: number, stride: number): number {
  return depthOf(size) * (3 * stride + 2);
}

/** Symmetric tridiagonal matrix T = Q^T A Q. */
interface Tridiagonal {
  diagonal: Float64Array;
  /** Off-diagonal, and one more number. */
  beside: Float64Array;
  /**
   * Q = H(0) H(1) ..., where H(i) = I - factors[i] v v^T; v is stored in row i of A,
   * right of the diagonal, and is 0 before that.
   */
  factors: Float64Array;
}

/**
 * Reduces a symmetric matrix, of which it reads and overwrites the upper
 * triangle, to tridiagonal form by Householder reflectors (LAPACK's dsytrd):
 * within a panel each row is updated when it is reduced, and the
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
  // V, then W, then V again, so that [W V] is contiguous as well.
  const vectors = { ...scratch, stride: a.stride };
  const depth = depthOf(size);
  const v = part(vectors, 0, 0), w = part(vectors, depth, 0);
  const task = { size, depth, a, scratch, result, v, w };
  for (let start = 0; start < size; start += depth) {
    const count = Math.min(depth, size - start);
    for (let j = 0; j < count; j++) reduceRow(tools, task, start, j);
    updateRest(tools, task, start + count);
  }
  return result;
}

interface Task {
  size: number;
  /** Rows of V, and of W. */
  depth: number;
  a: MatrixBlock;
  scratch: Block;
  result: Tridiagonal;
  v: Place;
  w: Place;
}

/** Reduces one row and computes its v and w, with A - v w^T - w v^T next. */
function reduceRow(
  { kernels }: Tools,
  { size, depth, a, scratch, result, v, w }: Task,
  start: number,
  j: number,
): void {
  const { stride, bytes } = a;
  const i = start + j, next = i + 1, length = size - next;
  const factors = scratch.at + 3 * depth * stride * bytes;
  const row = part(a, i, i).at, vFrom = part(v, 0, i).at;
  const wFrom = part(w, 0, i).at;
  gather(scratch.numbers, { count: j, depth, stride, column: i });
  kernels.subtractRows(
    j,
    size - i,
    vFrom,
    stride,
    factors + depth * bytes,
    row,
  );
  kernels.subtractRows(j, size - i, wFrom, stride, factors, row);
  result.diagonal[i] = a.numbers[i * stride + i];
  if (length === 0) return;
  const vector = a.numbers.subarray(i * stride + next, i * stride + size);
  const right = row + 2 * bytes, tail = row + bytes;
  const squares = kernels.dot(length - 1, right, right);
  const { beta, tau: exact } = reflector(vector, squares);
  // For a strongly rounded v, the reflection uses the tau of the rounded v.
  const isRounded = bytes === 4 && exact !== 0;
  const tau = isRounded ? 2 / kernels.dot(length, tail, tail) : exact;
  result.beside[i] = beta;
  result.factors[i] = tau;
  scratch.numbers.set(vector, j * stride + next);
  scratch.numbers.set(vector, (2 * depth + j) * stride + next);
  const vRows = part(v, 0, next).at, wRows = part(w, 0, next).at;
  const ownV = part(v, 2 * depth + j, next).at, ownW = part(w, j, next).at;
  kernels.multiplySymmetric(length, part(a, next, next).at, stride, ownV, ownW);
  kernels.dotRows(j, length, vRows, stride, ownV, factors);
  kernels.subtractRows(j, length, wRows, stride, factors, ownW);
  kernels.dotRows(j, length, wRows, stride, ownV, factors);
  kernels.subtractRows(j, length, vRows, stride, factors, ownW);
  kernels.addScaled(length, tau - 1, ownW, ownW);
  const shift = -0.5 * tau * kernels.dot(length, ownV, ownW);
  kernels.addScaled(length, shift, ownV, ownW);
}

/** Collects a column of V and of W behind them, as factors of rows. */
function gather(
  numbers: MatrixArray,
  { count, depth, stride, column }: {
    count: number;
    depth: number;
    stride: number;
    column: number;
  },
): void {
  const to = 3 * depth * stride;
  for (let l = 0; l < count; l++) {
    numbers[to + l] = numbers[l * stride + column];
    numbers[to + depth + l] = numbers[(depth + l) * stride + column];
  }
}

/**
 * Replaces x by the v, v[0] = 1, with (I - tau v v^T) x = (beta, 0, ...).
 *
 * @param squares The sum of squares of x after its first number.
 */
function reflector(
  x: MatrixArray,
  squares: number,
): { beta: number; tau: number } {
  const alpha = x[0];
  x[0] = 1;
  if (squares === 0 || alpha * alpha + squares < VANISHING) {
    // A direction from squares this small would not be accurate.
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
  { size, depth, a, v, w }: Task,
  from: number,
): void {
  const { stride } = a;
  const rest = size - from;
  if (rest === 0) return;
  const left = part(v, 0, from).at, right = part(w, 0, from).at;
  // deno-fmt-ignore -- an operand a line
  kernels.multiply(
    rest, rest, 2 * depth,
    left, 1, stride,
    right, stride, 1,
    part(a, from, from).at, stride,
    -1, 1, 1, work,
  );
}

/** Chooses how many reflectors are applied as one product. */
function blockOf(size: number): number {
  return size < 600 ? 32 : size < 1200 ? 64 : 128;
}

/** Counts the numbers that `applyReflectors` needs as scratch for a matrix. */
function reflectorScratch(size: number, stride: number): number {
  const block = blockOf(size);
  return block * (2 * stride + size + block);
}

type Scratch = ReturnType<typeof layOut>;

/** Reflectors that are applied together. */
interface Panel {
  /** Number of the first reflector. */
  start: number;
  /** Number of reflectors. */
  width: number;
  /** Length of the first reflector. */
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
  const block = blockOf(size);
  const last = Math.floor((count - 1) / block) * block;
  for (let start = last; start >= 0; start -= block) {
    const width = Math.min(block, count - start);
    const panel = { start, width, length: count - start };
    copyReflectors(a, panel, spaces.v);
    triangle(tools, spaces, { panel, factors });
    const columns = part(rows, 0, start + 1);
    applyBlock(tools, spaces, { panel, size, columns });
  }
}

function layOut(size: number, stride: number, scratch: Block) {
  const { bytes } = scratch, block = blockOf(size);
  let end = 0;
  const take = (rows: number, stride: number): MatrixBlock => {
    const start = end;
    end += rows * stride;
    const numbers = scratch.numbers.subarray(start, end);
    return { at: scratch.at + start * bytes, numbers, stride, bytes };
  };
  return {
    /** V: a reflector a row, with zeros before it. */
    v: take(block, stride),
    /** T^T V. */
    tv: take(block, stride),
    /** Rows times V^T. */
    product: take(size, block),
    /** Dot products of reflectors. */
    gram: take(block, block),
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

/** Computes T^T V from the first row to the last: T inverted is nearly V V^T. */
function triangle(
  { kernels, work }: Tools,
  { v, gram, tv }: Scratch,
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
    gram.at, gram.stride,
    1, 0, 0, work,
  );
  const { stride } = tv;
  for (let j = 0; j < width; j++) {
    const row = part(tv, j, 0).at, products = part(gram, j, 0).at;
    const from = j * stride;
    tv.numbers.set(v.numbers.subarray(from, from + length), from);
    kernels.subtractRows(j, length, tv.at, stride, products, row);
    kernels.addScaled(length, factors[start + j] - 1, row, row);
  }
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
    product.at, product.stride,
    1, 0, 0, work,
  );
  // deno-fmt-ignore -- an operand a line
  kernels.multiply(
    size, length, width,
    product.at, product.stride, 1,
    tv.at, tv.stride, 1,
    columns.at, columns.stride,
    -1, 1, 0, work,
  );
}

const ACTION = "find the eigenvalues of a matrix";
/** Below 2 ** -1000 the inverse of the scale would not be finite. */
const MIN_EXPONENT = -1000;

/** Result of {@link symmetricEigen}: A V = V D, with D diag(values) and V the vectors. */
export interface SymmetricEigen<T extends MatrixArray> {
  /** Eigenvalues, ascending: `size` numbers. */
  values: T;
  /**
   * Eigenvectors, orthonormal: column j belongs to `values[j]`, so its element i is
   * `vectors[i * size + j]`. Their signs are not determined.
   */
  vectors: T;
}

/**
 * Computes all eigenvalues and eigenvectors of a symmetric matrix, in double precision
 * for both array types, or in single precision.
 *
 * As LAPACK's `dsyevd`: Householder reduction to a tridiagonal matrix, divide and
 * conquer, and back-transformation by the reflectors. Each eigenvalue is exact for a
 * matrix that differs from A by rounding of its largest numbers. Both triangles are
 * read; if they differ by rounding, their mean is used.
 *
 * @param matrix A, `size` x `size` numbers, row-major; it is not changed.
 * @returns The eigenvalues, ascending, and the eigenvectors as columns, of the same
 * type as `matrix`.
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
  settings: {
    /**
     * Precision: single takes about half of the time and memory; results are exact for a
     * matrix that differs by single rounding.
     *
     * @default "double"
     */
    precision?: Precision;
  } = {},
): SymmetricEigen<T> {
  const { precision = "double" } = settings;
  const size = squareSize(matrix, ACTION);
  const largest = largestMagnitude(matrix, { action: ACTION, columns: size });
  const unit = powerOfTwoNear(largest);
  const task = { precision, size, largest, scale: 1 / unit };
  const { values, rows, order } = decompose(matrix, task);
  const result = {
    values: sameKind(matrix, size),
    vectors: sameKind(matrix, size * size),
  };
  for (let j = 0; j < size; j++) result.values[j] = values[order[j]] * unit;
  copyTransposed(rows, order, result.vectors);
  return result;
}

/** Checked matrix: size, largest number, and working precision. */
interface EigenTask {
  precision: Precision;
  size: number;
  largest: number;
  scale: number;
}

/** Eigenvalues, and eigenvectors as rows. */
interface Decomposition {
  values: MatrixArray;
  rows: MatrixBlock;
  /** Indices of both, by ascending eigenvalue. */
  order: Int32Array;
}

function decompose(
  matrix: MatrixArray,
  { precision, ...task }: EigenTask,
): Decomposition {
  const { size } = task, stride = rowStride(size);
  const forSteps = Math.max(
    size * size,
    tridiagonalScratch(size, stride),
    reflectorScratch(size, stride),
  );
  // Two of the blocks hold numbers in double precision.
  const perDouble = precision === "single" ? 2 : 1;
  const { blocks, ...tools } = openWorkspace([
    forSteps,
    perDouble * size * size,
    perDouble * vectorScratch(size),
    size * stride,
    size * stride,
  ], precision);
  const [scratch, secular, work, ...matrices] = blocks;
  const vectors = doublesOf(work), spare = doublesOf(secular);
  const [a, rows] = matrices.map((it) => ({ ...it, stride }));
  copySymmetric(tools, matrix, a, { action: ACTION, ...task, spare });
  const reduced = tridiagonalize(tools, size, a, scratch);
  const { diagonal: values, beside, factors } = reduced;
  const problem = { size, values, beside, rows, vectors, secular };
  const order = divideAndConquer(tools, { ...problem, packed: scratch });
  applyReflectors(tools, { size, a, factors, rows, scratch });
  return { values, rows, order };
}

/**
 * Returns a power of two near the largest entry: scaling by it has no rounding error,
 * and keeps squares from overflow and underflow.
 */
function powerOfTwoNear(largest: number): number {
  if (largest === 0) return 1;
  return 2 ** Math.max(MIN_EXPONENT, Math.floor(Math.log2(largest)));
}
