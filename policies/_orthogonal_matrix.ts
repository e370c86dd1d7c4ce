import type { RandomSource } from "@bellman/types";

/** Below this length what is left of a vector is rounding, not direction. */
const SMALLEST_LENGTH = 1e-6;

function dot(matrix: Float64Array, i: number, j: number, n: number): number {
  let sum = 0;
  for (let k = 0; k < n; k++) sum += matrix[i + k] * matrix[j + k];
  return sum;
}

/** Takes from the vector at `j` its part along the unit vector at `i`. */
function project(matrix: Float64Array, i: number, j: number, n: number): void {
  const length = dot(matrix, i, j, n);
  for (let k = 0; k < n; k++) matrix[j + k] -= length * matrix[i + k];
}

/** Draws the vector at `j` and makes it orthogonal to those before it. */
function drawOrthogonal(
  vectors: Float64Array,
  j: number,
  n: number,
  random: RandomSource,
): void {
  for (let attempt = 0; attempt < 100; attempt++) {
    for (let k = 0; k < n; k++) vectors[j + k] = random.normal();
    for (let i = 0; i < j; i += n) project(vectors, i, j, n);
    const length = Math.sqrt(dot(vectors, j, j, n));
    if (length > SMALLEST_LENGTH) {
      for (let k = 0; k < n; k++) vectors[j + k] /= length;
      return;
    }
  }
  throw new RangeError(
    "Cannot make an orthogonal matrix as the random source repeats itself",
  );
}

/**
 * A random matrix `[rows, columns]`, row-major, whose shorter side consists
 * of orthogonal vectors of length `scale`. Gram-Schmidt in float64 on normal
 * vectors: the result is uniform over such matrices.
 */
export function orthogonalMatrix(
  rows: number,
  columns: number,
  scale: number,
  random: RandomSource,
): Float32Array<ArrayBuffer> {
  const tall = rows >= columns;
  const count = tall ? columns : rows;
  const n = tall ? rows : columns;
  const vectors = new Float64Array(count * n);
  for (let j = 0; j < vectors.length; j += n) {
    drawOrthogonal(vectors, j, n, random);
  }
  const matrix = new Float32Array(rows * columns);
  for (let i = 0; i < count; i++) {
    for (let k = 0; k < n; k++) {
      matrix[tall ? k * columns + i : i * columns + k] = scale *
        vectors[i * n + k];
    }
  }
  return matrix;
}
