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

/** Computes x' M x. */
export function quadratic(m: Float64Array, x: ArrayLike<number>): number {
  let sum = 0, at = 0;
  for (let i = 0; i < x.length; i++) {
    let even = 0, odd = 0, j = 0;
    // Two sums, as each addition would wait for the one before.
    for (; j + 1 < i; j += 2) {
      even += m[at + j] * x[j];
      odd += m[at + j + 1] * x[j + 1];
    }
    if (j < i) even += m[at + j] * x[j];
    sum += x[i] * (2 * (even + odd) + m[at + i] * x[i]);
    at += i + 1;
  }
  return sum;
}

/** Computes M x. */
export function timesVector(
  m: Float64Array,
  x: ArrayLike<number>,
  product: Float64Array,
): Float64Array {
  let at = 0;
  for (let i = 0; i < x.length; i++) {
    const xi = x[i];
    let sum = m[at + i] * xi;
    for (let j = 0; j < i; j++) {
      const entry = m[at + j];
      sum += entry * x[j];
      product[j] += entry * xi;
    }
    product[i] = sum;
    at += i + 1;
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

/** Adds `number` to the diagonal. */
export function addDiagonal(
  m: Float64Array,
  dimension: number,
  number: number,
): void {
  for (let i = 0; i < dimension; i++) m[packedLength(i + 1) - 1] += number;
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
 * Inverts a positive definite matrix by its Cholesky factor.
 *
 * @returns The inverse; undefined where the matrix is not positive definite.
 */
export function inverse(
  m: Float64Array,
  dimension: number,
): Float64Array | undefined {
  const factor = m.slice();
  if (!factorize(factor, dimension)) return undefined;
  invertTriangle(factor, dimension);
  const product = new Float64Array(m.length);
  for (let k = 0, from = 0; k < dimension; from += ++k) {
    for (let i = 0, row = 0; i <= k; row += ++i) {
      const scale = factor[from + i];
      for (let j = 0; j <= i; j++) product[row + j] += scale * factor[from + j];
    }
  }
  return product;
}
