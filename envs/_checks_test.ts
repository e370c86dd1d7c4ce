import { assertThrows } from "@std/assert";
import { checkNumEnvs, checkSavedEnvs, checkStepLimit } from "./_checks.ts";

Deno.test("a whole number of at least one environment can be made", () => {
  checkNumEnvs("CartPole-v1", 1);
  checkNumEnvs("CartPole-v1", 64);
  for (const numEnvs of [0, -1, 1.5, NaN, Infinity]) {
    assertThrows(
      () => checkNumEnvs("CartPole-v1", numEnvs),
      RangeError,
      `Cannot make ${numEnvs} copies of CartPole-v1: expected a whole number of at least 1`,
    );
  }
});

Deno.test("a snapshot of other environments is refused with both numbers", () => {
  checkSavedEnvs(3, 3);
  assertThrows(
    () => checkSavedEnvs(3, 2),
    RangeError,
    "Cannot restore 3 copies from a snapshot of 2",
  );
});

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
