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

Deno.test("piecewise jumps where two points are at one step, as the original", () => {
  // From PiecewiseSchedule of openai/baselines @ea25b9e.
  const points = [[0, 1], [4, 2], [4, -1], [8, -3], [8, 5]] as const;
  const value = piecewise(points, { outside: 9 });
  const steps = [-1, 0, 2, 3.5, 4, 6, 7.5, 8, 9];
  assertEquals(
    steps.map(value),
    [9, 1, 1.5, 1.875, -1, -2, -2.75, 9, 9],
  );
  const thrice = piecewise([[0, 1], [2, 7], [2, 8], [2, 3], [3, 3]]);
  assertEquals([0, 1, 2, 2.5].map(thrice), [1, 4, 3, 3]);
});

Deno.test("piecewise refuses steps that fall", () => {
  for (const step of [4, NaN]) {
    assertThrows(
      () => piecewise([[5, 1], [step, 2]]),
      RangeError,
      `Cannot put a point at step ${step} after one at step 5: steps must not fall`,
    );
  }
});
