/**
 * Wrong data of an environment is never trained on: each kind ends a run with one
 * clear line. `tests/long` has every kind with every algorithm, in workers and
 * processes, too.
 */
import {
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { KINDS } from "../envs/testdata/wrong_env.ts";
import { checkWrong, RIGHT, trainWrong } from "./wrong_data.ts";

const folder = await Deno.makeTempDir({ prefix: "bellman-wrong-data-" });
globalThis.addEventListener("unload", () => {
  Deno.removeSync(folder, { recursive: true });
});

for (const kind of new Set([...KINDS, ...RIGHT])) {
  Deno.test(`a2c: ${kind}`, () => checkWrong(folder, { kind }));
}

for (const kind of ["rewardHuge", "seenNaN", "seenShort", "resetAsync"]) {
  Deno.test(`sac: ${kind}`, () =>
    checkWrong(folder, { kind, algorithm: "sac" }));
}

Deno.test("subprocesses: a class in a snapshot", () =>
  checkWrong(folder, { kind: "savesClass", vectorization: "subprocesses" }));

Deno.test("a NaN reward is neither in SAC's replay nor in a checkpoint", async () => {
  const wrong = { kind: "rewardNaN", algorithm: "sac", after: 30 } as const;
  await checkWrong(folder, wrong);
  const { line } = await trainWrong(`${folder}/again`, wrong);
  // Its 45th step, which is step 90 of the two copies.
  assertStringIncludes(
    line,
    "Cannot use the reward of Wrong-v0, copy 0, at step 5 of its episode: it is NaN, expected a finite number; resume from step 80 with",
  );
});

Deno.test("clipped and normalized rewards hide no infinity", async () => {
  for (const settings of [{ clipReward: true }, { normalizeReward: true }]) {
    const kind = "rewardInfinite";
    const { code, line } = await trainWrong(
      `${folder}/${Object.keys(settings)}`,
      { kind, settings },
    );
    assertEquals(code, 1);
    assertStringIncludes(line, "the reward of Wrong-v0, copy 0, at step 5");
  }
});

Deno.test("a run whose environment cannot begin leaves nothing and says which", async () => {
  for (const kind of ["resetThrows", "saveThrows"]) {
    const { code, line, dir } = await trainWrong(folder, { kind });
    assertEquals(code, 1);
    assertMatch(
      line,
      /^error: Cannot begin the run of a2c on Wrong-v0: no luck \(wrong_env\.ts:\d+\)$/,
    );
    await assertRejects(() => Deno.stat(dir), Deno.errors.NotFound);
  }
});
