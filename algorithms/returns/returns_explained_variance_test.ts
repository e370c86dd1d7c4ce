import { assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { explainedVariance } from "./returns.ts";

Deno.test("explainedVariance of a half of the deviations is three quarters", () => {
  assertAlmostEquals(explainedVariance([1, 2, 3], [2, 4, 6]), 0.75);
});

Deno.test("explainedVariance of wrong signs is below 0", () => {
  assertAlmostEquals(explainedVariance([-1, 0, 1], [1, 0, -1]), -3);
});

Deno.test("explainedVariance does not see a constant error", () => {
  assertEquals(explainedVariance([11, 12, 13], [1, 2, 3]), 1);
});

Deno.test("explainedVariance of targets that do not vary is NaN", () => {
  fc.assert(fc.property(
    fc.double({ min: -1e6, max: 1e6, noNaN: true }),
    fc.integer({ min: 1, max: 20 }),
    (value, length) => {
      const targets = new Float64Array(length).fill(value);
      assertEquals(explainedVariance(new Float64Array(length), targets), NaN);
    },
  ));
});

Deno.test("explainedVariance of targets whose variance is 0 in numbers is NaN", () => {
  assertEquals(explainedVariance([0, 1], [1e-200, 2e-200]), NaN);
});

Deno.test("explainedVariance needs as many predictions as targets", () => {
  assertThrows(
    () => explainedVariance([1], [1, 2]),
    RangeError,
    "Cannot explain variance: 1 predictions for 2 targets",
  );
  assertThrows(() => explainedVariance([], []), RangeError, "0 predictions");
});
