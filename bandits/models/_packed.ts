/**
 * Symmetric matrices as their lower triangles, row by row: entry (i, j) with j up to i
 * is at i (i + 1) / 2 + j.
 */

/** Number of entries of a packed matrix. */
export function packedLength(dimension: number): number {
  return dimension * (dimension + 1) / 2;
}

/** Multiplies two vectors. */
export function dot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

/** Adds `scale` times a vector to another one. */
export function addScaled(
  to: Float64Array,
  from: Float64Array,
  scale: number,
): void {
  for (let i = 0; i < to.length; i++) to[i] += scale * from[i];
}

/**
 * Computes x' M x, four rows at a time: an addition waits for the one before it, and
 * memory is read faster at several places.
 */
export function quadratic(m: Float64Array, x: ArrayLike<number>): number {
  let sum = 0, at = 0, i = 0;
  for (const rest = x.length % 4; i < rest; at += ++i) {
    let off = 0;
    for (let j = 0; j < i; j++) off += m[at + j] * x[j];
    sum += x[i] * (2 * off + m[at + i] * x[i]);
  }
  for (; i < x.length; i += 4) {
    const p = at, q = p + i + 1, r = q + i + 2, s = r + i + 3;
    const x0 = x[i], x1 = x[i + 1], x2 = x[i + 2], x3 = x[i + 3];
    let a = 0, b = m[q + i] * x0, c = m[r + i] * x0 + m[r + i + 1] * x1;
    let d = m[s + i] * x0 + m[s + i + 1] * x1 + m[s + i + 2] * x2;
    for (let j = 0; j < i; j++) {
      const xj = x[j];
      a += m[p + j] * xj;
      b += m[q + j] * xj;
      c += m[r + j] * xj;
      d += m[s + j] * xj;
    }
    sum += x0 * (2 * a + m[p + i] * x0) + x1 * (2 * b + m[q + i + 1] * x1) +
      x2 * (2 * c + m[r + i + 2] * x2) + x3 * (2 * d + m[s + i + 3] * x3);
    at = s + i + 4;
  }
  return sum;
}

/** Computes M x, two rows at a time. */
export function timesVector(
  m: Float64Array,
  x: ArrayLike<number>,
): Float64Array {
  const product = new Float64Array(x.length), isOdd = x.length % 2;
  if (isOdd) product[0] = m[0] * x[0];
  let at = isOdd;
  for (let i: number = isOdd; i < x.length; i += 2) {
    const next = at + i + 1, xi = x[i], xn = x[i + 1], both = m[next + i];
    let a = m[at + i] * xi + both * xn, b = both * xi + m[next + i + 1] * xn;
    for (let j = 0; j < i; j++) {
      const upper = m[at + j], lower = m[next + j];
      a += upper * x[j];
      b += lower * x[j];
      product[j] += upper * xi + lower * xn;
    }
    product[i] = a;
    product[i + 1] = b;
    at = next + i + 2;
  }
  return product;
}

/** Adds `scale` x x' to a matrix, two rows at a time. */
export function addOuter(
  m: Float64Array,
  x: ArrayLike<number>,
  scale: number,
): void {
  let at = x.length % 2;
  if (at > 0) m[0] += scale * x[0] * x[0];
  for (let i = at; i < x.length; i += 2) {
    const next = at + i + 1, upper = scale * x[i], lower = scale * x[i + 1];
    for (let j = 0; j <= i; j++) {
      m[at + j] += upper * x[j];
      m[next + j] += lower * x[j];
    }
    m[next + i + 1] += lower * x[i + 1];
    at = next + i + 2;
  }
}

/** Returns the indices of the diagonal's entries. */
export function diagonal(dimension: number): Int32Array {
  return Int32Array.from(
    { length: dimension },
    (_, i) => packedLength(i + 1) - 1,
  );
}

/** Share of an entry of the diagonal below which the rest of it is rounding. */
const SMALL = 1e-10;

/** Replaces a matrix by its Cholesky factor; returns false where it has none. */
function factorize(m: Float64Array, dimension: number): boolean {
  for (let i = 0, row = 0; i < dimension; row += ++i) {
    const least = SMALL * m[row + i];
    for (let j = 0, other = 0; j <= i; other += ++j) {
      let sum = m[row + j];
      for (let k = 0; k < j; k++) sum -= m[row + k] * m[other + k];
      if (j < i) m[row + j] = sum / m[other + j];
      else if (sum > least) m[row + i] = Math.sqrt(sum);
      else return false;
    }
  }
  return true;
}

/** Replaces a lower triangle by its inverse. */
function invertTriangle(m: Float64Array, dimension: number): void {
  const factors = new Float64Array(dimension);
  for (let i = 0, row = 0; i < dimension; row += ++i) {
    const pivot = 1 / m[row + i];
    for (let k = 0; k < i; k++) factors[k] = -pivot * m[row + k];
    m.fill(0, row, row + i);
    for (let k = 0, other = 0; k < i; other += ++k) {
      for (let j = 0; j <= k; j++) m[row + j] += factors[k] * m[other + j];
    }
    m[row + i] = pivot;
  }
}

/**
 * Inverts a matrix and a number on its diagonal by Cholesky factors. The diagonal grows by
 * a share of itself until they exist: features of unequal sizes, or nearly collinear ones,
 * may need more than the number.
 */
export function inverse(
  m: Float64Array,
  dimension: number,
  added: number,
): Float64Array {
  const factor = m.slice();
  for (let share = 0;; share = 10 * share + 1e-15) {
    factor.set(m);
    for (const i of diagonal(dimension)) {
      factor[i] += added + share * (factor[i] + added);
    }
    if (factorize(factor, dimension)) break;
  }
  invertTriangle(factor, dimension);
  const product = new Float64Array(m.length);
  for (let k = 0, from = 0; k < dimension; from += ++k) {
    addOuter(product, factor.subarray(from, from + k + 1), 1);
  }
  return product;
}
