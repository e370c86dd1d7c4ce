import { assertThrows } from "@std/assert";
import { checkStepLimit } from "./_check_step_limit.ts";

Deno.test("a limit is a whole number of at least one step, or none", () => {
  checkStepLimit(1);
  checkStepLimit(500);
  checkStepLimit(Infinity);
  for (const limit of [0, -1, 2.5, NaN, -Infinity]) {
    assertThrows(
      () => checkStepLimit(limit),
      RangeError,
      `Cannot limit episodes to ${limit} steps: expected a whole number of at least 1`,
    );
  }
});
