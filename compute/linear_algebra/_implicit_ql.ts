import type { TridiagonalProblem } from "./_tridiagonal_problem.ts";

/** Half the distance between 1 and the next number. */
const ROUNDING = 2 ** -53;
/** Numbers beside the diagonal that count as 0 in a matrix of norm about 1. */
const VANISHING = 1e-140;
/** Steps for one eigenvalue; two are usual. */
const MAX_STEPS = 60;

/**
 * Solves a small part of a tridiagonal problem by the implicit QL algorithm
 * (EISPACK's imtql2), from one row up to another. The number beside the last
 * row is overwritten.
 */
export function implicitQl(
  problem: TridiagonalProblem,
  { from, to }: { from: number; to: number },
): void {
  const { values, beside } = problem;
  let largest = 0;
  for (let i = from; i < to; i++) {
    const next = i < to - 1 ? Math.abs(beside[i]) : 0;
    largest = Math.max(largest, Math.abs(values[i]) + next);
  }
  const negligible = Math.max(VANISHING, ROUNDING * largest);
  for (let low = from; low < to; low++) {
    for (let step = 0; step < MAX_STEPS; step++) {
      let high = low;
      while (high < to - 1 && Math.abs(beside[high]) > negligible) high++;
      if (high === low) break;
      sweep(problem, { from, to, low, high });
    }
  }
}

/** The root of a sum of squares, which rounds less than Math.hypot. */
function norm(x: number, y: number): number {
  const squares = x * x + y * y;
  return squares > 1e-280 ? Math.sqrt(squares) : Math.hypot(x, y);
}

/** One step with Wilkinson's shift on the rows from `low` to `high`. */
function sweep(
  { values, beside, rows }: TridiagonalProblem,
  range: { from: number; to: number; low: number; high: number },
): void {
  const { from, to, low, high } = range;
  const { numbers, stride } = rows;
  const slope = (values[low + 1] - values[low]) / (2 * beside[low]);
  const root = norm(slope, 1);
  let g = values[high] - values[low] +
    beside[low] / (slope + (slope < 0 ? -root : root));
  let s = 1, c = 1, p = 0;
  for (let i = high - 1; i >= low; i--) {
    const f = s * beside[i], b = c * beside[i];
    const length = norm(f, g);
    beside[i + 1] = length;
    if (length === 0) {
      values[i + 1] -= p;
      beside[high] = 0;
      return;
    }
    s = f / length;
    c = g / length;
    g = values[i + 1] - p;
    const change = (values[i] - g) * s + 2 * c * b;
    p = s * change;
    values[i + 1] = g + p;
    g = c * change - b;
    const upper = i * stride, lower = upper + stride;
    for (let k = from; k < to; k++) {
      const x = numbers[upper + k], y = numbers[lower + k];
      numbers[lower + k] = s * x + c * y;
      numbers[upper + k] = c * x - s * y;
    }
  }
  values[low] -= p;
  beside[low] = g;
  beside[high] = 0;
}
