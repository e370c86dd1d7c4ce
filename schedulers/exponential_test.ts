import { assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { exponential, exponentialTo } from "./exponential.ts";

Deno.test("exponential falls to a hundredth", () => {
  assertEquals([exponential(0), exponential(1)], [1, 0.01]);
  assertAlmostEquals(exponential(1.5), 0.001, 1e-12);
});

Deno.test("exponentialTo falls by the same factor in equal parts", () => {
  const part = fc.double({ min: 0, max: 1, noNaN: true });
  const end = fc.double({ min: 0.001, max: 1, noNaN: true });
  fc.assert(fc.property(part, part, end, (a, b, end) => {
    const schedule = exponentialTo(end);
    assertAlmostEquals(schedule(a) * schedule(b), schedule(a + b), 1e-12);
  }));
});

Deno.test("exponentialTo needs an end above 0", () => {
  for (const end of [0, -1, NaN, Infinity]) {
    assertThrows(
      () => exponentialTo(end),
      RangeError,
      `Cannot fall exponentially to ${end}: expected a number above 0`,
    );
  }
});
