import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { selectBackend } from "@bellman/compute";
import * as tf from "@tensorflow/tfjs";
import { UsageError } from "../terminal/errors.ts";
import { capture } from "../testdata/capture.ts";
import { checkMemory, memoryError } from "./memory.ts";

const GIBIBYTE = 2 ** 30;

Deno.test("arrays that a machine has no memory for are refused, large ones are said", () => {
  const lines: string[] = [];
  const check = (allocated: number, available?: number) =>
    checkMemory((line) => lines.push(line), {
      allocated: allocated * GIBIBYTE,
      available: available && available * GIBIBYTE,
    });
  check(1.9, 8);
  assertEquals(lines, []);
  check(2.5, 8);
  assertEquals(lines, ["The arrays of this run take 2.5 GiB of memory"]);
  assertThrows(
    () => check(120, 24),
    UsageError,
    "Cannot train with these settings: the arrays of the run take 120 GiB of memory, expected at most the 24.0 GiB of this machine; lower bufferSize",
  );
});

Deno.test("what is allocated is counted before it is filled", () => {
  const before: string[] = [], after: string[] = [];
  checkMemory((line) => before.push(line));
  const buffer = new Float64Array(3 * GIBIBYTE / 8);
  checkMemory((line) => after.push(line));
  assertEquals([before, buffer[0]], [[], 0]);
  assertMatch(after.join(), /^The arrays of this run take [34]\.\d GiB/);
});

Deno.test("arrays that cannot be made are told in one line", async () => {
  const { code, err } = await capture(
    ...["train", "a2c", "--set=hiddenSizes=[1000000, 1000000]"],
  );
  assertEquals(code, 2);
  assertMatch(
    err,
    /^error: Cannot train with these settings: their arrays are larger than memory \(Array buffer allocation failed\); lower bufferSize, numSteps, hiddenSizes or numEnvs\n$/,
  );
  assertEquals(memoryError(new RangeError("another")), undefined);
});

Deno.test("a run that is refused leaves no agent behind", async () => {
  await selectBackend("cpu");
  const { memoryUsage } = Deno, tensors = tf.memory().numTensors;
  Deno.memoryUsage = () => ({ ...memoryUsage(), external: 2 ** 60 });
  try {
    const { code, err } = await capture("train", "a2c", "--set=engine=eager");
    assertEquals(code, 2);
    assertMatch(err, /the arrays of the run take 1073741824 GiB of memory/);
  } finally {
    Deno.memoryUsage = memoryUsage;
  }
  assertEquals(tf.memory().numTensors, tensors);
});
