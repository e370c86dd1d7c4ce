import { divideAndConquer, vectorScratch } from "./_divide_and_conquer.ts";
import { openWorkspace, rowStride } from "./_kernels.ts";
import {
  copySymmetric,
  copyTransposed,
  largestMagnitude,
  type MatrixArray,
  type MatrixOptions,
  sameKind,
  squareSize,
} from "./_matrix.ts";
import {
  applyReflectors,
  reflectorScratch,
  tridiagonalize,
  tridiagonalScratch,
} from "./_tridiagonal.ts";

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
