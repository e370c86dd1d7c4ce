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

/** Computes x' M x, two rows at a time: each addition waits for the one before it. */
export function quadratic(m: Float64Array, x: ArrayLike<number>): number {
  const isOdd = x.length % 2;
  let at = isOdd, sum = isOdd && m[0] * x[0] * x[0];
  for (let i: number = isOdd; i < x.length; i += 2) {
    const next = at + i + 1, xi = x[i], xn = x[i + 1];
    let a = 0, b = 0, c = 0, d = 0, j = 0;
    for (; j + 1 < i; j += 2) {
      const even = x[j], odd = x[j + 1];
      a += m[at + j] * even;
      b += m[next + j] * even;
      c += m[at + j + 1] * odd;
      d += m[next + j + 1] * odd;
    }
    if (j < i) {
      a += m[at + j] * x[j];
      b += m[next + j] * x[j];
    }
    sum += xi * (2 * (a + c) + m[at + i] * xi) +
      xn * (2 * (b + d + m[next + i] * xi) + m[next + i + 1] * xn);
    at = next + i + 2;
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

/** Adds `scale` x x' to a matrix. */
export function addOuter(
  m: Float64Array,
  x: ArrayLike<number>,
  scale: number,
): void {
  let at = 0;
  for (let i = 0; i < x.length; i++) {
    const factor = scale * x[i];
    for (let j = 0; j <= i; j++) m[at + j] += factor * x[j];
    at += i + 1;
  }
}

/** Returns the indices of the diagonal's entries. */
export function diagonal(dimension: number): Int32Array {
  return Int32Array.from(
    { length: dimension },
    (_, i) => packedLength(i + 1) - 1,
  );
}

/** Replaces a matrix by its Cholesky factor; returns false where it has none. */
function factorize(m: Float64Array, dimension: number): boolean {
  for (let i = 0, row = 0; i < dimension; row += ++i) {
    for (let j = 0, other = 0; j <= i; other += ++j) {
      let sum = m[row + j];
      for (let k = 0; k < j; k++) sum -= m[row + k] * m[other + k];
      if (j < i) m[row + j] = sum / m[other + j];
      else if (sum > 0) m[row + i] = Math.sqrt(sum);
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
