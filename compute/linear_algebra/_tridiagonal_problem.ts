import type { Block, MatrixBlock } from "./_workspace.ts";

/** A tridiagonal eigenproblem and the memory that solving it takes. */
export interface TridiagonalProblem {
  size: number;
  /** The diagonal; the eigenvalues afterwards, number r for row r. */
  values: Float64Array;
  /** The numbers beside the diagonal. */
  beside: Float64Array;
  /** The rows become the eigenvectors. */
  rows: MatrixBlock;
  /** Vectors, each of `size` numbers. */
  vectors: Block;
  /** size x size numbers: rows packed for a product. */
  packed: Block;
  /** size x size numbers: eigenvectors of a merge. */
  secular: Block;
}
