/**
 * Computes the share of the targets' variance that predictions explain,
 * `1 - var(targets - predictions) / var(targets)`: 1 is perfect, 0 as good as a
 * constant, below 0 worse than one.
 *
 * Source: baselines/common/math_util.py, `explained_variance`.
 *
 * @param predictions Predictions.
 * @param targets True values; as many.
 * @returns At most 1; NaN where the targets do not vary.
 * @throws {RangeError} If the lengths differ or are 0.
 * @example
 * ```ts
 * import { explainedVariance } from "@bellman/returns";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(explainedVariance([1, 2, 3], [1, 2, 3]), 1);
 * assertEquals(explainedVariance([0, 0, 0], [1, 2, 3]), 0);
 * assertEquals(explainedVariance([0, 0, 0], [5, 5, 5]), NaN);
 * ```
 */
export function explainedVariance(
  predictions: ArrayLike<number>,
  targets: ArrayLike<number>,
): number {
  const { length } = targets;
  if (length === 0 || predictions.length !== length) {
    throw new RangeError(
      `Cannot explain variance: ${predictions.length} predictions for ${length} targets`,
    );
  }
  let meanTarget = 0;
  let meanError = 0;
  for (let i = 0; i < length; i++) {
    meanTarget += targets[i] / length;
    meanError += (targets[i] - predictions[i]) / length;
  }
  let targetSquares = 0;
  let errorSquares = 0;
  let varies = false;
  for (let i = 0; i < length; i++) {
    varies ||= targets[i] !== targets[0];
    targetSquares += (targets[i] - meanTarget) ** 2;
    errorSquares += (targets[i] - predictions[i] - meanError) ** 2;
  }
  // Rounding of the mean must not count as variance.
  return varies && targetSquares > 0 ? 1 - errorSquares / targetSquares : NaN;
}
