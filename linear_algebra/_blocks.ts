import type { Kernels } from "./_kernels.ts";

/** Side of the blocks that are worked on directly; larger ones are halved. */
const BLOCK = 32;

/** A matrix by address and row stride, in the kernels' memory. */
export interface Place {
  at: number;
  stride: number;
}

/** The kernels and the memory for their `multiply`. */
export interface Tools {
  kernels: Kernels;
  work: number;
}

/** Returns the part of a matrix from a row and a column on. */
export function part(matrix: Place, row: number, column: number): Place {
  const { at, stride } = matrix;
  return { at: at + (row * stride + column) * 8, stride };
}

/** Halves a size above one block, in whole blocks. */
function halfOf(size: number): number {
  return Math.ceil(size / (2 * BLOCK)) * BLOCK;
}

/**
 * Puts the upper triangular R with R^T R = A in place of A's upper triangle.
 * Taking halves turns nearly all of the work into products.
 *
 * @returns The first row whose pivot is not above 0; -1 when there is none.
 */
export function factor(tools: Tools, size: number, a: Place): number {
  const { kernels, work } = tools;
  if (size <= BLOCK) return kernels.factorBlock(size, a.at, a.stride);
  const half = halfOf(size), rest = size - half;
  const failed = factor(tools, half, a);
  if (failed >= 0) return failed;
  const right = part(a, 0, half), below = part(a, half, half);
  solveTransposed(tools, half, rest, a, right);
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

/** Solves R^T X = B in place of B, for an upper triangular R. */
export function solveTransposed(
  tools: Tools,
  size: number,
  columns: number,
  r: Place,
  b: Place,
): void {
  const { kernels, work } = tools;
  if (size <= BLOCK) {
    kernels.solveTransposedBlock(
      size,
      columns,
      r.at,
      r.stride,
      b.at,
      b.stride,
    );
    return;
  }
  const half = halfOf(size), rest = size - half;
  const right = part(r, 0, half), below = part(b, half, 0);
  solveTransposed(tools, half, columns, r, b);
  // deno-fmt-ignore -- an operand a line
  kernels.multiply(
    rest, columns, half,
    right.at, 1, right.stride,
    b.at, b.stride, 1,
    below.at, below.stride,
    -1, 1, 0, work,
  );
  solveTransposed(tools, rest, columns, part(r, half, half), below);
}

/** Solves R X = B in place of B, for an upper triangular R. */
export function solve(
  tools: Tools,
  size: number,
  columns: number,
  r: Place,
  b: Place,
): void {
  const { kernels, work } = tools;
  if (size <= BLOCK) {
    kernels.solveBlock(size, columns, r.at, r.stride, b.at, b.stride);
    return;
  }
  const half = halfOf(size), rest = size - half;
  const right = part(r, 0, half), below = part(b, half, 0);
  solve(tools, rest, columns, part(r, half, half), below);
  // deno-fmt-ignore -- an operand a line
  kernels.multiply(
    half, columns, rest,
    right.at, right.stride, 1,
    below.at, below.stride, 1,
    b.at, b.stride,
    -1, 1, 0, work,
  );
  solve(tools, half, columns, r, b);
}

/**
 * Inverts an upper triangular R into `x`, where X must hold the identity in its
 * upper triangle; below the diagonal X is neither read nor written.
 */
export function invertTriangle(
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
  solve(tools, half, rest, r, xRight);
}

/**
 * Computes the upper triangle of C = X X^T, for an upper triangular X with
 * zeros below.
 */
export function multiplyByTranspose(
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
    const rows = part(x, 0, j), own = part(x, j, j), to = part(c, 0, j);
    // deno-fmt-ignore -- an operand a line
    kernels.multiply(
      j + width, width, size - j,
      rows.at, rows.stride, 1,
      own.at, 1, own.stride,
      to.at, to.stride,
      1, 0, 0, work,
    );
  }
}
