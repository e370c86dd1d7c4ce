import {
  doublesOf,
  type MatrixArray,
  openWorkspace,
  part,
  type Place,
  type Precision,
  rowStride,
  type Tools,
} from "./_kernels.ts";
import {
  copyMirrored,
  copySymmetric,
  largestMagnitude,
  sameKind,
  squareSize,
} from "./_matrix.ts";

/** Size of the blocks that are computed directly; larger ones are halved. */
const BLOCK = 32;

/** Halves a size above one block, in whole blocks. */
function halfOf(size: number): number {
  return Math.ceil(size / (2 * BLOCK)) * BLOCK;
}

/**
 * Overwrites A's upper triangle with R, where R^T R = A. Recursive halving turns
 * nearly all of the work into products.
 *
 * @returns The first row whose pivot is not above 0; -1 if there is none.
 */
function factor(tools: Tools, size: number, a: Place): number {
  const { kernels, work } = tools;
  if (size <= BLOCK) return kernels.factorBlock(size, a.at, a.stride);
  const half = halfOf(size), rest = size - half;
  const failed = factor(tools, half, a);
  if (failed >= 0) return failed;
  const right = part(a, 0, half), below = part(a, half, half);
  solve(tools, [half, rest], { r: a, b: right, transposed: true });
  // deno-fmt-ignore -- an operand a line
  kernels.multiply(
    rest, rest, half,
    right.at, 1, right.stride,
    right.at, right.stride, 1,
    below.at, below.stride,
    -1, 1, 1, work,
  );
  const failedBelow = factor(tools, rest, below);
  return failedBelow < 0 ? -1 : half + failedBelow;
}

/** Solves R X = B, or R^T X = B, for an upper triangular R, and overwrites B. */
function solve(
  tools: Tools,
  [size, columns]: readonly [number, number],
  { r, b, transposed }: { r: Place; b: Place; transposed: boolean },
): void {
  const { kernels, work } = tools;
  if (size <= BLOCK) {
    const block = transposed
      ? kernels.solveTransposedBlock
      : kernels.solveBlock;
    return block(size, columns, r.at, r.stride, b.at, b.stride);
  }
  const half = halfOf(size);
  const top = { rows: half, r, b };
  const bottom = {
    rows: size - half,
    r: part(r, half, half),
    b: part(b, half, 0),
  };
  const [first, second] = transposed ? [top, bottom] : [bottom, top];
  const right = part(r, 0, half);
  solve(tools, [first.rows, columns], { ...first, transposed });
  // deno-fmt-ignore -- an operand a line
  kernels.multiply(
    second.rows, columns, first.rows,
    right.at, transposed ? 1 : right.stride, transposed ? right.stride : 1,
    first.b.at, b.stride, 1,
    second.b.at, b.stride,
    -1, 1, 0, work,
  );
  solve(tools, [second.rows, columns], { ...second, transposed });
}

/**
 * Inverts an upper triangular R into `x`, where X must hold the identity in its
 * upper triangle; below the diagonal X is neither read nor written.
 */
function invertTriangle(
  tools: Tools,
  size: number,
  r: Place,
  x: Place,
): void {
  const { kernels, work } = tools;
  if (size <= BLOCK) {
    kernels.solveBlock(size, size, r.at, r.stride, x.at, x.stride);
    return;
  }
  const half = halfOf(size), rest = size - half;
  const rRight = part(r, 0, half), rBelow = part(r, half, half);
  const xRight = part(x, 0, half), xBelow = part(x, half, half);
  invertTriangle(tools, half, r, x);
  invertTriangle(tools, rest, rBelow, xBelow);
  // deno-fmt-ignore -- an operand a line
  kernels.multiply(
    half, rest, rest,
    rRight.at, rRight.stride, 1,
    xBelow.at, xBelow.stride, 1,
    xRight.at, xRight.stride,
    -1, 0, 0, work,
  );
  // A solve and not a product with the inverse above: that keeps the residual
  // R X - I small (Du Croz and Higham, Stability of methods for matrix
  // inversion, IMA J. Numer. Anal. 12, 1992).
  solve(tools, [half, rest], { r, b: xRight, transposed: false });
}

/** Computes the upper triangle of C = X X^T, for an upper triangular X with zeros below. */
function multiplyByTranspose(
  tools: Tools,
  size: number,
  x: Place,
  c: Place,
): void {
  const { kernels, work } = tools;
  const panel = 2 * BLOCK;
  for (let j = 0; j < size; j += panel) {
    const width = Math.min(panel, size - j);
    // Columns of X before j are 0 in the rows from j on.
    const rows = part(x, 0, j), diagonal = part(x, j, j), to = part(c, 0, j);
    // deno-fmt-ignore -- an operand a line
    kernels.multiply(
      j + width, width, size - j,
      rows.at, rows.stride, 1,
      diagonal.at, 1, diagonal.stride,
      to.at, to.stride,
      1, 0, 0, work,
    );
  }
}

/** Checks a matrix and factors it; also returns a spare block. */
function factorMatrix(
  matrix: MatrixArray,
  options: InverseSpdOptions & { action: string },
) {
  const { action, precision = "double", shift = 0 } = options;
  const size = squareSize(matrix, action);
  const largest = largestMagnitude(matrix, { action, columns: size });
  const stride = rowStride(size), count = size * stride;
  // The matrix itself is in double precision.
  const forMatrix = precision === "single" ? 2 * size * size : 0;
  const { blocks, ...tools } = openWorkspace(
    [count, Math.max(count, forMatrix)],
    precision,
  );
  const [r, x] = blocks.map((it) => ({ ...it, stride }));
  const spare = doublesOf(x);
  copySymmetric(tools, matrix, r, { action, size, largest, spare });
  for (let i = 0; i < size; i++) r.numbers[i * (stride + 1)] += shift;
  const failed = factor(tools, size, r);
  if (failed >= 0) {
    const pivot = r.numbers[failed * stride + failed];
    throw new RangeError(
      `Cannot ${action} that is not positive definite: pivot ${failed} is ${pivot}`,
    );
  }
  return { size, r, x, tools };
}

/**
 * Computes the Cholesky factor of a symmetric positive definite A: the lower triangular
 * L with L L^T = A.
 *
 * As accurate as LAPACK's `dpotrf`, in double precision for both array types. Both
 * triangles are read; if they differ by rounding, their mean is used.
 *
 * @param matrix A, `size` x `size` numbers, row-major; it is not changed.
 * @returns L, row-major, of the same type as `matrix`, with zeros above the diagonal.
 * @throws {TypeError} If `matrix` is neither a Float64Array nor a Float32Array.
 * @throws {RangeError} If A is not positive definite (the message names the pivot), not
 * square, not finite, or clearly not symmetric: mirrored numbers differ by more than
 * 1e-5 of the largest.
 * @example
 * ```ts
 * import { cholesky } from "@bellman/linear-algebra";
 * import { assertEquals, assertThrows } from "@std/assert";
 *
 * const factor = cholesky(new Float64Array([4, 2, 2, 10]));
 * assertEquals([...factor], [2, 0, 1, 3]);
 * assertThrows(
 *   () => cholesky(new Float64Array([1, 2, 2, 1])),
 *   RangeError,
 *   "pivot 1 is -3",
 * );
 * ```
 */
export function cholesky<T extends MatrixArray>(matrix: T): T {
  const { size, r } = factorMatrix(matrix, { action: "factor a matrix" });
  const result = sameKind(matrix, size * size);
  copyMirrored(r, size, result, { both: false });
  return result;
}

/** Settings of {@link inverseSpd}. */
export interface InverseSpdOptions {
  /**
   * Precision: single takes about half of the time and memory, for matrices with a
   * condition number well below 1e7.
   *
   * @default "double"
   */
  precision?: Precision;
  /**
   * Shift added to the diagonal first, such as a damping.
   *
   * @default 0
   */
  shift?: number;
}

/** Overwrites the factor with the upper triangle of the inverse. */
function invertFactored(
  { size, r, x, tools }: ReturnType<typeof factorMatrix>,
): void {
  x.numbers.fill(0);
  for (let i = 0; i < size; i++) x.numbers[i * x.stride + i] = 1;
  invertTriangle(tools, size, r, x);
  // The factor is no longer needed, so the product overwrites it.
  multiplyByTranspose(tools, size, x, r);
}

/**
 * Inverts a symmetric positive definite matrix by its Cholesky factor (as LAPACK's
 * `dpotrf` and `dpotri`), in double precision for both array types, or in single
 * precision. The result is exactly symmetric.
 *
 * @param matrix A, `size` x `size` numbers, row-major; it is not changed.
 * @returns The inverse, row-major, of the same type as `matrix`.
 * @throws {TypeError} If `matrix` is neither a Float64Array nor a Float32Array.
 * @throws {RangeError} If A is not positive definite (the message names the
 * pivot), not square, not finite, or clearly not symmetric: mirrored numbers
 * differ by more than 1e-5 of the largest.
 * @example
 * ```ts
 * import { inverseSpd } from "@bellman/linear-algebra";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * const [a, b, c, d] = inverseSpd(new Float64Array([2, 1, 1, 1]));
 * assertAlmostEquals(a, 1);
 * assertAlmostEquals(b, -1);
 * assertAlmostEquals(c, -1);
 * assertAlmostEquals(d, 2);
 * ```
 */
export function inverseSpd<T extends MatrixArray>(
  matrix: T,
  options: InverseSpdOptions = {},
): T {
  const action = "invert a matrix";
  const factored = factorMatrix(matrix, { ...options, action });
  const { size, r } = factored;
  invertFactored(factored);
  const result = sameKind(matrix, size * size);
  copyMirrored(r, size, result, { both: true });
  return result;
}
