import fc from "fast-check";

const number = fc.double({ min: -10, max: 10, noNaN: true });

/** Any trajectory with both kinds of ends, and its layout. */
export const anyTrajectory = fc.record({
  numEnvs: fc.integer({ min: 1, max: 3 }),
  numSteps: fc.integer({ min: 1, max: 6 }),
  gamma: fc.double({ min: 0, max: 1, noNaN: true }),
}).chain((options) => {
  const size = options.numEnvs * options.numSteps;
  const exactly = <T>(value: fc.Arbitrary<T>, length = size) =>
    fc.array(value, { minLength: length, maxLength: length });
  return fc.record({
    options: fc.constant(options),
    trajectory: fc.record({
      rewards: exactly(number),
      values: exactly(number),
      finalValues: exactly(number),
      terminated: exactly(fc.nat(1)),
      truncated: exactly(fc.nat(1)),
      lastValues: exactly(number, options.numEnvs),
      ratios: exactly(fc.double({ min: 0, max: 5, noNaN: true })),
      qValues: exactly(number),
    }),
  });
});

/** Throws unless numbers are equal up to rounding. */
export function assertClose(
  actual: ArrayLike<number>,
  expected: ArrayLike<number>,
  tolerance = 1e-9,
): void {
  if (actual.length !== expected.length) {
    throw new Error(`${actual.length} numbers, expected ${expected.length}`);
  }
  for (let i = 0; i < expected.length; i++) {
    const off = Math.abs(actual[i] - expected[i]);
    if (off <= tolerance * (1 + Math.abs(expected[i]))) continue;
    throw new Error(`number ${i} is ${actual[i]}, expected ${expected[i]}`);
  }
}
