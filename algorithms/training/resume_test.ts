import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  type Callback,
  stop,
  stopOnNoImprovement,
  stopOnRewardThreshold,
} from "./callbacks.ts";
import { CheckpointStore } from "./checkpoint_store.ts";
import { CsvLogger, EpisodesCsv } from "./logs/line_loggers.ts";
import { readProgress } from "./logs/read_logs.ts";
import { runStatus } from "./training_state.ts";
import { isStateRecord } from "@bellman/files";
import type { StateTree } from "@bellman/types";
import { FixedEnv } from "./testdata/fixed_env.ts";
import { MemoryLogger } from "./testdata/memory_logger.ts";
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

Deno.test("a run resumed from any step ends as the uninterrupted one, with the same rows", async () => {
  const dir = await Deno.makeTempDir();
  let extra = 0;
  const run = async (name: string, resumeFrom?: StateTree) => {
    const logger = new MemoryLogger(), store = new CheckpointStore(dir + name);
    const everyTimesteps = resumeFrom === undefined ? numEnvs : Infinity;
    const seed = resumeFrom === undefined ? 0 : 99;
    await train(new ToyAlgorithm(numEnvs, seed), new ToyEnv(numEnvs), {
      totalTimesteps: 208,
      seed: 5,
      logInterval: 50,
      now: () => 0,
      loggers: [logger],
      callbacks: [stopOnNoImprovement({ patience: 100 }), {
        onEpisode: () => void extra++,
        onStep: (state) => state.record("own", state.step / 7),
        onUpdate: (state) => state.record("update", state.updates),
        onEvaluation: (state) => state.record("evaluation", state.step),
        save: () => extra,
        load: (state) => void (extra = state as number),
      }],
      evaluation: { env: new ToyEnv(2), everyTimesteps: 72, episodes: 3 },
      checkpoints: { store, everyTimesteps, keepLast: 1000 },
      resumeFrom,
    });
    return { store, rows: logger.rows, state: timeless(store.load(208).state) };
  };
  const whole = await run("/whole");
  assertEquals(whole.store.list().checkpoints.length, 53);
  // Updates at 20, 40 and so on: that of the end is of 200.
  const steps = whole.rows.map(({ step }) => step);
  assertEquals(steps, [20, 60, 72, 100, 144, 160, 200, 208, 208]);
  const [evaluation, last] = whole.rows.slice(-2).map((it) => it.statistics);
  assert("eval/return_mean" in evaluation);
  assertEquals(last["train/evaluation"], 208);
  for (let from = 0; from < 208; from += 3 * numEnvs) {
    const resumed = await run(`/${from}`, whole.store.load(from).state);
    assertEquals(resumed.state, whole.state, `from ${from}`);
    assertEquals(resumed.rows, whole.rows.filter(({ step }) => step > from));
  }
  // Resumed from its end, nothing is logged twice.
  assertEquals((await run("/end", whole.store.load(208).state)).rows, []);
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
    "Cannot continue: the checkpoint holds 2 environments, expected 4",
  );
  const sound = store.load().state as Record<string, Record<string, StateTree>>;
  const odd: Record<string, StateTree> = {
    ...{ stopReason: 5, elapsedSeconds: "x", bestEvaluation: 1 },
    ...{ hasEnded: "no", tracker: null, window: { returns: 2 } },
  };
  for (const [name, value] of Object.entries(odd)) {
    await assertRejects(
      () => run({ ...sound, loop: { ...sound.loop, [name]: value } }),
      TypeError,
      `Cannot resume: the state's ${name} is of another kind than a training run's`,
    );
  }
  await Deno.remove(dir, { recursive: true });
});

/** The checkpoints of a run that went to its end, and what it came to. */
async function wholeRun(dir: string, options: Partial<TrainOptions>) {
  const store = new CheckpointStore(dir);
  const result = await train(new ToyAlgorithm(numEnvs), new ToyEnv(numEnvs), {
    totalTimesteps: 2000,
    seed: 5,
    evaluation: { env: new ToyEnv(2), everyTimesteps: 100, episodes: 3 },
    checkpoints: { store, everyTimesteps: 20, keepLast: 1000 },
    ...options,
  });
  return { store, result, state: () => timeless(store.load().state) };
}

const stops: [string, () => Callback][] = [
  ["a reward that is reached", () => stopOnRewardThreshold(0.5)],
  ["no improvement", () => stopOnNoImprovement({ patience: 2 })],
  ["a step", () => ({
    onStep: ({ step }) => step === 228 ? stop("mine") : undefined,
  })],
  ["a checkpoint", () => ({
    onCheckpoint: ({ step }) => step === 160 ? stop("mine") : undefined,
  })],
  ["an evaluation of which no checkpoint but the best is due", () => ({
    onEvaluation: ({ step }) => step === 300 ? stop("mine") : undefined,
  })],
];
for (const [name, callback] of stops) {
  Deno.test(`a run stopped by ${name} stops there resumed from any step`, async () => {
    const dir = await Deno.makeTempDir();
    const options = () => ({ callbacks: [callback()] });
    const whole = await wholeRun(`${dir}/whole`, options());
    const { store, result } = whole;
    const state = whole.state();
    assert(result.step < 2000 && result.stopReason !== "completed");
    assertEquals(runStatus(state), {
      hasEnded: true,
      stopReason: result.stopReason,
      bestStep: store.load("best").step,
    });
    const { checkpoints } = store.list();
    assertEquals(checkpoints.at(-1)?.step, result.step);
    for (const [i, { step }] of checkpoints.toReversed().entries()) {
      if (i > 3 && i % 4 > 0) continue;
      // What a callback hears of a checkpoint is not in that checkpoint.
      if (name === "a checkpoint" && step === 160) continue;
      const resumed = await wholeRun(`${dir}/${step}`, {
        ...options(),
        resumeFrom: store.load(step).state,
      });
      assertEquals(resumed.result.stopReason, result.stopReason);
      assertEquals(resumed.result.step, result.step);
      // The last checkpoint had nothing more to save.
      if (step < result.step) assertEquals(resumed.state(), state);
    }
    await Deno.remove(dir, { recursive: true });
  });
}

Deno.test("what ends a run goes before an interruption, and is saved with one", async () => {
  const dir = await Deno.makeTempDir();
  for (const everyTimesteps of [100, Infinity]) {
    const controller = new AbortController();
    const interrupted = await wholeRun(`${dir}/${everyTimesteps}`, {
      callbacks: [{
        onStep({ step }) {
          if (step !== 228) return;
          controller.abort();
          return stop("mine");
        },
      }],
      signal: controller.signal,
      evaluation: { env: new ToyEnv(2), everyTimesteps, episodes: 3 },
    });
    // With evaluations the last one is still due.
    const isDue = everyTimesteps === 100;
    const { result, state } = interrupted;
    assertEquals(result.stopReason, isDue ? "interrupted" : "mine");
    const { hasEnded, stopReason } = runStatus(state());
    assertEquals([hasEnded, stopReason], [!isDue, "mine"]);
    const resumed = await wholeRun(`${dir}/${everyTimesteps}`, {
      resumeFrom: new CheckpointStore(`${dir}/${everyTimesteps}`).load().state,
    });
    assertEquals([resumed.result.stopReason, resumed.result.step], [
      "mine",
      228,
    ]);
    assertEquals(runStatus(resumed.state()).hasEnded, true);
  }
  await Deno.remove(dir, { recursive: true });
});

Deno.test("an evaluation that a resume makes up for is logged once, whenever it dies", async () => {
  const dir = await Deno.makeTempDir();
  const path = `${dir}/progress.csv`;
  const controller = new AbortController();
  const run = (more: Partial<TrainOptions>) =>
    wholeRun(`${dir}/run`, { loggers: [new CsvLogger(path)], ...more });
  // Interrupted right before the evaluation at step 100, which is then due.
  await run({
    callbacks: [{
      onStep: ({ step }) => void (step === 100 && controller.abort()),
    }],
    signal: controller.signal,
  });
  const { state } = new CheckpointStore(`${dir}/run`).load();
  for (let i = 0; i < 2; i++) {
    await assertRejects(() =>
      run({
        resumeFrom: state,
        callbacks: [{ onEvaluation: () => Promise.reject(new Error("dies")) }],
      })
    );
    const steps = readProgress(path).filter(({ statistics }) =>
      "eval/return_mean" in statistics
    ).map(({ step }) => step);
    assertEquals(steps, [100]);
  }
  await Deno.remove(dir, { recursive: true });
});

Deno.test("a state that cannot be restored changes nothing on the disk", async () => {
  const dir = await Deno.makeTempDir();
  const path = `${dir}/episodes.csv`;
  const loggers = () => [new EpisodesCsv(path)];
  const { store } = await wholeRun(`${dir}/run`, { loggers: loggers() });
  const contents = () =>
    [
      path,
      ...[...Deno.readDirSync(store.dir)].map(({ name }) =>
        `${store.dir}/${name}`
      ).sort(),
    ].map((file) => [file, Deno.readFileSync(file)]);
  const before = contents();
  const { state } = store.load(1000) as unknown as {
    state: Record<string, Record<string, StateTree>>;
  };
  const { algorithm, env } = state;
  const short = { table: { data: new Float32Array(4), shape: [2, 2] } };
  const damages: Record<string, Record<string, StateTree>>[] = [
    { algorithm: { ...algorithm, params: short } },
    { algorithm: { random: 1 } },
    { env: { ...env, positions: new Float32Array(99) } },
    { loop: { ...state.loop, tracker: null } },
    { loop: { ...state.loop, step: -3 } },
    { callbacks: null as never },
  ];
  for (const damage of damages) {
    let hasBegun = false;
    const error = await assertRejects(() =>
      wholeRun(`${dir}/run`, {
        loggers: loggers(),
        callbacks: [stopOnNoImprovement({ patience: 1000 }), {
          onStart: () => void (hasBegun = true),
        }],
        resumeFrom: { ...state, ...damage },
      })
    ) as Error;
    assertEquals([hasBegun, error.message.split("\n").length], [false, 1]);
    assertEquals(contents(), before);
  }
  await Deno.remove(dir, { recursive: true });
});

Deno.test("a damaged best checkpoint is made again from the one of its step", async () => {
  const dir = await Deno.makeTempDir();
  const options = {
    checkpoints: {
      store: new CheckpointStore(dir),
      everyTimesteps: 300,
      keepLast: 2,
    },
  };
  const { store, result } = await wholeRun(dir, options);
  const best = store.load("best");
  assert(best.step < 1500, `best at ${best.step}`);
  const damages = [
    () => Deno.removeSync(`${dir}/best.safetensors`),
    () => Deno.truncateSync(`${dir}/best.safetensors`, 30),
    () => Deno.writeTextFileSync(`${dir}/best.safetensors`, "{}"),
  ];
  for (const damage of damages) {
    damage();
    const warnings: string[] = [];
    const resumed = await wholeRun(dir, {
      ...options,
      resumeFrom: store.load().state,
      onWarning: (line) => warnings.push(line),
    });
    assertEquals(timeless(store.load("best").state), timeless(best.state));
    assertEquals(resumed.result.bestEvaluation, result.bestEvaluation);
    assertEquals(warnings.length, 1);
    assert(warnings[0].endsWith("made again from the checkpoint of that step"));
  }
  // No numbered one is left: the best one is gone on from, and saved as one.
  const copy = new CheckpointStore(`${dir}/copy`);
  copy.save(best.step, best.state, { best: true, notes: best.notes });
  const last = await wholeRun(copy.dir, {
    totalTimesteps: best.step,
    checkpoints: { ...options.checkpoints, store: copy },
    resumeFrom: copy.load().state,
  });
  assertEquals(last.result.step, best.step);
  assertEquals(copy.list().checkpoints.map(({ step }) => step), [best.step]);
  // Both copies gone: it is said.
  const name = `step_${String(best.step).padStart(9, "0")}.safetensors`;
  for (const gone of ["best.safetensors", name]) {
    Deno.removeSync(`${dir}/${gone}`);
  }
  const warnings: string[] = [];
  await wholeRun(dir, {
    ...options,
    resumeFrom: store.load().state,
    onWarning: (line) => warnings.push(line),
  });
  assertEquals(warnings, [
    `Cannot load the best checkpoint: ${dir} has none; the best policy, of step ${best.step}, is lost`,
  ]);
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

Deno.test("all evaluations of a run have one bound of steps, whatever training's episodes are", async () => {
  const dir = await Deno.makeTempDir();
  const bounds: (readonly number[])[] = [];
  const env = new FixedEnv([Infinity]);
  const evaluation = { env, everyTimesteps: 2500, episodes: 1 };
  const run = (more: Partial<TrainOptions> = {}) => {
    const store = new CheckpointStore(`${dir}/${bounds.length}`);
    return train(new ToyAlgorithm(2), new FixedEnv([150, 1700]), {
      totalTimesteps: 3600,
      callbacks: [{ onEvaluation: (_, it) => void bounds.push(it.lengths) }],
      evaluation,
      checkpoints: { store, everyTimesteps: 3200 },
      ...more,
    });
  };
  const result = await run();
  assertEquals(result.lastEvaluation?.cut, 1);
  const { state } = new CheckpointStore(`${dir}/0`).load(3200);
  await run({ resumeFrom: state });
  assertEquals(bounds, Array(3).fill([10_000]));
  await run({ evaluation: { ...evaluation, maxSteps: 9 } });
  assertEquals(bounds.slice(3), [[9], [9]]);
  await Deno.remove(dir, { recursive: true });
});
