import { factor, type Tools } from "./_blocks.ts";
import {
  copySymmetric,
  largestMagnitude,
  type MatrixArray,
  squareSize,
} from "./_matrix_input.ts";
import { type MatrixBlock, openWorkspace, rowStride } from "./_workspace.ts";

/** An upper triangular R with R^T R = A in the kernels' memory. */
export interface CholeskyFactor {
  size: number;
  r: MatrixBlock;
  /** Further blocks of size x stride numbers. */
  spare: MatrixBlock[];
  tools: Tools;
}

/** Checks a matrix and factors it; what follows can use `spares` blocks. */
export function factorMatrix(
  matrix: MatrixArray,
  { action, spares, ...options }: {
    action: string;
    size?: number;
    spares: number;
  },
): CholeskyFactor {
  const size = squareSize(matrix, { action, size: options.size });
  const largest = largestMagnitude(matrix, { action, columns: size });
  const stride = rowStride(size);
  const { blocks, ...tools } = openWorkspace(
    new Array(1 + spares).fill(size * stride),
  );
  const [r, ...spare] = blocks.map((it) => ({ ...it, stride }));
  copySymmetric(matrix, r, { action, size, largest });
  const failed = factor(tools, size, r);
  if (failed >= 0) {
    const pivot = r.numbers[failed * stride + failed];
    throw new RangeError(
      `Cannot ${action} that is not positive definite: pivot ${failed} is ${pivot}`,
    );
  }
  return { size, r, spare, tools };
}
