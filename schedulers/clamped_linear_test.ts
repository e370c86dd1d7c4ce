import { assertAlmostEquals, assertThrows } from "@std/assert";
import fixture from "../tests/reference/schedules.json" with { type: "json" };
import { clampedLinear } from "./clamped_linear.ts";

for (const { inputs, expected } of fixture.linear_schedule) {
  const { schedule_timesteps: numSteps, initial_p, final_p, t } = inputs;
  Deno.test(`clampedLinear from ${initial_p} to ${final_p} as the original`, () => {
    const value = clampedLinear({
      numSteps,
      final: final_p,
      initial: initial_p,
    });
    t.forEach((it, i) => assertAlmostEquals(value(it), expected[i], 1e-12));
  });
}

Deno.test("clampedLinear needs steps", () => {
  assertThrows(
    () => clampedLinear({ numSteps: 0, final: 0 }),
    RangeError,
    "Cannot change over 0 steps: expected a number above 0",
  );
});
