import { assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import fixture from "../tests/reference/schedules.json" with { type: "json" };
import { piecewise } from "./piecewise.ts";

for (const [n, { inputs, expected }] of fixture.piecewise.entries()) {
  Deno.test(`piecewise has the original's values: ${n}`, () => {
    const value = piecewise(inputs.endpoints as [number, number][], {
      outside: inputs.outside_value,
    });
    inputs.t.forEach((it, i) =>
      assertAlmostEquals(value(it), expected[i], 1e-11)
    );
  });
}

Deno.test("piecewise without an outside value is an error outside", () => {
  assertEquals(fixture.piecewise_outside_without_value_raises, true);
  const value = piecewise([[0, 1], [10, 2]]);
  assertEquals(value(5), 1.5);
  for (const step of [-1, 10]) {
    assertThrows(
      () => value(step),
      RangeError,
      `Cannot tell the value at step ${step}`,
    );
  }
});

Deno.test("piecewise takes an outside value of 0", () => {
  assertEquals(piecewise([[0, 1], [10, 2]], { outside: 0 })(10), 0);
});

Deno.test("piecewise needs growing steps", () => {
  assertThrows(
    () => piecewise([[5, 1], [5, 2]]),
    RangeError,
    "Cannot put a point at step 5 after one at step 5: steps must grow",
  );
});
