// deno-lint-ignore-file
// @ts-nocheck AssemblyScript, compiled to WebAssembly by build.ts.
/** Products of a few long rows, and of a symmetric matrix, with a vector. */
import { bytes, fma, total, wholeBytes } from "./lanes.ts";

/** The dot product of two vectors, summed in double precision. */
export function dot(length: i32, x: usize, y: usize): f64 {
  let even = f64x2.splat(0), odd = even;
  const end = x + bytes<f64>(length);
  for (; x + 32 <= end; x += 32, y += 32) {
    even = fma<f64>(v128.load(x), v128.load(y), even);
    odd = fma<f64>(v128.load(x, 16), v128.load(y, 16), odd);
  }
  let sum = total<f64>(f64x2.add(even, odd));
  for (; x < end; x += 8, y += 8) sum += f64.load(x) * f64.load(y);
  return sum;
}

/** `dot` of vectors in single precision. */
export function dotSingle(length: i32, x: usize, y: usize): f64 {
  let even = f64x2.splat(0), odd = even;
  const end = x + bytes<f32>(length);
  for (; x + 16 <= end; x += 16, y += 16) {
    const x0 = f64x2.promote_low_f32x4(v128.load64_zero(x));
    const x1 = f64x2.promote_low_f32x4(v128.load64_zero(x, 8));
    even = fma<f64>(x0, f64x2.promote_low_f32x4(v128.load64_zero(y)), even);
    odd = fma<f64>(x1, f64x2.promote_low_f32x4(v128.load64_zero(y, 8)), odd);
  }
  let sum = total<f64>(f64x2.add(even, odd));
  for (; x < end; x += 4, y += 4) {
    sum += <f64> f32.load(x) * <f64> f32.load(y);
  }
  return sum;
}

/** The dot product of two vectors in their own precision. */
function ownDot<T>(length: i32, x: usize, y: usize): T {
  let sums = v128.splat<T>(0);
  const end = x + bytes<T>(length);
  for (; x + 16 <= end; x += 16, y += 16) {
    sums = fma<T>(v128.load(x), v128.load(y), sums);
  }
  let sum = total<T>(sums);
  for (; x < end; x += sizeof<T>(), y += sizeof<T>()) {
    sum += load<T>(x) * load<T>(y);
  }
  return sum;
}

function dotRowsOf<T>(
  count: i32,
  length: i32,
  rows: usize,
  stride: i32,
  x: usize,
  out: usize,
): void {
  const step = bytes<T>(stride);
  const whole = wholeBytes<T>(length), end = bytes<T>(length);
  let r = 0;
  for (; r + 4 <= count; r += 4, rows += 4 * step) {
    const row1 = rows + step, row2 = row1 + step, row3 = row2 + step;
    let v0 = v128.splat<T>(0), v1 = v0, v2 = v0, v3 = v0;
    let i: usize = 0;
    for (; i < whole; i += 16) {
      const xs = v128.load(x + i);
      v0 = fma<T>(v128.load(rows + i), xs, v0);
      v1 = fma<T>(v128.load(row1 + i), xs, v1);
      v2 = fma<T>(v128.load(row2 + i), xs, v2);
      v3 = fma<T>(v128.load(row3 + i), xs, v3);
    }
    let s0 = total<T>(v0), s1 = total<T>(v1);
    let s2 = total<T>(v2), s3 = total<T>(v3);
    for (; i < end; i += sizeof<T>()) {
      const xi = load<T>(x + i);
      s0 += load<T>(rows + i) * xi;
      s1 += load<T>(row1 + i) * xi;
      s2 += load<T>(row2 + i) * xi;
      s3 += load<T>(row3 + i) * xi;
    }
    store<T>(out, s0);
    store<T>(out, s1, sizeof<T>());
    store<T>(out, s2, 2 * sizeof<T>());
    store<T>(out, s3, 3 * sizeof<T>());
    out += 4 * sizeof<T>();
  }
  for (; r < count; r++, rows += step, out += sizeof<T>()) {
    store<T>(out, ownDot<T>(length, rows, x));
  }
}

export function addScaledOf<T>(
  length: i32,
  factor: T,
  x: usize,
  y: usize,
): void {
  const factors = v128.splat<T>(factor);
  const end = x + bytes<T>(length);
  for (; x + 16 <= end; x += 16, y += 16) {
    v128.store(y, fma<T>(factors, v128.load(x), v128.load(y)));
  }
  for (; x < end; x += sizeof<T>(), y += sizeof<T>()) {
    store<T>(y, load<T>(y) + factor * load<T>(x));
  }
}

function subtractRowsOf<T>(
  count: i32,
  length: i32,
  rows: usize,
  stride: i32,
  factors: usize,
  y: usize,
): void {
  const step = bytes<T>(stride);
  const whole = wholeBytes<T>(length), end = bytes<T>(length);
  let r = 0;
  for (; r + 4 <= count; r += 4, rows += 4 * step) {
    const row1 = rows + step, row2 = row1 + step, row3 = row2 + step;
    const s0 = -load<T>(factors), s1 = -load<T>(factors, sizeof<T>());
    const s2 = -load<T>(factors, 2 * sizeof<T>());
    const s3 = -load<T>(factors, 3 * sizeof<T>());
    const f0 = v128.splat<T>(s0), f1 = v128.splat<T>(s1);
    const f2 = v128.splat<T>(s2), f3 = v128.splat<T>(s3);
    let i: usize = 0;
    for (; i < whole; i += 16) {
      let ys = v128.load(y + i);
      ys = fma<T>(f0, v128.load(rows + i), ys);
      ys = fma<T>(f1, v128.load(row1 + i), ys);
      ys = fma<T>(f2, v128.load(row2 + i), ys);
      ys = fma<T>(f3, v128.load(row3 + i), ys);
      v128.store(y + i, ys);
    }
    for (; i < end; i += sizeof<T>()) {
      const sum = s0 * load<T>(rows + i) + s1 * load<T>(row1 + i) +
        s2 * load<T>(row2 + i) + s3 * load<T>(row3 + i);
      store<T>(y + i, load<T>(y + i) + sum);
    }
    factors += 4 * sizeof<T>();
  }
  for (; r < count; r++, rows += step, factors += sizeof<T>()) {
    addScaledOf<T>(length, -load<T>(factors), rows, y);
  }
}

/** One row of `multiplySymmetric`: its part right of the diagonal, twice. */
function symmetricRow<T>(length: i32, a: usize, x: usize, y: usize): void {
  const xi = load<T>(x), next = sizeof<T>();
  const right = ownDot<T>(length - 1, a + next, x + next);
  store<T>(y, load<T>(y) + load<T>(a) * xi + right);
  addScaledOf<T>(length - 1, xi, a + next, y + next);
}

/**
 * Four rows of `multiplySymmetric` right of their diagonal block: numbers that
 * serve their own place, into y[0..3], and their mirrors', into y[4...].
 */
function symmetricRows<T>(
  length: i32,
  row0: usize,
  step: usize,
  x: usize,
  y: usize,
): void {
  const row1 = row0 + step, row2 = row1 + step, row3 = row2 + step;
  const t0 = load<T>(x), t1 = load<T>(x, sizeof<T>());
  const t2 = load<T>(x, 2 * sizeof<T>()), t3 = load<T>(x, 3 * sizeof<T>());
  const x0 = v128.splat<T>(t0), x1 = v128.splat<T>(t1);
  const x2 = v128.splat<T>(t2), x3 = v128.splat<T>(t3);
  const xRight = x + 4 * sizeof<T>(), yRight = y + 4 * sizeof<T>();
  let v0 = v128.splat<T>(0), v1 = v0, v2 = v0, v3 = v0;
  const whole = wholeBytes<T>(length), end = bytes<T>(length);
  let j: usize = 0;
  for (; j < whole; j += 16) {
    const xs = v128.load(xRight + j);
    let ys = v128.load(yRight + j);
    let as = v128.load(row0 + j);
    v0 = fma<T>(as, xs, v0);
    ys = fma<T>(as, x0, ys);
    as = v128.load(row1 + j);
    v1 = fma<T>(as, xs, v1);
    ys = fma<T>(as, x1, ys);
    as = v128.load(row2 + j);
    v2 = fma<T>(as, xs, v2);
    ys = fma<T>(as, x2, ys);
    as = v128.load(row3 + j);
    v3 = fma<T>(as, xs, v3);
    ys = fma<T>(as, x3, ys);
    v128.store(yRight + j, ys);
  }
  let s0 = total<T>(v0), s1 = total<T>(v1);
  let s2 = total<T>(v2), s3 = total<T>(v3);
  for (; j < end; j += sizeof<T>()) {
    const a0 = load<T>(row0 + j), a1 = load<T>(row1 + j);
    const a2 = load<T>(row2 + j), a3 = load<T>(row3 + j);
    const xj = load<T>(xRight + j);
    s0 += a0 * xj;
    s1 += a1 * xj;
    s2 += a2 * xj;
    s3 += a3 * xj;
    const mirrored = a0 * t0 + a1 * t1 + a2 * t2 + a3 * t3;
    store<T>(yRight + j, load<T>(yRight + j) + mirrored);
  }
  store<T>(y, load<T>(y) + s0);
  store<T>(y, load<T>(y, sizeof<T>()) + s1, sizeof<T>());
  store<T>(y, load<T>(y, 2 * sizeof<T>()) + s2, 2 * sizeof<T>());
  store<T>(y, load<T>(y, 3 * sizeof<T>()) + s3, 3 * sizeof<T>());
}

function multiplySymmetricOf<T>(
  size: i32,
  a: usize,
  stride: i32,
  x: usize,
  y: usize,
): void {
  memory.fill(y, 0, bytes<T>(size));
  const step = bytes<T>(stride), four = bytes<T>(4);
  let i = 0;
  for (; i + 8 <= size; i += 4, x += four, y += four) {
    const right = a + four;
    for (let r = 0; r < 4; r++, a += step + sizeof<T>()) {
      symmetricRow<T>(4 - r, a, x + bytes<T>(r), y + bytes<T>(r));
    }
    symmetricRows<T>(size - i - 4, right, step, x, y);
  }
  for (; i < size; i++, a += step + sizeof<T>()) {
    symmetricRow<T>(size - i, a, x, y);
    x += sizeof<T>();
    y += sizeof<T>();
  }
}

function rotateRowsOf<T>(length: i32, x: usize, y: usize, c: T, s: T): void {
  const end = x + bytes<T>(length);
  const cs = v128.splat<T>(c), ss = v128.splat<T>(s);
  for (; x + 16 <= end; x += 16, y += 16) {
    const xs = v128.load(x), ys = v128.load(y);
    v128.store(x, fma<T>(cs, xs, v128.mul<T>(ss, ys)));
    v128.store(y, v128.sub<T>(v128.mul<T>(cs, ys), v128.mul<T>(ss, xs)));
  }
  for (; x < end; x += sizeof<T>(), y += sizeof<T>()) {
    const xi = load<T>(x), yi = load<T>(y);
    store<T>(x, c * xi + s * yi);
    store<T>(y, c * yi - s * xi);
  }
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
  dotRowsOf<f64>(count, length, rows, stride, x, out);
}

/** `dotRows` in single precision. */
export function dotRowsSingle(
  count: i32,
  length: i32,
  rows: usize,
  stride: i32,
  x: usize,
  out: usize,
): void {
  dotRowsOf<f32>(count, length, rows, stride, x, out);
}

/** y += factor * x. */
export function addScaled(length: i32, factor: f64, x: usize, y: usize): void {
  addScaledOf<f64>(length, factor, x, y);
}

/** `addScaled` in single precision. */
export function addScaledSingle(
  length: i32,
  factor: f32,
  x: usize,
  y: usize,
): void {
  addScaledOf<f32>(length, factor, x, y);
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
  subtractRowsOf<f64>(count, length, rows, stride, factors, y);
}

/** `subtractRows` in single precision. */
export function subtractRowsSingle(
  count: i32,
  length: i32,
  rows: usize,
  stride: i32,
  factors: usize,
  y: usize,
): void {
  subtractRowsOf<f32>(count, length, rows, stride, factors, y);
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
  multiplySymmetricOf<f64>(size, a, stride, x, y);
}

/** `multiplySymmetric` in single precision. */
export function multiplySymmetricSingle(
  size: i32,
  a: usize,
  stride: i32,
  x: usize,
  y: usize,
): void {
  multiplySymmetricOf<f32>(size, a, stride, x, y);
}

/** Turns two rows by a rotation: x = c x + s y, y = c y - s x. */
export function rotateRows(
  length: i32,
  x: usize,
  y: usize,
  c: f64,
  s: f64,
): void {
  rotateRowsOf<f64>(length, x, y, c, s);
}

/** `rotateRows` in single precision. */
export function rotateRowsSingle(
  length: i32,
  x: usize,
  y: usize,
  c: f32,
  s: f32,
): void {
  rotateRowsOf<f32>(length, x, y, c, s);
}

/** Side of the square tiles that keep both triangles in the cache. */
const SIDE: i32 = 16;

function symmetrizeOf<T>(
  size: i32,
  from: usize,
  to: usize,
  stride: i32,
  half: f64,
): f64 {
  const row = bytes<f64>(size);
  let largest: f64 = 0;
  for (let i0 = 0; i0 < size; i0 += SIDE) {
    for (let j0 = i0; j0 < size; j0 += SIDE) {
      const iEnd = min(size, i0 + SIDE), jEnd = min(size, j0 + SIDE);
      for (let i = i0; i < iEnd; i++) {
        const upper = from + <usize> i * row, lower = from + bytes<f64>(i);
        const target = to + <usize> i * bytes<T>(stride);
        for (let j = max(i, j0); j < jEnd; j++) {
          const right = f64.load(upper + bytes<f64>(j));
          const left = f64.load(lower + <usize> j * row);
          // Halves first, as the difference of large numbers overflows.
          largest = max(largest, Math.abs(right * 0.5 - left * 0.5));
          store<T>(target + bytes<T>(j), <T> (right * half + left * half));
        }
      }
    }
  }
  return largest;
}

/**
 * Writes the mean of a square matrix and its transpose, times 2 `half`, to an
 * upper triangle.
 *
 * @returns The largest half of a difference between mirrored numbers.
 */
export function symmetrize(
  size: i32,
  from: usize,
  to: usize,
  stride: i32,
  half: f64,
): f64 {
  return symmetrizeOf<f64>(size, from, to, stride, half);
}

/** `symmetrize` from double to single precision. */
export function symmetrizeSingle(
  size: i32,
  from: usize,
  to: usize,
  stride: i32,
  half: f64,
): f64 {
  return symmetrizeOf<f32>(size, from, to, stride, half);
}
