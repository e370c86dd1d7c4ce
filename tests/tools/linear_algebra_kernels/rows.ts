// deno-lint-ignore-file
// @ts-nocheck AssemblyScript, compiled to WebAssembly by build.ts.
/** Products of a few long rows, and of a symmetric matrix, with a vector. */
import { bytes, fma, total } from "./lanes.ts";

/** The dot product of two vectors. */
export function dot(length: i32, x: usize, y: usize): f64 {
  let even = f64x2.splat(0), odd = even;
  const end = x + bytes(length);
  for (; x + 32 <= end; x += 32, y += 32) {
    even = fma(v128.load(x), v128.load(y), even);
    odd = fma(v128.load(x, 16), v128.load(y, 16), odd);
  }
  let sum = total(f64x2.add(even, odd));
  for (; x < end; x += 8, y += 8) sum += f64.load(x) * f64.load(y);
  return sum;
}

/** out[r] = rows[r] . x, for rows `stride` numbers apart. */
export function dotRows(
  count: i32,
  length: i32,
  rows: usize,
  stride: i32,
  x: usize,
  out: usize,
): void {
  const step = bytes(stride), whole = bytes(length & ~1);
  let r = 0;
  for (; r + 4 <= count; r += 4, rows += 4 * step, out += 32) {
    const row1 = rows + step, row2 = row1 + step, row3 = row2 + step;
    let s0 = f64x2.splat(0), s1 = s0, s2 = s0, s3 = s0;
    for (let i: usize = 0; i < whole; i += 16) {
      const xs = v128.load(x + i);
      s0 = fma(v128.load(rows + i), xs, s0);
      s1 = fma(v128.load(row1 + i), xs, s1);
      s2 = fma(v128.load(row2 + i), xs, s2);
      s3 = fma(v128.load(row3 + i), xs, s3);
    }
    const last = length & 1 ? f64.load(x + whole) : 0;
    const at: usize = length & 1 ? whole : 0;
    f64.store(out, total(s0) + last * f64.load(rows + at));
    f64.store(out, total(s1) + last * f64.load(row1 + at), 8);
    f64.store(out, total(s2) + last * f64.load(row2 + at), 16);
    f64.store(out, total(s3) + last * f64.load(row3 + at), 24);
  }
  for (; r < count; r++, rows += step, out += 8) {
    f64.store(out, dot(length, rows, x));
  }
}

/** y += factor * x. */
export function addScaled(length: i32, factor: f64, x: usize, y: usize): void {
  const factors = f64x2.splat(factor);
  const end = x + bytes(length);
  for (; x + 16 <= end; x += 16, y += 16) {
    v128.store(y, fma(factors, v128.load(x), v128.load(y)));
  }
  if (x < end) f64.store(y, f64.load(y) + factor * f64.load(x));
}

/** y -= sum of factors[r] * rows[r], for rows `stride` numbers apart. */
export function subtractRows(
  count: i32,
  length: i32,
  rows: usize,
  stride: i32,
  factors: usize,
  y: usize,
): void {
  const step = bytes(stride), whole = bytes(length & ~1);
  let r = 0;
  for (; r + 4 <= count; r += 4, rows += 4 * step, factors += 32) {
    const row1 = rows + step, row2 = row1 + step, row3 = row2 + step;
    const f0 = f64x2.neg(v128.load64_splat(factors));
    const f1 = f64x2.neg(v128.load64_splat(factors, 8));
    const f2 = f64x2.neg(v128.load64_splat(factors, 16));
    const f3 = f64x2.neg(v128.load64_splat(factors, 24));
    for (let i: usize = 0; i < whole; i += 16) {
      let ys = v128.load(y + i);
      ys = fma(f0, v128.load(rows + i), ys);
      ys = fma(f1, v128.load(row1 + i), ys);
      ys = fma(f2, v128.load(row2 + i), ys);
      ys = fma(f3, v128.load(row3 + i), ys);
      v128.store(y + i, ys);
    }
    if (length & 1) {
      const sum = f64.load(factors) * f64.load(rows + whole) +
        f64.load(factors, 8) * f64.load(row1 + whole) +
        f64.load(factors, 16) * f64.load(row2 + whole) +
        f64.load(factors, 24) * f64.load(row3 + whole);
      f64.store(y + whole, f64.load(y + whole) - sum);
    }
  }
  for (; r < count; r++, rows += step, factors += 8) {
    addScaled(length, -f64.load(factors), rows, y);
  }
}

/** One row of `multiplySymmetric`: its part right of the diagonal, twice. */
function symmetricRow(length: i32, a: usize, x: usize, y: usize): void {
  const xi = f64.load(x);
  const right = dot(length - 1, a + 8, x + 8);
  f64.store(y, f64.load(y) + f64.load(a) * xi + right);
  addScaled(length - 1, xi, a + 8, y + 8);
}

/**
 * Four rows of `multiplySymmetric` right of their diagonal block: numbers that
 * serve their own place, into y[0..3], and their mirrors', into y[4...].
 */
function symmetricRows(
  length: i32,
  row0: usize,
  step: usize,
  x: usize,
  y: usize,
): void {
  const row1 = row0 + step, row2 = row1 + step, row3 = row2 + step;
  const x0 = v128.load64_splat(x), x1 = v128.load64_splat(x, 8);
  const x2 = v128.load64_splat(x, 16), x3 = v128.load64_splat(x, 24);
  const xRight = x + 32, yRight = y + 32;
  let s0 = f64x2.splat(0), s1 = s0, s2 = s0, s3 = s0;
  const whole = bytes(length & ~1);
  for (let j: usize = 0; j < whole; j += 16) {
    const xs = v128.load(xRight + j);
    let ys = v128.load(yRight + j);
    let as = v128.load(row0 + j);
    s0 = fma(as, xs, s0);
    ys = fma(as, x0, ys);
    as = v128.load(row1 + j);
    s1 = fma(as, xs, s1);
    ys = fma(as, x1, ys);
    as = v128.load(row2 + j);
    s2 = fma(as, xs, s2);
    ys = fma(as, x2, ys);
    as = v128.load(row3 + j);
    s3 = fma(as, xs, s3);
    ys = fma(as, x3, ys);
    v128.store(yRight + j, ys);
  }
  f64.store(y, f64.load(y) + total(s0));
  f64.store(y, f64.load(y, 8) + total(s1), 8);
  f64.store(y, f64.load(y, 16) + total(s2), 16);
  f64.store(y, f64.load(y, 24) + total(s3), 24);
  if (length & 1) {
    for (let r: usize = 0; r < 32; r += 8, row0 += step) {
      const value = f64.load(row0 + whole);
      f64.store(y + r, f64.load(y + r) + value * f64.load(xRight + whole));
      const mirror = f64.load(yRight + whole) + value * f64.load(x + r);
      f64.store(yRight + whole, mirror);
    }
  }
}

/**
 * y = A x for a symmetric A of which only the upper triangle is read, once:
 * four rows at a time, their diagonal block by itself.
 */
export function multiplySymmetric(
  size: i32,
  a: usize,
  stride: i32,
  x: usize,
  y: usize,
): void {
  memory.fill(y, 0, bytes(size));
  const step = bytes(stride);
  let i = 0;
  for (; i + 8 <= size; i += 4, x += 32, y += 32) {
    const right = a + 32;
    for (let r = 0; r < 4; r++, a += step + 8) {
      symmetricRow(4 - r, a, x + bytes(r), y + bytes(r));
    }
    symmetricRows(size - i - 4, right, step, x, y);
  }
  for (; i < size; i++, a += step + 8, x += 8, y += 8) {
    symmetricRow(size - i, a, x, y);
  }
}

/** Turns two rows by a rotation: x = c x + s y, y = c y - s x. */
export function rotateRows(
  length: i32,
  x: usize,
  y: usize,
  c: f64,
  s: f64,
): void {
  for (const end = x + bytes(length); x < end; x += 8, y += 8) {
    const xs = f64.load(x), ys = f64.load(y);
    f64.store(x, c * xs + s * ys);
    f64.store(y, c * ys - s * xs);
  }
}
