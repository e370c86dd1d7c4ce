import { solve, solveTransposed } from "./_blocks.ts";
import { factorMatrix } from "./_cholesky_factor.ts";
import {
  assertMatrixArray,
  largestMagnitude,
  type MatrixArray,
  sameKind,
  squareSize,
} from "./_matrix_input.ts";
import { copyMirrored } from "./_transpose.ts";
import { openWorkspace, rowStride } from "./_workspace.ts";

/** What {@link cholesky} can be told. */
export interface CholeskyOptions {
  /**
   * Rows of the matrix.
   *
   * @default the square root of the array's length
   */
  size?: number;
}

/**
 * The lower triangular L with L L^T = A, for a symmetric positive definite A.
 *
 * As accurate as LAPACK's `dpotrf`, in double precision whatever the array's
 * kind. Both triangles are read: where they differ by rounding, their mean
 * counts.
 *
 * @param matrix A, `size` x `size` numbers, row-major; it is left as it is.
 * @returns L, row-major, of the same kind as `matrix`, with zeros above the
 * diagonal.
 * @throws {TypeError} If `matrix` is neither a Float64Array nor a Float32Array.
 * @throws {RangeError} If A is not positive definite (the message names the
 * pivot), not square, not finite, or clearly not symmetric: mirrored numbers
 * differ by more than 1e-5 of the largest.
 * @example
 * ```ts
 * import { cholesky } from "@bellman/compute/linear-algebra";
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
export function cholesky<T extends MatrixArray>(
  matrix: T,
  options: CholeskyOptions = {},
): T {
  const action = "factor a matrix";
  const { size, r } = factorMatrix(matrix, {
    action,
    size: options.size,
    spares: 0,
  });
  const result = sameKind(matrix, size * size);
  copyMirrored(r, size, result, { both: false });
  return result;
}

/** What {@link choleskySolve} can be told. */
export interface CholeskySolveOptions {
  /**
   * Rows of the factor and of the right-hand sides.
   *
   * @default the square root of the factor's length
   */
  size?: number;
}

/**
 * X with A X = B, given the factor L of A that {@link cholesky} returned.
 *
 * @param factor L, `size` x `size` numbers, row-major; what stands above its
 * diagonal is not read.
 * @param rightHandSides B, `size` rows, row-major: as many columns as its
 * length has room for. It is left as it is.
 * @returns X, row-major, of the same shape and kind as B.
 * @throws {TypeError} If an array is neither a Float64Array nor a Float32Array.
 * @throws {RangeError} If the factor is not square, has a 0 on its diagonal,
 * if B has no whole number of columns, or if a number is not finite.
 * @example
 * ```ts
 * import { cholesky, choleskySolve } from "@bellman/compute/linear-algebra";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * const factor = cholesky(new Float64Array([4, 2, 2, 10]));
 * const [x, y] = choleskySolve(factor, new Float64Array([8, 22]));
 * assertAlmostEquals(4 * x + 2 * y, 8);
 * assertAlmostEquals(2 * x + 10 * y, 22);
 * ```
 */
export function choleskySolve<T extends MatrixArray>(
  factor: MatrixArray,
  rightHandSides: T,
  options: CholeskySolveOptions = {},
): T {
  const action = "solve with a Cholesky factor";
  const size = squareSize(factor, { action, size: options.size });
  const columns = columnsOf(rightHandSides, { action, size });
  largestMagnitude(factor, { action, columns: size });
  largestMagnitude(rightHandSides, { action, columns });
  const zero = firstZero(factor, size);
  if (zero >= 0) {
    throw new RangeError(
      `Cannot ${action}: number ${zero} of its diagonal is 0`,
    );
  }
  const rStride = rowStride(size), bStride = rowStride(columns);
  const { blocks, ...tools } = openWorkspace([size * rStride, size * bStride]);
  const r = { ...blocks[0], stride: rStride };
  const b = { ...blocks[1], stride: bStride };
  for (let i = 0; i < size; i++) {
    for (let j = i; j < size; j++) {
      r.numbers[i * rStride + j] = factor[j * size + i];
    }
    const row = rightHandSides.subarray(i * columns, (i + 1) * columns);
    b.numbers.set(row, i * bStride);
  }
  solveTransposed(tools, size, columns, r, b);
  solve(tools, size, columns, r, b);
  const result = sameKind(rightHandSides, size * columns);
  for (let i = 0; i < size; i++) {
    const from = i * bStride;
    result.set(b.numbers.subarray(from, from + columns), i * columns);
  }
  return result;
}

function columnsOf(
  rightHandSides: MatrixArray,
  { action, size }: { action: string; size: number },
): number {
  assertMatrixArray(rightHandSides, { action, name: "the right-hand sides" });
  const { length } = rightHandSides;
  if (length > 0 && length % size === 0) return length / size;
  throw new RangeError(
    `Cannot ${action} of size ${size} for ${length} numbers: expected a multiple of ${size} above 0`,
  );
}

/** The first row of a factor with 0 on the diagonal; -1 when there is none. */
function firstZero(factor: MatrixArray, size: number): number {
  for (let i = 0; i < size; i++) if (factor[i * size + i] === 0) return i;
  return -1;
}
