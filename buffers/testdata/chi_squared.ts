/**
 * How far counts are from what was expected, in standard deviations of the
 * chi-squared distribution that they follow if they were drawn so (Wilson and
 * Hilferty's normal approximation). Above 4 they were hardly drawn so.
 */
export function chiSquaredDeviation(
  counts: ArrayLike<number>,
  probabilities: ArrayLike<number>,
): number {
  let total = 0;
  for (let i = 0; i < counts.length; i++) total += counts[i];
  let chiSquared = 0;
  let freedom = -1;
  for (let i = 0; i < counts.length; i++) {
    const expected = probabilities[i] * total;
    if (expected === 0) {
      if (counts[i] > 0) return Infinity;
      continue;
    }
    freedom++;
    chiSquared += (counts[i] - expected) ** 2 / expected;
  }
  const variance = 2 / (9 * freedom);
  return (Math.cbrt(chiSquared / freedom) - 1 + variance) / Math.sqrt(variance);
}
