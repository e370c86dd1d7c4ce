import { assertAlmostEquals, assertThrows } from "@std/assert";
import fixture from "../tests/reference/schedules.json" with { type: "json" };
import { linearDecay } from "./linear_decay.ts";

for (const it of fixture.actorcritic_linear_decay_no_clamp) {
  const { start, end, total_steps, step } = it.inputs;
  Deno.test(`linearDecay from ${start} to ${end} goes on beyond the end`, () => {
    const value = linearDecay(start, end, total_steps);
    step.forEach((at, i) =>
      assertAlmostEquals(value(at), it.expected[i], 1e-12)
    );
  });
}

Deno.test("linearDecay needs steps", () => {
  assertThrows(
    () => linearDecay(1, 0, 0),
    RangeError,
    "Cannot decay over 0 steps: expected a number above 0",
  );
});
