import { PAUSE_MS } from "../testdata/guarded_env.ts";
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
import { WorkerVecEnv } from "./worker_vec_env.ts";

testHosted(
  "WorkerVecEnv",
  (source, { groups, ...options }) =>
    new WorkerVecEnv(source, { ...options, workers: groups }),
  { numRuns: 8 },
);

const NESTED = { module: import.meta.resolve("../testdata/nested_env.ts") };

Deno.test("the calling thread hosts the last group with the same numbers", async () => {
  const alone = makeNested({ numEnvs: 5, first: 0 });
  for (const spins of [0, 1_000]) {
    const env = new WorkerVecEnv(NESTED, {
      numEnvs: 5,
      workers: 1,
      callerShare: makeNested,
      spins,
    });
    await using(env, () => {
      env.reset({ seed: 4 });
      alone.reset({ seed: 4 });
      assertEquals(playVec(env, 60, 1), playVec(alone, 60, 1));
      const snapshot = env.save();
      const expected = playVec(env, 20, 2);
      env.load(snapshot);
      assertEquals(playVec(env, 20, 2), expected);
    });
  }
});

Deno.test("its own group is replaced and received as any other", async () => {
  const env = new WorkerVecEnv(FRAGILE, {
    numEnvs: 4,
    workers: 1,
    callerShare: makeFragile,
    onRestart: () => {},
  });
  await using(env, () => {
    const watch = new EpisodeWatch(env.reset({ seed: 0 }), 4);
    watch.see(env.step(new Int32Array(4)));
    assertEquals(watch.see(env.step(Int32Array.of(GO, GO, THROW, GO))), [2, 3]);
    assertEquals(
      watch.see(env.step(Int32Array.of(EXIT, GO, GO, THROW))),
      [0, 1, 2, 3],
    );
    env.send(new Int32Array(4));
    const received = [0, 1].flatMap(() => {
      const ready = env.recv(1);
      assertEquals(watch.see(ready, ready.copies), []);
      return [...ready.copies];
    });
    assertEquals(received.sort(), [0, 1, 2, 3]);
  });
});

Deno.test("an environment that this thread knows needs no function", async () => {
  const options = { numEnvs: 3, workers: 1, callerShare: true };
  await using(new WorkerVecEnv("Acrobot-v1", options), (env) => {
    const one = make("Acrobot-v1");
    const seed = [5, 6, 7];
    const all = cloneBatch(env.reset({ seed })) as Float32Array;
    seed.forEach((it, row) =>
      assertEquals(all.slice(6 * row, 6 * row + 6), one.reset({ seed: it }))
    );
  });
  assertThrows(
    () => new WorkerVecEnv(NESTED, options),
    TypeError,
    "in the calling thread with callerShare true: expected the function that it exports",
  );
  // Known here, but not in a worker.
  register({ id: "OnlyHere-v0", make: () => make("CartPole-v1") });
  assertThrows(
    () => new WorkerVecEnv("OnlyHere-v0", options),
    RangeError,
    "Cannot start copies 0 to 1 of OnlyHere-v0: Unknown environment",
  );
});

Deno.test("numbers that cannot be are refused", () => {
  const refused: [object, string][] = [
    [{ numEnvs: 0 }, "Cannot host 0 copies"],
    [{ numEnvs: 2, workers: 0 }, "Cannot host copies in 0 workers"],
    [{ numEnvs: 2, workers: 3 }, "Cannot host 2 copies in 3 groups"],
    [{ numEnvs: 1, callerShare: true }, "Cannot host 1 copy in 2 groups"],
    [{ numEnvs: 2, spins: -1 }, "Cannot look -1 times"],
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

Deno.test({
  name: "workers that may not be loaded are one clear error at once",
  permissions: { read: false },
  fn: () => {
    assertThrows(
      () => new WorkerVecEnv("CartPole-v1", { numEnvs: 1 }),
      Deno.errors.NotCapable,
      "Cannot start workers without the permission to read",
    );
  },
});

Deno.test("the caller's own group has its turn in asynchronous mode", () => {
  const env = new WorkerVecEnv("CartPole-v1", {
    numEnvs: 3,
    workers: 2,
    callerShare: true,
    stepTimeoutMs: 200,
    onRestart: () => {
      throw new Error("nothing fails here");
    },
  });
  env.reset({ seed: 0 });
  env.send(new Int32Array(3));
  const steps = [0, 0, 0];
  for (let i = 0; i < 60; i++) {
    const { copies } = env.recv(1);
    for (const copy of copies) steps[copy]++;
    env.send(new Int32Array(copies.length), copies);
  }
  // It is taken in turn with workers that are as quick as it is.
  assertEquals(steps[2] >= 10, true, String(steps));
  // The caller is slower than hosts may be.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
  assertEquals(env.recv(3).copies.length, 3);
  env.close();
});

Deno.test("copies that nothing makes any more are not waited for", async () => {
  const module =
    "data:text/javascript,export default () => new Promise(() => {})";
  await leavesNothing(() => {
    assertThrows(
      () => new WorkerVecEnv({ module }, { numEnvs: 1 }),
      Error,
      "Cannot start copy 0: its worker ended",
    );
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

for (
  const { what, changes, lastMs, made } of [
    {
      what: "that gives signs of life may take long",
      changes: 9,
      lastMs: 0,
      made: 10,
    },
    {
      what: "that was given up changes nothing any more",
      changes: 1,
      lastMs: 4000,
      made: 1,
    },
  ]
) {
  Deno.test(`a host ${what}`, () => {
    const memory = new Int32Array(new SharedArrayBuffer(8));
    const restarts: string[] = [];
    const env = new WorkerVecEnv({
      module: import.meta.resolve("../testdata/guarded_env.ts"),
      options: { changes, lastMs, memory },
    }, {
      numEnvs: 1,
      stepTimeoutMs: 5 * PAUSE_MS,
      onRestart: ({ error }) => restarts.push(error.reason),
    });
    env.reset({ seed: 0 });
    env.send(new Int32Array(1));
    env.recv(1);
    Atomics.wait(memory, 1, 0);
    assertEquals(memory[0], made);
    assertEquals(restarts, made > changes ? [] : ["timeout"]);
    env.close();
  });
}
