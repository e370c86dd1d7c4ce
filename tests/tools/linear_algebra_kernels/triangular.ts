// deno-lint-ignore-file
// @ts-nocheck AssemblyScript, compiled to WebAssembly by build.ts.
/**
 * Small triangular work, on upper triangular blocks R with contiguous rows;
 * larger matrices are taken apart into these and products (see cholesky.ts).
 */
import { bytes, fma } from "./lanes.ts";
import { addScaled } from "./rows.ts";

/**
 * R with R^T R = A in place of the upper triangle of A, row by row.
 *
 * @returns The first row whose pivot is not above 0; -1 when there is none.
 */
export function factorBlock(size: i32, a: usize, stride: i32): i32 {
  const step = bytes<f64>(stride);
  for (let i = 0; i < size; i++) {
    const row = a + <usize> i * step + bytes<f64>(i);
    const length = size - i;
    for (let k = 0; k < i; k++) {
      const above = a + <usize> k * step + bytes<f64>(i);
      addScaled(length, -f64.load(above), above, row);
    }
    const pivot = f64.load(row);
    // Negated, so that a NaN is refused too.
    if (!(pivot > 0)) return i;
    const root = Math.sqrt(pivot);
    f64.store(row, root);
    for (let j: usize = 8; j < bytes<f64>(length); j += 8) {
      f64.store(row + j, f64.load(row + j) / root);
    }
  }
  return -1;
}

/**
 * One row of a triangular solve: b[i] = (b[i] - sum of r[k] b[k]) / pivot, on
 * all columns, eight at a time; the r[k] and the b[k] have strides in bytes.
 */
function solveRow(
  count: i32,
  columns: i32,
  r: usize,
  rStep: usize,
  pivot: f64,
  rows: usize,
  step: usize,
  target: usize,
): void {
  const pivots = f64x2.splat(pivot);
  let j = 0;
  for (; j + 8 <= columns; j += 8, rows += 64, target += 64) {
    let b0 = v128.load(target), b1 = v128.load(target, 16);
    let b2 = v128.load(target, 32), b3 = v128.load(target, 48);
    let factor = r, row = rows;
    for (let k = 0; k < count; k++, factor += rStep, row += step) {
      const f = f64x2.neg(v128.load64_splat(factor));
      b0 = fma<f64>(f, v128.load(row), b0);
      b1 = fma<f64>(f, v128.load(row, 16), b1);
      b2 = fma<f64>(f, v128.load(row, 32), b2);
      b3 = fma<f64>(f, v128.load(row, 48), b3);
    }
    v128.store(target, f64x2.div(b0, pivots));
    v128.store(target, f64x2.div(b1, pivots), 16);
    v128.store(target, f64x2.div(b2, pivots), 32);
    v128.store(target, f64x2.div(b3, pivots), 48);
  }
  for (; j < columns; j++, rows += 8, target += 8) {
    let sum = f64.load(target);
    let factor = r, row = rows;
    for (let k = 0; k < count; k++, factor += rStep, row += step) {
      sum -= f64.load(factor) * f64.load(row);
    }
    f64.store(target, sum / pivot);
  }
}

/** X with R^T X = B, in place of B. */
export function solveTransposedBlock(
  size: i32,
  columns: i32,
  r: usize,
  rStride: i32,
  b: usize,
  bStride: i32,
): void {
  const step = bytes<f64>(bStride), rStep = bytes<f64>(rStride);
  for (let i = 0; i < size; i++) {
    const column = r + bytes<f64>(i);
    const pivot = f64.load(column + <usize> i * rStep);
    const target = b + <usize> i * step;
    solveRow(i, columns, column, rStep, pivot, b, step, target);
  }
}

/** X with R X = B, in place of B. */
export function solveBlock(
  size: i32,
  columns: i32,
  r: usize,
  rStride: i32,
  b: usize,
  bStride: i32,
): void {
  const step = bytes<f64>(bStride);
  for (let i = size - 1; i >= 0; i--) {
    const diagonal = r + <usize> i * bytes<f64>(rStride) + bytes<f64>(i);
    const target = b + <usize> i * step;
    solveRow(
      size - 1 - i,
      columns,
      diagonal + 8,
      8,
      f64.load(diagonal),
      target + step,
      step,
      target,
    );
  }
}
