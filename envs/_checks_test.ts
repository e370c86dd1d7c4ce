import { assertEquals, assertThrows } from "@std/assert";
import {
  checkNumEnvs,
  checkSavedEnvs,
  checkStepLimit,
  givenOptions,
  unknownOption,
  wrongOption,
} from "./_checks.ts";

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

Deno.test("an option that is undefined is as left out, other empty values are not", () => {
  const options = { a: undefined, b: null, c: 0, d: "", e: false, f: NaN };
  assertEquals(Object.keys(givenOptions(options)), ["b", "c", "d", "e", "f"]);
  assertEquals(givenOptions({}), {});
});

Deno.test("an option that is not there is named with the nearest one", () => {
  const error = unknownOption("Ant-v5", "frameskip", ["frameSkip", "width"]);
  assertEquals(error instanceof TypeError, true);
  assertEquals(
    error.message,
    "Cannot make Ant-v5 with 'frameskip': did you mean 'frameSkip'?",
  );
});

Deno.test("a wrong option is told on one line, whatever its value", () => {
  assertEquals(
    wrongOption("Pong", ["mode", "two"], "an integer"),
    'Cannot make Pong with mode "two": expected an integer',
  );
  const value = Array.from({ length: 60 }, (_, i) => `word ${i}\n`);
  const line = wrongOption("Pong", ["mode", { value }], "an integer");
  assertEquals(line.split("\n").length, 1);
});
