import type { MatrixArray } from "./_matrix_input.ts";
import type { MatrixBlock } from "./_workspace.ts";

/** Side of the square tiles that keep rows and columns in the cache. */
const TILE = 32;

/** Calls back for tiles of a square: rows and columns, from and to. */
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
    if (j1 <= i0) return;
    for (let i = i0; i < i1; i++) {
      for (let j = Math.max(i, j0); j < j1; j++) {
        const value = numbers[i * stride + j];
        target[j * size + i] = value;
        if (both) target[i * size + j] = value;
      }
    }
  });
}
