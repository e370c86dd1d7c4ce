import { assert, assertEquals, assertRejects } from "@std/assert";
import { CheckpointStore } from "./checkpoint_store.ts";
import { stopOnNoImprovement } from "./early_stopping.ts";
import { readProgress } from "./read_logs.ts";
import { isStateRecord, type StateTree } from "./state_tree.ts";
import { runAndKill } from "./testdata/kill.ts";
import { ToyAlgorithm, ToyEnv } from "./testdata/toy.ts";
import { train } from "./train.ts";
import type { TrainOptions } from "./train_options.ts";

const numEnvs = 4;

/** Everything that a run ends with, but for the clock. */
function timeless(state: StateTree): StateTree {
  assert(isStateRecord(state) && isStateRecord(state.loop));
  assert(typeof state.loop.elapsedSeconds === "number");
  return { ...state, loop: { ...state.loop, elapsedSeconds: 0 } };
}

Deno.test("a run resumed from any step ends as the uninterrupted one", async () => {
  const dir = await Deno.makeTempDir();
  let extra = 0;
  const options = (store: CheckpointStore): TrainOptions => ({
    totalTimesteps: 400,
    seed: 5,
    callbacks: [stopOnNoImprovement({ patience: 100 }), {
      onEpisode: () => void extra++,
    }],
    evaluation: { env: new ToyEnv(2), everyTimesteps: 72, episodes: 3 },
    checkpoints: { store, everyTimesteps: numEnvs, keepLast: 1000 },
    extraState: {
      save: () => extra,
      restore: (state) => void (extra = state as number),
    },
  });
  const store = new CheckpointStore(`${dir}/whole`);
  await train(new ToyAlgorithm(numEnvs), new ToyEnv(numEnvs), options(store));
  const wanted = timeless(store.load(400).state);
  assertEquals(store.list().checkpoints.length, 101);
  for (let step = 0; step < 400; step += 3 * numEnvs) {
    const other = new CheckpointStore(`${dir}/${step}`);
    await train(new ToyAlgorithm(numEnvs, 99), new ToyEnv(numEnvs), {
      ...options(other),
      checkpoints: { store: other },
      resumeFrom: store.load(step).state,
    });
    assertEquals(timeless(other.load(400).state), wanted, `from ${step}`);
  }
  await Deno.remove(dir, { recursive: true });
});

Deno.test("time and counters go on", async () => {
  const dir = await Deno.makeTempDir();
  const store = new CheckpointStore(dir);
  let time = 0;
  const options = {
    now: () => time,
    callbacks: [{ onStep: () => void (time += 1000) }],
    checkpoints: { store },
  };
  const run = (totalTimesteps: number, resumeFrom?: StateTree) =>
    train(new ToyAlgorithm(numEnvs), new ToyEnv(numEnvs), {
      ...options,
      totalTimesteps,
      resumeFrom,
    });
  await run(40);
  time = 77_000;
  const result = await run(100, store.load().state);
  assertEquals([result.step, result.updates], [100, 5]);
  assertEquals(result.elapsedSeconds, 25);
  // Resuming what is complete changes nothing.
  const again = await run(100, store.load().state);
  assertEquals([again.step, again.stopReason], [100, "completed"]);
  assertEquals(again.elapsedSeconds, 25);
  await Deno.remove(dir, { recursive: true });
});

Deno.test("later checkpoints are dropped on resuming", async () => {
  const dir = await Deno.makeTempDir();
  const store = new CheckpointStore(dir);
  const checkpoints = { store, everyTimesteps: 20, keepLast: 9 };
  const run = (totalTimesteps: number, resumeFrom?: StateTree) =>
    train(new ToyAlgorithm(numEnvs), new ToyEnv(numEnvs), {
      totalTimesteps,
      checkpoints,
      resumeFrom,
    });
  await run(100);
  await run(48, store.load(40).state);
  assertEquals(store.list().checkpoints.map(({ step }) => step), [
    0,
    20,
    40,
    48,
  ]);
  await Deno.remove(dir, { recursive: true });
});

Deno.test("a state that is not of this run is refused in one line", async () => {
  const run = (resumeFrom: StateTree) =>
    train(new ToyAlgorithm(numEnvs), new ToyEnv(numEnvs), {
      totalTimesteps: 100,
      resumeFrom,
    });
  await assertRejects(
    () => run({ loop: {}, algorithm: null }),
    TypeError,
    "Cannot resume: the state has no 'callbacks', it is not of a training run",
  );
  const dir = await Deno.makeTempDir();
  const store = new CheckpointStore(dir);
  await train(new ToyAlgorithm(2), new ToyEnv(2), {
    totalTimesteps: 10,
    checkpoints: { store },
  });
  await assertRejects(
    () => run(store.load().state),
    RangeError,
    "Cannot continue with 4 copies of the environment: the checkpoint holds 2",
  );
  await Deno.remove(dir, { recursive: true });
});

Deno.test("a run that dies before it learns anything can be resumed", async () => {
  const dir = await Deno.makeTempDir();
  const store = new CheckpointStore(dir);
  const death = new Error("Cannot go on");
  const options = { totalTimesteps: 60, seed: 4, checkpoints: { store } };
  const whole = new ToyAlgorithm(numEnvs);
  await train(whole, new ToyEnv(numEnvs), { totalTimesteps: 60, seed: 4 });
  await assertRejects(
    () =>
      train(new ToyAlgorithm(numEnvs), new ToyEnv(numEnvs), {
        ...options,
        callbacks: [{ onStep: () => Promise.reject(death) }],
      }),
    Error,
    "Cannot go on",
  );
  const resumed = new ToyAlgorithm(numEnvs, 99);
  const { state, step } = store.load();
  await train(resumed, new ToyEnv(numEnvs), { ...options, resumeFrom: state });
  assertEquals(step, 0);
  assertEquals(resumed.save(), whole.save());
  await Deno.remove(dir, { recursive: true });
});

Deno.test("a process killed again and again ends as an uninterrupted one", async () => {
  const total = "60000";
  const [whole, killed] = [await Deno.makeTempDir(), await Deno.makeTempDir()];
  const { output } = await runAndKill(
    "train_process.ts",
    [whole, total],
    Infinity,
  );
  assertEquals(output, `ready\ncompleted ${total}\n`);

  let kills = 0;
  for (;;) {
    // Later kills come later, so that the run ends at last.
    const delay = 37 * kills % 211 + 5 * kills;
    const { completed } = await runAndKill(
      "train_process.ts",
      [killed, total],
      delay,
    );
    if (completed) break;
    kills++;
  }
  assert(kills >= 3, `${kills} kills`);

  const load = (dir: string, which: "latest" | "best") =>
    new CheckpointStore(`${dir}/checkpoints`).load(which);
  for (const which of ["latest", "best"] as const) {
    const [a, b] = [load(killed, which), load(whole, which)];
    assertEquals([a.step, a.warnings], [b.step, []]);
    assertEquals(timeless(a.state), timeless(b.state));
  }
  const read = (dir: string, name: string) =>
    Deno.readTextFileSync(`${dir}/${name}`);
  assertEquals(read(killed, "episodes.csv"), read(whole, "episodes.csv"));
  const rows = (dir: string) =>
    readProgress(`${dir}/progress.csv`).map(({ step, statistics }) => {
      const { fps: _fps, time_elapsed: _time, ...rest } = statistics;
      return { step, rest };
    });
  assertEquals(rows(killed), rows(whole));
  assert(rows(whole).length > 300);
  const header = (dir: string) => read(dir, "progress.csv").split("\n")[0];
  assertEquals(header(killed), header(whole));
  const lines = (dir: string) =>
    read(dir, "progress.jsonl").replaceAll(/"(fps|time_elapsed)":[^,]*,/g, "");
  assertEquals(lines(killed), lines(whole));
  for (const dir of [whole, killed]) {
    await Deno.remove(dir, { recursive: true });
  }
});
