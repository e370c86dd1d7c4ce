import { assertEquals, assertThrows } from "@std/assert";
import { cloneBatch } from "../../spaces/batch.ts";
import { make, register } from "../../mod.ts";
import { playVec } from "../../testdata/play.ts";
import { EpisodeWatch } from "../testdata/episode_watch.ts";
import makeFragile, { EXIT, GO, THROW } from "../testdata/fragile_env.ts";
import { testHosted } from "../testdata/hosted_contract.ts";
import { FRAGILE, using } from "../testdata/hosted_use.ts";
import { leavesNothing } from "../testdata/leftovers.ts";
import makeNested from "../testdata/nested_env.ts";
import type { VecEnv } from "@bellman/types";
import { type EnvSlice, splitEnvs } from "../group_hosts.ts";
import type { ModuleSource } from "../group_source.ts";
import { AsyncVecEnv } from "../async_vec_env.ts";
import { WorkerHosts } from "./_worker_hosts.ts";
import { WorkerVecEnv } from "./worker_vec_env.ts";
import { assertRefused } from "../../../tests/testdata/refused.ts";

testHosted(
  "WorkerVecEnv",
  (source, { groups, ...options }) =>
    new WorkerVecEnv(source, { ...options, workers: groups }),
  { numRuns: 3 },
);

const NESTED = { module: import.meta.resolve("../testdata/nested_env.ts") };

/** Environments of a module in a worker, and those of the last group in this thread. */
function halfHere(
  source: ModuleSource,
  make: (range: EnvSlice) => VecEnv,
  numEnvs: number,
): AsyncVecEnv {
  const groups = splitEnvs(numEnvs, 2), makeLocal = () => make(groups[1]);
  const hosts = new WorkerHosts({ data: { source }, groups, makeLocal });
  return new AsyncVecEnv(hosts, { onRestart: () => {} });
}

Deno.test("the calling thread hosts the last group with the same numbers", async () => {
  const alone = makeNested({ numEnvs: 5, first: 0 });
  const env = halfHere(NESTED, makeNested, 5);
  await using(env, () => {
    env.reset({ seed: 4 });
    alone.reset({ seed: 4 });
    assertEquals(playVec(env, 60, 1), playVec(alone, 60, 1));
    const snapshot = env.save();
    const expected = playVec(env, 20, 2);
    env.load(snapshot);
    assertEquals(playVec(env, 20, 2), expected);
  });
});

Deno.test("its own group is replaced as any other", async () => {
  const env = halfHere(FRAGILE, makeFragile, 4);
  await using(env, () => {
    const watch = new EpisodeWatch(env.reset({ seed: 0 }), 4);
    watch.see(env.step(new Int32Array(4)));
    assertEquals(watch.see(env.step(Int32Array.of(GO, GO, THROW, GO))), [2, 3]);
    assertEquals(
      watch.see(env.step(Int32Array.of(EXIT, GO, GO, THROW))),
      [0, 1, 2, 3],
    );
  });
});

Deno.test("the calling thread hosts environments that it knows by their id", async () => {
  const options = { numEnvs: 3, workers: 1, callerShare: true };
  await using(new WorkerVecEnv("Acrobot-v1", options), (env) => {
    const one = make("Acrobot-v1");
    const seed = [5, 6, 7];
    const all = cloneBatch(env.reset({ seed })) as Float32Array;
    seed.forEach((it, row) =>
      assertEquals(all.slice(6 * row, 6 * row + 6), one.reset({ seed: it }))
    );
  });
  assertRefused({
    "TypeError: in the calling thread: expected those of a registered id": () =>
      new WorkerVecEnv(NESTED, options),
  });
  // Known here, but not in a worker.
  register({ id: "OnlyHere-v0", make: () => make("CartPole-v1") });
  assertRefused({
    "RangeError: Cannot start environments 0 to 1 of OnlyHere-v0: Unknown environment":
      () => new WorkerVecEnv("OnlyHere-v0", options),
  });
});

Deno.test("numbers that cannot be are refused", () => {
  const refused: [object, string][] = [
    [{ numEnvs: 0 }, "Cannot host 0 environments"],
    [{ numEnvs: 2, workers: 0 }, "Cannot host 0 groups"],
    [{ numEnvs: 2, workers: 3 }, "Cannot host 2 environments in 3 groups"],
    [
      { numEnvs: 1, callerShare: true },
      "Cannot host 1 environments in 2 groups",
    ],
    [{ numEnvs: 2, restarts: 0.5 }, "with restarts 0.5"],
  ];
  for (const [options, message] of refused) {
    assertThrows(
      () => new WorkerVecEnv("CartPole-v1", options as { numEnvs: number }),
      RangeError,
      message,
    );
  }
});

Deno.test("workers that may not be loaded are one clear error at once", {
  permissions: { read: false },
}, () => {
  assertRefused({
    "NotCapable: Cannot start workers without the permission to read": () =>
      new WorkerVecEnv("CartPole-v1", { numEnvs: 1 }),
  });
});

Deno.test("copies that nothing makes any more are not waited for", async () => {
  const module =
    "data:text/javascript,export default () => new Promise(() => {})";
  await leavesNothing(() => {
    assertRefused({
      "Error: Cannot start environment 0: its worker ended": () =>
        new WorkerVecEnv({ module }, { numEnvs: 1 }),
    });
  });
});

Deno.test("copies may be closed over a restart, and none is left", async () => {
  await leavesNothing(() => {
    const env: WorkerVecEnv = new WorkerVecEnv(FRAGILE, {
      numEnvs: 2,
      onRestart: () => env.close(),
    });
    env.reset({ seed: 0 });
    assertThrows(() => env.step(Int32Array.of(GO, THROW)), TypeError, "closed");
  });
});

Deno.test("a snapshot that is not plain data is refused, and the host goes on", () => {
  const module = import.meta.resolve("../testdata/unsendable_env.ts");
  const env = new WorkerVecEnv({ module }, { numEnvs: 2, workers: 1 });
  env.reset({ seed: 0 });
  assertThrows(() => env.save(), TypeError, "it is a function");
  const { truncated } = env.step(new Int32Array(2));
  assertEquals([...truncated], [0, 0]);
  env.close();
});
