// deno-lint-ignore-file
// @ts-nocheck AssemblyScript, compiled to WebAssembly by build.ts.
/**
 * Small triangular work, on upper triangular blocks R with contiguous rows;
 * larger matrices are taken apart into these and products (see cholesky.ts).
 */
import { bytes, fma } from "./lanes.ts";
import { addScaledOf } from "./rows.ts";

function factorBlockOf<T>(size: i32, a: usize, stride: i32): i32 {
  const step = bytes<T>(stride);
  for (let i = 0; i < size; i++) {
    const row = a + <usize> i * step + bytes<T>(i);
    const length = size - i;
    for (let k = 0; k < i; k++) {
      const above = a + <usize> k * step + bytes<T>(i);
      addScaledOf<T>(length, -load<T>(above), above, row);
    }
    const pivot = load<T>(row);
    // Negated, so that a NaN is refused too.
    if (!(pivot > 0)) return i;
    const root = sqrt<T>(pivot);
    store<T>(row, root);
    for (let j: usize = sizeof<T>(); j < bytes<T>(length); j += sizeof<T>()) {
      store<T>(row + j, load<T>(row + j) / root);
    }
  }
  return -1;
}

/**
 * One row of a triangular solve: b[i] = (b[i] - sum of r[k] b[k]) / pivot, on
 * all columns, four vectors at a time; the r[k] and the b[k] have strides in
 * bytes.
 */
function solveRow<T>(
  count: i32,
  columns: i32,
  r: usize,
  rStep: usize,
  pivot: T,
  rows: usize,
  step: usize,
  target: usize,
): void {
  const pivots = v128.splat<T>(pivot);
  const wide: i32 = 64 / sizeof<T>();
  let j = 0;
  for (; j + wide <= columns; j += wide, rows += 64, target += 64) {
    let b0 = v128.load(target), b1 = v128.load(target, 16);
    let b2 = v128.load(target, 32), b3 = v128.load(target, 48);
    let factor = r, row = rows;
    for (let k = 0; k < count; k++, factor += rStep, row += step) {
      const f = v128.splat<T>(-load<T>(factor));
      b0 = fma<T>(f, v128.load(row), b0);
      b1 = fma<T>(f, v128.load(row, 16), b1);
      b2 = fma<T>(f, v128.load(row, 32), b2);
      b3 = fma<T>(f, v128.load(row, 48), b3);
    }
    v128.store(target, v128.div<T>(b0, pivots));
    v128.store(target, v128.div<T>(b1, pivots), 16);
    v128.store(target, v128.div<T>(b2, pivots), 32);
    v128.store(target, v128.div<T>(b3, pivots), 48);
  }
  for (; j < columns; j++, rows += sizeof<T>(), target += sizeof<T>()) {
    let sum = load<T>(target);
    let factor = r, row = rows;
    for (let k = 0; k < count; k++, factor += rStep, row += step) {
      sum -= load<T>(factor) * load<T>(row);
    }
    store<T>(target, sum / pivot);
  }
}

function solveTransposedBlockOf<T>(
  size: i32,
  columns: i32,
  r: usize,
  rStride: i32,
  b: usize,
  bStride: i32,
): void {
  const step = bytes<T>(bStride), rStep = bytes<T>(rStride);
  for (let i = 0; i < size; i++) {
    const column = r + bytes<T>(i);
    const pivot = load<T>(column + <usize> i * rStep);
    const target = b + <usize> i * step;
    solveRow<T>(i, columns, column, rStep, pivot, b, step, target);
  }
}

function solveBlockOf<T>(
  size: i32,
  columns: i32,
  r: usize,
  rStride: i32,
  b: usize,
  bStride: i32,
): void {
  const step = bytes<T>(bStride), side = sizeof<T>();
  for (let i = size - 1; i >= 0; i--) {
    const diagonal = r + <usize> i * bytes<T>(rStride) + bytes<T>(i);
    const target = b + <usize> i * step;
    solveRow<T>(
      size - 1 - i,
      columns,
      diagonal + side,
      side,
      load<T>(diagonal),
      target + step,
      step,
      target,
    );
  }
}

/**
 * R with R^T R = A in place of the upper triangle of A, row by row.
 *
 * @returns The first row whose pivot is not above 0; -1 when there is none.
 */
export function factorBlock(size: i32, a: usize, stride: i32): i32 {
  return factorBlockOf<f64>(size, a, stride);
}

/** `factorBlock` in single precision. */
export function factorBlockSingle(size: i32, a: usize, stride: i32): i32 {
  return factorBlockOf<f32>(size, a, stride);
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
  solveTransposedBlockOf<f64>(size, columns, r, rStride, b, bStride);
}

/** `solveTransposedBlock` in single precision. */
export function solveTransposedBlockSingle(
  size: i32,
  columns: i32,
  r: usize,
  rStride: i32,
  b: usize,
  bStride: i32,
): void {
  solveTransposedBlockOf<f32>(size, columns, r, rStride, b, bStride);
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
  solveBlockOf<f64>(size, columns, r, rStride, b, bStride);
}

/** `solveBlock` in single precision. */
export function solveBlockSingle(
  size: i32,
  columns: i32,
  r: usize,
  rStride: i32,
  b: usize,
  bStride: i32,
): void {
  solveBlockOf<f32>(size, columns, r, rStride, b, bStride);
}
