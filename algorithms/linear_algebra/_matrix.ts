import type { Block, MatrixArray, MatrixBlock, Tools } from "./_kernels.ts";

/** Largest difference of mirrored entries, relative to the largest entry. */
const SYMMETRY_TOLERANCE = 1e-5;
/** Side of the square tiles that keep both triangles in the cache. */
const TILE = 32;

/** Returns the size of a square matrix. */
export function squareSize(matrix: MatrixArray, action: string): number {
  const isMatrix = matrix instanceof Float64Array ||
    matrix instanceof Float32Array;
  if (!isMatrix) {
    const kind = Object.prototype.toString.call(matrix).slice(8, -1);
    throw new TypeError(
      `Cannot ${action}: expected the matrix to be a Float64Array or Float32Array, got ${kind}`,
    );
  }
  const { length } = matrix, root = Math.round(Math.sqrt(length));
  if (root > 0 && root * root === length) return root;
  throw new RangeError(
    `Cannot ${action} of ${length} numbers: expected the square of a size above 0`,
  );
}

/** Finds the largest magnitude; throws a RangeError if a number is not finite. */
export function largestMagnitude(
  numbers: MatrixArray,
  { action, columns }: { action: string; columns: number },
): number {
  let largest = 0, spoilt = 0;
  for (let i = 0; i < numbers.length; i++) {
    const magnitude = Math.abs(numbers[i]);
    if (magnitude > largest) largest = magnitude;
    // Stays 0 unless a number is NaN or infinite.
    spoilt += magnitude * 0;
  }
  if (spoilt === 0) return largest;
  const at = numbers.findIndex((it) => !Number.isFinite(it));
  throw new RangeError(
    `Cannot ${action} with ${numbers[at]} in row ${
      Math.floor(at / columns)
    }, column ${at % columns}: expected finite numbers`,
  );
}

/**
 * Writes the mean of a matrix and its transpose, times `scale`, to the upper triangle
 * of a block; throws a RangeError if the two clearly differ.
 *
 * @param options `spare` holds as many numbers as the matrix.
 */
export function copySymmetric(
  { kernels }: Tools,
  matrix: MatrixArray,
  target: MatrixBlock,
  options: {
    action: string;
    size: number;
    largest: number;
    spare: Block<Float64Array>;
    scale?: number;
  },
): void {
  const { action, size, largest, spare, scale = 1 } = options;
  spare.numbers.set(matrix);
  const { at, stride } = target;
  const gap = kernels.symmetrize(size, spare.at, at, stride, scale / 2);
  const bound = SYMMETRY_TOLERANCE * largest / 2;
  if (gap <= bound) return;
  for (let at = 0; at < matrix.length; at++) {
    const i = Math.floor(at / size), j = at % size;
    const upper = matrix[at], lower = matrix[j * size + i];
    if (Math.abs(upper / 2 - lower / 2) <= bound) continue;
    throw asymmetry(action, i, j, upper, lower);
  }
}

function asymmetry(
  action: string,
  i: number,
  j: number,
  upper: number,
  lower: number,
): RangeError {
  return new RangeError(
    `Cannot ${action} that is not symmetric: row ${i}, column ${j} holds ${upper} and its mirror ${lower}`,
  );
}

/** Makes an array of the same type as another. */
export function sameKind<T extends MatrixArray>(like: T, length: number): T {
  return (like instanceof Float64Array
    ? new Float64Array(length)
    : new Float32Array(length)) as T;
}

/** Calls back for each tile of a square, with its range of rows and columns. */
function eachTile(
  size: number,
  work: (i0: number, i1: number, j0: number, j1: number) => void,
): void {
  for (let i = 0; i < size; i += TILE) {
    for (let j = 0; j < size; j += TILE) {
      work(i, Math.min(size, i + TILE), j, Math.min(size, j + TILE));
    }
  }
}

/** Writes rows, in the given order, as the columns of a square matrix. */
export function copyTransposed(
  { numbers, stride }: MatrixBlock,
  order: Int32Array,
  target: MatrixArray,
): void {
  const size = order.length;
  eachTile(size, (i0, i1, j0, j1) => {
    for (let j = j0; j < j1; j++) {
      const from = order[j] * stride;
      for (let i = i0; i < i1; i++) target[i * size + j] = numbers[from + i];
    }
  });
}

/**
 * Writes the upper triangle of a block to the lower triangle of a matrix, and
 * with `both` to its upper one too.
 */
export function copyMirrored(
  { numbers, stride }: MatrixBlock,
  size: number,
  target: MatrixArray,
  { both }: { both: boolean },
): void {
  eachTile(size, (i0, i1, j0, j1) => {
    for (let i = i0; i < i1; i++) {
      for (let j = Math.max(i, j0); j < j1; j++) {
        const value = numbers[i * stride + j];
        target[j * size + i] = value;
        if (both) target[i * size + j] = value;
      }
    }
  });
}
