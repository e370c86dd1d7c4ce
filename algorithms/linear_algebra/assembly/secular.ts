// deno-lint-ignore-file
// @ts-nocheck AssemblyScript, compiled to WebAssembly by build.ts.
/**
 * Eigenvalues and eigenvectors of a diagonal matrix plus rho z z^T.
 *
 * The eigenvalues are the roots of f(x) = 1/rho + sum of z[i]^2 / (d[i] - x),
 * one right of each d[i]. Found as a distance from the nearest d, they keep
 * every difference d[i] - x accurate, which the eigenvectors depend on.
 * R. Li, Solving secular equations stably and efficiently (LAPACK working note
 * 89, 1993); M. Gu and S. Eisenstat, A divide-and-conquer algorithm for the
 * symmetric tridiagonal eigenproblem (SIAM J. Matrix Anal. Appl. 16, 1995).
 */
import { bytes, fma, total } from "./lanes.ts";

/** Half the distance between 1 and the next number. */
const ROUNDING: f64 = 1.1102230246251565e-16;
/** More than any root needs: halving alone ends well before it. */
const MAX_STEPS: i32 = 200;

// What `sums` found: a sum of z^2 / (d - x), and its derivative.
let sum: f64 = 0;
let slope: f64 = 0;

/** Sums over the terms from `from` to `to`, with x at `tau` from `origin`. */
function sums(
  from: i32,
  to: i32,
  d: usize,
  zz: usize,
  origin: f64,
  tau: f64,
): void {
  const origins = f64x2.splat(origin), taus = f64x2.splat(tau);
  const ones = f64x2.splat(1);
  let values = f64x2.splat(0), slopes = values;
  let i = bytes<f64>(from);
  const end = bytes<f64>(to);
  for (; i + 16 <= end; i += 16) {
    const gaps = f64x2.sub(f64x2.sub(v128.load(d + i), origins), taus);
    const inverse = f64x2.div(ones, gaps);
    const terms = f64x2.mul(v128.load(zz + i), inverse);
    values = f64x2.add(values, terms);
    slopes = fma<f64>(terms, inverse, slopes);
  }
  sum = total<f64>(values);
  slope = total<f64>(slopes);
  if (i < end) {
    const inverse = 1 / ((f64.load(d + i) - origin) - tau);
    const term = f64.load(zz + i) * inverse;
    sum += term;
    slope += term * inverse;
  }
}

/** The root x of c x^2 - a x + b that goes to b / a where c goes to 0. */
function smallRoot(a: f64, b: f64, c: f64): f64 {
  const root = Math.sqrt(Math.abs(a * a - 4 * b * c));
  if (a <= 0 && c != 0) return (a - root) / (2 * c);
  return 2 * b / (a + root);
}

/** The root x of c x^2 - a x + b on the other side, for the last eigenvalue. */
function largeRoot(a: f64, b: f64, c: f64): f64 {
  const root = Math.sqrt(Math.abs(a * a - 4 * b * c));
  if (a >= 0 && c != 0) return (a + root) / (2 * c);
  return 2 * b / (a - root);
}

// Where `bracket` found a root to be: between `low` and `high` from `origin`,
// and about at `tau`.
let origin: f64 = 0;
let low: f64 = 0;
let high: f64 = 0;
let tau: f64 = 0;

/**
 * Finds the half of its interval that a root is in, and where it would be if the
 * terms of all but the poles p and p + 1 were constant.
 */
function bracket(
  size: i32,
  p: i32,
  last: bool,
  d: usize,
  zz: usize,
  rho: f64,
): void {
  const dp = f64.load(d + bytes<f64>(p)), dq = f64.load(d + bytes<f64>(p + 1));
  const zp = f64.load(zz + bytes<f64>(p)),
    zq = f64.load(zz + bytes<f64>(p + 1));
  const width = dq - dp;
  const start = last ? dq : dp;
  const half = (last ? rho : width) * 0.5;
  sums(0, p, d, zz, start, half);
  let c = 1 / rho + sum;
  sums(p + 2, size, d, zz, start, half);
  c += sum;
  const middle = c + zp / ((dp - start) - half) + zq / ((dq - start) - half);
  if (last) {
    origin = dq;
    low = middle > 0 ? 0 : half;
    high = middle > 0 ? half : rho * (1 + 8 * ROUNDING);
    tau = largeRoot(zp + zq - c * width, -zq * width, c);
  } else if (middle > 0) {
    origin = dp;
    low = 0;
    high = half;
    tau = smallRoot(c * width + zp + zq, zp * width, c);
  } else {
    origin = dq;
    low = -half;
    high = 0;
    tau = -smallRoot(zp + zq - c * width, zq * width, -c);
  }
  if (!(tau > low && tau < high)) tau = (low + high) * 0.5;
}

/** Improves `tau` once; false where rounding hides any further change. */
function improve(
  size: i32,
  p: i32,
  last: bool,
  d: usize,
  zz: usize,
  rho: f64,
): bool {
  sums(0, p + 1, d, zz, origin, tau);
  const psi = sum, psiSlope = slope;
  sums(p + 1, size, d, zz, origin, tau);
  const phi = sum, phiSlope = slope;
  const value = 1 / rho + psi + phi, rise = psiSlope + phiSlope;
  const noise = 8 * (Math.abs(psi) + Math.abs(phi)) + 2 / rho +
    Math.abs(tau) * rise;
  if (Math.abs(value) <= ROUNDING * noise) return false;
  if (value < 0) low = tau;
  else high = tau;
  // f with both sums replaced by c + s / (pole - x) of the same value and
  // slope (Li's middle way).
  const gapP = (f64.load(d + bytes<f64>(p)) - origin) - tau;
  const gapQ = (f64.load(d + bytes<f64>(p + 1)) - origin) - tau;
  const a = (gapP + gapQ) * value - gapP * gapQ * rise;
  const b = gapP * gapQ * value;
  const c = value - gapP * psiSlope - gapQ * phiSlope;
  let change = last ? largeRoot(a, b, Math.abs(c)) : smallRoot(a, b, c);
  if (!(value * change < 0)) change = -value / rise;
  let next = tau + change;
  if (!(next > low && next < high)) next = (low + high) * 0.5;
  if (next == tau || next == low || next == high) return false;
  tau = next;
  return true;
}

/**
 * The eigenvalue right of d[j], and all d[i] - eigenvalue at `gaps`.
 *
 * @param d Ascending, all different, at least two.
 * @param zz The squares of z, none 0, with a sum of 1.
 */
export function secularRoot(
  size: i32,
  j: i32,
  d: usize,
  zz: usize,
  rho: f64,
  gaps: usize,
): f64 {
  const last = j == size - 1;
  // The left one of the poles around the root; the last has both left of it.
  const p = last ? j - 1 : j;
  bracket(size, p, last, d, zz, rho);
  for (let step = 0; step < MAX_STEPS; step++) {
    if (!improve(size, p, last, d, zz, rho)) break;
  }
  for (let i: usize = 0; i < bytes<f64>(size); i += 8) {
    f64.store(gaps + i, (f64.load(d + i) - origin) - tau);
  }
  return origin + tau;
}

/**
 * The z for which the found eigenvalues are exact, at `refined`, with the
 * signs of `z`; rows of `gaps`, `stride` numbers apart, are d - eigenvalue j.
 */
export function refineWeights(
  size: i32,
  d: usize,
  gaps: usize,
  stride: i32,
  z: usize,
  refined: usize,
): void {
  const end = bytes<f64>(size);
  for (let i: usize = 0; i < end; i += 8) f64.store(refined + i, 1);
  for (let j = 0; j < size; j++, gaps += bytes<f64>(stride)) {
    const at = bytes<f64>(j);
    const dj = f64.load(d + at);
    const djs = f64x2.splat(dj);
    const own = f64.load(refined + at) * f64.load(gaps + at);
    let i: usize = 0;
    for (; i + 16 <= end; i += 16) {
      const ratio = f64x2.div(
        v128.load(gaps + i),
        f64x2.sub(v128.load(d + i), djs),
      );
      v128.store(refined + i, f64x2.mul(v128.load(refined + i), ratio));
    }
    if (i < end) {
      const ratio = f64.load(gaps + i) / (f64.load(d + i) - dj);
      f64.store(refined + i, f64.load(refined + i) * ratio);
    }
    // The loop divided by 0 here.
    f64.store(refined + at, own);
  }
  for (let i: usize = 0; i < end; i += 8) {
    const root = Math.sqrt(Math.abs(f64.load(refined + i)));
    f64.store(refined + i, copysign(root, f64.load(z + i)));
  }
}

function secularVectorOf<T>(
  size: i32,
  refined: usize,
  place: usize,
  row: usize,
  spare: usize,
): void {
  const end = bytes<f64>(size);
  let squares: f64 = 0;
  let i: usize = 0;
  for (; i + 16 <= end; i += 16) {
    const pair = f64x2.div(v128.load(refined + i), v128.load(row + i));
    v128.store(spare + i, pair);
    squares += total<f64>(f64x2.mul(pair, pair));
  }
  if (i < end) {
    const value = f64.load(refined + i) / f64.load(row + i);
    f64.store(spare + i, value);
    squares += value * value;
  }
  const scale = 1 / Math.sqrt(squares);
  for (let k = 0; k < size; k++) {
    const to = row + bytes<T>(i32.load(place + ((<usize> k) << 2)));
    store<T>(to, <T> (f64.load(spare + bytes<f64>(k)) * scale));
  }
}

/**
 * Turns a row of d - eigenvalue into its eigenvector, of norm 1, whose number
 * i goes to place[i] (32-bit whole numbers); `spare` holds a row.
 */
export function secularVector(
  size: i32,
  refined: usize,
  place: usize,
  row: usize,
  spare: usize,
): void {
  secularVectorOf<f64>(size, refined, place, row, spare);
}

/** `secularVector` whose result is in single precision. */
export function secularVectorSingle(
  size: i32,
  refined: usize,
  place: usize,
  row: usize,
  spare: usize,
): void {
  secularVectorOf<f32>(size, refined, place, row, spare);
}
