import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";
import type { MatrixArray } from "../_kernels.ts";

/** The distance between 1 and the next number. */
export const EPSILON: number = Number.EPSILON;

/** Uniform numbers in [-1, 1), the same for the same seed. */
export function uniformNumbers(seed: number, count: number): Float64Array {
  const generator = xoroshiro128plus(seed);
  return Float64Array.from(
    { length: count },
    () => generator.next() / 2 ** 31,
  );
}

/** The product of two square matrices. */
export function product(
  a: MatrixArray,
  b: MatrixArray,
  size: number,
): Float64Array {
  const result = new Float64Array(size * size);
  for (let i = 0; i < size; i++) {
    for (let k = 0; k < size; k++) {
      const factor = a[i * size + k];
      for (let j = 0; j < size; j++) {
        result[i * size + j] += factor * b[k * size + j];
      }
    }
  }
  return result;
}

/** The transpose of a square matrix. */
export function transposed(matrix: MatrixArray, size: number): Float64Array {
  return Float64Array.from(
    matrix,
    (_, at) => matrix[(at % size) * size + Math.floor(at / size)],
  );
}

/** The matrix of a function of row and column. */
export function matrixOf(
  size: number,
  entry: (row: number, column: number) => number,
): Float64Array {
  return Float64Array.from(
    { length: size * size },
    (_, at) => entry(Math.floor(at / size), at % size),
  );
}

/** A matrix with the given numbers on its diagonal and 0 elsewhere. */
export function diagonalMatrix(numbers: ArrayLike<number>): Float64Array {
  return matrixOf(numbers.length, (i, j) => i === j ? numbers[i] : 0);
}

/** A symmetric matrix of uniform numbers. */
export function randomSymmetric(seed: number, size: number): Float64Array {
  const numbers = uniformNumbers(seed, size * size);
  return matrixOf(
    size,
    (i, j) => numbers[Math.max(i, j) * size + Math.min(i, j)],
  );
}

/** An orthogonal matrix: a product of reflections, one for each row. */
export function randomOrthogonal(seed: number, size: number): Float64Array {
  const result = diagonalMatrix(new Float64Array(size).fill(1));
  for (let r = 0; r < Math.min(size, 4); r++) {
    const v = uniformNumbers(seed + r, size);
    const squares = v.reduce((sum, it) => sum + it * it, 0);
    for (let i = 0; i < size; i++) {
      const row = result.subarray(i * size, (i + 1) * size);
      const dot = row.reduce((sum, it, j) => sum + it * v[j], 0);
      for (let j = 0; j < size; j++) row[j] -= 2 * dot * v[j] / squares;
    }
  }
  return result;
}

/** A symmetric matrix with the given eigenvalues, exactly symmetric. */
export function withEigenvalues(
  values: ArrayLike<number>,
  seed: number,
): Float64Array {
  const size = values.length;
  const q = randomOrthogonal(seed, size);
  const scaled = product(diagonalMatrix(values), transposed(q, size), size);
  const full = product(q, scaled, size);
  return matrixOf(
    size,
    (i, j) => full[Math.max(i, j) * size + Math.min(i, j)],
  );
}

/** A positive definite matrix B B^T + shift I. */
export function randomPositive(
  seed: number,
  size: number,
  { shift = 0.1 }: { shift?: number } = {},
): Float64Array {
  const b = uniformNumbers(seed, size * size);
  const result = product(b, transposed(b, size), size);
  for (let i = 0; i < size; i++) result[i * size + i] += shift;
  return matrixOf(
    size,
    (i, j) => result[Math.max(i, j) * size + Math.min(i, j)],
  );
}

/** The largest magnitude of a - b; of a alone without b. */
export function largestDifference(a: MatrixArray, b?: MatrixArray): number {
  let largest = 0;
  for (let i = 0; i < a.length; i++) {
    const gap = Math.abs(a[i] - (b?.[i] ?? 0));
    // Not Math.max after this, so that a NaN is not lost.
    if (!(gap <= largest)) largest = gap;
    if (Number.isNaN(gap)) return NaN;
  }
  return largest;
}

/** The root of the sum of squares. */
export function frobenius(a: MatrixArray): number {
  const largest = largestDifference(a);
  if (largest === 0) return 0;
  let sum = 0;
  for (const it of a) sum += (it / largest) ** 2;
  return largest * Math.sqrt(sum);
}
