import { invertTriangle, multiplyByTranspose } from "./_blocks.ts";
import { factorMatrix } from "./_cholesky_factor.ts";
import { type MatrixArray, sameKind } from "./_matrix_input.ts";
import { copyMirrored } from "./_transpose.ts";

/** What {@link inverseSpd} can be told. */
export interface InverseSpdOptions {
  /**
   * Rows of the matrix.
   *
   * @default the square root of the array's length
   */
  size?: number;
}

/**
 * The inverse of a symmetric positive definite matrix, by way of its Cholesky
 * factor (as LAPACK's `dpotrf` and `dpotri`), in double precision whatever the
 * array's kind. The result is exactly symmetric.
 *
 * @param matrix A, `size` x `size` numbers, row-major; it is left as it is.
 * @returns The inverse, row-major, of the same kind as `matrix`.
 * @throws {TypeError} If `matrix` is neither a Float64Array nor a Float32Array.
 * @throws {RangeError} If A is not positive definite (the message names the
 * pivot), not square, not finite, or clearly not symmetric: mirrored numbers
 * differ by more than 1e-5 of the largest.
 * @example
 * ```ts
 * import { inverseSpd } from "@bellman/compute/linear-algebra";
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
  const { size, r, spare: [x], tools } = factorMatrix(matrix, {
    action: "invert a matrix",
    size: options.size,
    spares: 1,
  });
  x.numbers.fill(0);
  for (let i = 0; i < size; i++) x.numbers[i * x.stride + i] = 1;
  invertTriangle(tools, size, r, x);
  // The factor is not needed any more, so its place takes the product.
  multiplyByTranspose(tools, size, x, r);
  const result = sameKind(matrix, size * size);
  copyMirrored(r, size, result, { both: true });
  return result;
}
