import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { selectBackend } from "@bellman/compute";
import * as tf from "@tensorflow/tfjs";
import { UsageError } from "../program/errors.ts";
import { runDeno } from "../../../tests/testdata/run_deno.ts";
import { capture } from "../../../cli/testdata/capture.ts";
import { checkMemory, heapWatch, memoryError } from "./memory.ts";

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

Deno.test("a heap is full where what is left in use fills it, and not before", () => {
  let time = 0, used = 0, garbage = 0, collected = 0;
  const look = heapWatch({
    sizes: () => ({ used: used + garbage, limit: 4 * GIBIBYTE }),
    collect: () => {
      collected++;
      garbage = 0;
    },
  }, () => time += 200);
  const set = (inUse: number, unused: number) => {
    used = inUse * GIBIBYTE;
    garbage = unused * GIBIBYTE;
    look();
    return collected;
  };
  assertEquals(set(3.1, 0), 0);
  assertEquals(set(1, 2.9), 1);
  assertEquals(set(3.1, 0.2), 2);
  assertThrows(() => set(3.6, 0.1), Error, "heap is full: 3.6 GiB of 4.0 GiB");
  // Between two looks a step costs nothing.
  time = -1e9;
  look();
});

Deno.test("an environment that keeps what it makes fails in a line, and the run resumes", async () => {
  const dir = await Deno.makeTempDir();
  const envs = new URL("../../../envs/mod.ts", import.meta.url).href;
  await Deno.writeTextFile(
    `${dir}/env.ts`,
    `import { CART_POLE, DynamicsEnv, register } from "${envs}";
const kept: unknown[] = [];
class Keeping extends DynamicsEnv {
  override step(action: never) {
    kept.push(new Array(400_000).fill(0.5));
    return super.step(action);
  }
}
register({ id: "Keeping-v1", maxEpisodeSteps: 20, make: () => new Keeping(CART_POLE as never) });
`,
  );
  try {
    const main = new URL("../../../cli/main.ts", import.meta.url).pathname;
    const { code, err } = await runDeno([
      ...["-P=run", "--no-prompt", "--v8-flags=--max-old-space-size=800", main],
      ...["train", "a2c", "--env=Keeping-v1", "--unchecked", "--quiet"],
      ...["--engine=eager", "--backend=cpu", `--out=${dir}/run`],
      ...[`--set=envModules=[${dir}/env.ts]`, "--set=checkpointInterval=40"],
    ]);
    assertEquals(code, 1);
    assertMatch(
      err,
      /^error: The run of a2c on Keeping-v1 failed after \d+ steps: JavaScript's heap is full: .*; resume from step \d+ with: .*\n$/,
    );
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});
