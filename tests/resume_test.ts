/** What a run that was stopped, killed or damaged does when it is resumed. */
import { CheckpointStore, readProgress } from "@bellman/training";
import type { StateTree } from "@bellman/types";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { blockStart, savedRows } from "./rows.ts";
import {
  copyRun,
  KILLER,
  leaveUnevaluated,
  logsOf,
  remainsOf,
  runCommand,
  train,
  trainProcess,
  trainWell,
} from "./runs.ts";

/** Inside a folder that is removed again. */
function inFolder(body: (root: string) => Promise<void>): () => Promise<void> {
  return async () => {
    const root = await Deno.makeTempDir({ prefix: "bellman-resume-" });
    try {
      await body(root);
    } finally {
      await Deno.remove(root, { recursive: true });
    }
  };
}

/** A run with many checkpoints. */
const SMALL = [
  "--env=CartPole-v1",
  "--set=hiddenSizes=[8]",
  "--set=evaluationInterval=400",
  "--set=evaluationEpisodes=2",
  "--set=checkpointInterval=200",
  "--set=logInterval=5",
  "--quiet",
];

const finished = new Map<string, Promise<string>>();

/** Folder of a run that has ended, which is trained once. */
function finishedRun(args: readonly string[]): Promise<string> {
  const key = args.join(" ");
  if (!finished.has(key)) {
    const run = Deno.makeTempDirSync({ prefix: "bellman-finished-" });
    addEventListener("unload", () => Deno.removeSync(run, { recursive: true }));
    finished.set(key, trainWell([...args, "--out", run]).then(() => run));
  }
  return finished.get(key)!;
}

/** Copies a run of {@link SMALL} that has ended. */
async function copyOfSmall(dir: string, ...more: string[]): Promise<string> {
  return copyRun(await finishedRun([...SMALL, ...more]), dir);
}

const LONG = ["--env=CartPole-v1", "--set=logInterval=10"];
/** Steps until long after a signal that follows the first line of the logs. */
const STEPS = 20_000;
const LENGTH = `--steps=${STEPS}`;

/** Bytes of what a run has logged. */
function logged(dir: string): number {
  try {
    return Deno.statSync(`${dir}/progress.csv`).size;
  } catch {
    return 0;
  }
}

/** Waits until a run of another process has logged more. */
async function logsMore(child: Deno.ChildProcess, dir: string): Promise<void> {
  const before = logged(dir);
  let isOver = false;
  child.status.then(() => isOver = true);
  while (logged(dir) <= before) {
    assert(!isOver, "the run ended before it logged anything");
    await new Promise((done) => setTimeout(done, 10));
  }
}

/** Starts a run and waits until it has logged something. */
async function begun(args: string[], dir: string): Promise<Deno.ChildProcess> {
  const child = trainProcess([...args, "--out", dir]).spawn();
  await logsMore(child, dir);
  return child;
}

for (
  const [algorithm, signal, code] of [
    ["a2c", "SIGINT", 130],
    ["a2c", "SIGTERM", 143],
    ["a2c", "SIGHUP", 129],
    ["acktr", "SIGINT", 130],
  ] as const
) {
  Deno.test(
    `${signal} saves a run of ${algorithm}, which says how to resume, and goes on from there`,
    inFolder(async (root) => {
      const dir = `${root}/stopped`;
      const args = [
        ...[algorithm, "--env=CartPole-v1", "--steps=64000"],
        ...["--set=logInterval=10", `--set=algorithmModules=[${KILLER}]`],
      ];
      const whole = await finishedRun([...args, "--quiet"]);
      const env = { KILL_AFTER: "1000", KILL_SIGNAL: signal };
      const child = trainProcess([...args, "--out", dir], env).spawn();
      if (signal === "SIGHUP") {
        // Nobody reads any longer what the run prints: its terminal has closed.
        await Promise.all([child.stdout.cancel(), child.stderr.cancel()]);
        assertEquals((await child.status).code, code);
      } else {
        const { stdout, stderr, ...status } = await child.output();
        assertEquals(status.code, code, new TextDecoder().decode(stderr));
        const told = new TextDecoder().decode(stdout);
        assert(told.includes(`--resume ${dir}`), told);
      }
      await trainWell(["--resume", dir, "--quiet"]);
      assertEquals(remainsOf(dir), remainsOf(whole));
    }),
  );
}

/** Runs that end before their length, and one that does not. */
const ENDINGS: Record<string, { stop: string[]; reason: RegExp }> = {
  stopReward: {
    stop: ["--steps=20000", "--set=stopReward=9"],
    reason: /has ended at step \d+: mean return [\d.]+ reached 9$/,
  },
  patience: {
    stop: ["--steps=20000", "--set=patience=1", "--set=learningRate=1e-9"],
    reason:
      /has ended at step \d+: no improvement over [\d.]+ in 1 evaluations$/,
  },
  maxSeconds: {
    stop: ["--steps=20000", "--set=maxSeconds=0.05"],
    reason: /has ended at step \d+: 0.05 seconds are over$/,
  },
  completed: {
    stop: ["--steps=1200"],
    reason: /has run all of its 1200 steps; more --steps prolong it$/,
  },
};

for (const [name, { stop, reason }] of Object.entries(ENDINGS)) {
  Deno.test(
    `a run ended by ${name} is not resumed, what it still owes is made up for`,
    inFolder(async (root) => {
      const dir = `${root}/whole`;
      await trainWell([...SMALL, ...stop, "--out", dir]);
      const refused = await train(["--resume", dir]);
      assertEquals(refused.code, 2, refused.err);
      assert(reason.test(refused.err.trimEnd()), refused.err);
      assertEquals(refused.err.trimEnd().split("\n").length, 1);
      // Killed before its last evaluation was over.
      const killed = `${root}/killed`;
      copyRun(dir, killed);
      leaveUnevaluated(killed);
      Deno.removeSync(`${killed}/policy.onnx`);
      await trainWell(["--resume", killed, "--quiet"]);
      assertEquals(remainsOf(killed), remainsOf(dir));
      const [policy, wanted] = [killed, dir].map((it) =>
        Deno.readFileSync(`${it}/policy.onnx`)
      );
      assertEquals(policy, wanted);
      Deno.statSync(`${killed}/report.html`);
    }),
  );
}

Deno.test(
  "stopped early and killed at any checkpoint, it stops there again",
  inFolder(async (root) => {
    const whole = `${root}/whole`;
    await trainWell([
      ...SMALL,
      "--steps=20000",
      "--set=keepCheckpoints=1000",
      "--set=stopReward=20",
      "--out",
      whole,
    ]);
    const expected = remainsOf(whole);
    const store = new CheckpointStore(`${whole}/checkpoints`);
    const steps = store.list().checkpoints.map(({ step }) => step);
    assert(steps.length > 2 && steps.at(-1)! < 20_000, steps.join());
    for (const step of steps.slice(-2)) {
      const dir = `${root}/${step}`;
      copyRun(whole, dir);
      new CheckpointStore(`${dir}/checkpoints`).truncate(step);
      leaveUnevaluated(dir);
      await trainWell(["--resume", dir, "--quiet"]);
      assertEquals(remainsOf(dir), expected);
    }
  }),
);

Deno.test(
  "a run that one process trains is left alone by others",
  inFolder(async (root) => {
    const dir = `${root}/run`;
    const child = await begun([...LONG, "--steps=10000000"], dir);
    const drained = [child.stdout.cancel(), child.stderr.cancel()];
    const holder = new RegExp(
      `Cannot use the run ${dir}: process ${child.pid} on \\S+, begun at \\S+Z, trains it at present\n$`,
    );
    for (let i = 0; i < 2; i++) {
      const { code, err } = await train(["--resume", dir]);
      assertEquals(code, 2, err);
      assert(holder.test(err), err);
    }
    child.kill("SIGKILL");
    await child.status;
    await Promise.all(drained);
    // What it left behind is taken over, by one of two.
    Deno.statSync(`${dir}/run.lock`);
    const children = [1, 2].map(() => trainProcess(["--resume", dir]).spawn());
    const { loser, code } = await Promise.race(
      children.map((loser) =>
        loser.status.then(({ code }) => ({ loser, code }))
      ),
    );
    assertEquals(code, 2);
    const winner = children.find((it) => it !== loser)!;
    const { pid } = JSON.parse(Deno.readTextFileSync(`${dir}/run.lock`));
    assertEquals(pid, winner.pid);
    const rest = children.flatMap(({ stdout, stderr }) => [
      stdout.cancel(),
      stderr.cancel(),
    ]);
    await logsMore(winner, dir);
    winner.kill("SIGTERM");
    assertEquals((await winner.status).code, 143);
    await Promise.all(rest);
    const names = [...Deno.readDirSync(dir)].map(({ name }) => name);
    assertEquals(names.includes("run.lock"), false);
  }),
);

Deno.test(
  "for a best checkpoint that is damaged its copy stands, or the latest, and that is said",
  inFolder(async (root) => {
    const args = ["--steps=1600", "--set=learningRate=0.5"];
    const dir = await copyOfSmall(`${root}/run`, ...args);
    const best = new CheckpointStore(`${dir}/checkpoints`).load("best").step;
    assert(best < 1600, `the best is of step ${best}`);
    const whole = await runCommand(["eval", dir, "--episodes=3"]);
    assertEquals([whole.code, whole.err], [0, ""]);
    Deno.removeSync(`${dir}/checkpoints/best.safetensors`);
    const copied = await runCommand(["eval", dir, "--episodes=3"]);
    assertEquals([copied.code, copied.out], [0, whole.out]);
    assert(
      copied.err.endsWith(`the checkpoint of step ${best} is used instead\n`),
      copied.err,
    );
    const name = `step_${String(best).padStart(9, "0")}.safetensors`;
    Deno.removeSync(`${dir}/checkpoints/${name}`);
    const latest = await runCommand(["eval", dir, "--episodes=3"]);
    assertEquals(latest.code, 0, latest.err);
    assert(
      latest.err.endsWith("the checkpoint of step 1600 is used instead\n"),
      latest.err,
    );
  }),
);

Deno.test(
  "where nothing else can be read, a run goes on from its best checkpoint and the configuration in it",
  inFolder(async (root) => {
    const dir = await copyOfSmall(`${root}/run`, "--steps=1200");
    const { checkpoints, best } = new CheckpointStore(`${dir}/checkpoints`)
      .list();
    for (const { path } of checkpoints) Deno.truncateSync(path, 100);
    const path = `${dir}/run.json`, text = Deno.readTextFileSync(path);
    Deno.writeTextFileSync(path, text.replace("CartPole", "CartPale"));
    Deno.removeSync(`${dir}/report.html`);
    const { code, err } = await train(["--resume", dir, "--quiet"]);
    assertEquals(code, 0, err);
    assert(best !== undefined);
    assertEquals(readProgress(`${dir}/progress.csv`).at(-1)?.step, 1200);
  }),
);

Deno.test(
  "logs that are removed while a run writes them do not end it",
  inFolder(async (root) => {
    const dir = `${root}/run`;
    const child = await begun([...LONG, LENGTH, "--quiet"], dir);
    for (const name of ["progress", "episodes"]) {
      Deno.removeSync(`${dir}/${name}.csv`);
    }
    const { code, stderr } = await child.output();
    const err = new TextDecoder().decode(stderr);
    assertEquals(code, 0, err);
    assert(/episodes\.csv.*; the report is without it\n/.test(err), err);
    // Columns that came later wrote it anew, with the rows of before.
    const steps = readProgress(`${dir}/progress.csv`).map(({ step }) => step);
    assert(steps[0] < 1_000 && steps.at(-1) === STEPS, steps.join());
    Deno.statSync(`${dir}/report.html`);
  }),
);

/** Files of other checkpoints in the place of those that a run should have. */
const EXCHANGED: Record<string, (dir: string, other: string) => RegExp> = {
  "a later one as the best"(dir) {
    copyInto(dir, { "step_000001200.safetensors": "best.safetensors" });
    return /best\.safetensors: it is a copy of another checkpoint; it is made again from the checkpoint of that step\n$/;
  },
  "another run's best"(dir, other) {
    copyInto(dir, { "best.safetensors": "best.safetensors" }, other);
    return /^Cannot use the best checkpoint: it is of another run; it is made again from the checkpoint of that step\n$/;
  },
  "another run's newest"(dir, other) {
    const name = "step_000001200.safetensors";
    copyInto(dir, { [name]: name }, other);
    return /step_000001200\.safetensors: it is of another run; going back to step 1000\n$/;
  },
};

function copyInto(
  dir: string,
  names: Record<string, string>,
  from = dir,
): void {
  for (const [source, target] of Object.entries(names)) {
    Deno.copyFileSync(
      `${from}/checkpoints/${source}`,
      `${dir}/checkpoints/${target}`,
    );
  }
}

for (const [name, exchange] of Object.entries(EXCHANGED)) {
  Deno.test(
    `a whole checkpoint in another one's place is not taken for it: ${name}`,
    inFolder(async (root) => {
      const args = ["--steps=1200", "--set=learningRate=0.5"];
      const dir = await copyOfSmall(`${root}/run`, ...args);
      const other = await copyOfSmall(`${root}/other`, ...args, "--seed=1");
      const expected = remainsOf(dir);
      const whole = await runCommand(["eval", dir, "--episodes=3"]);
      const { step } = new CheckpointStore(`${dir}/checkpoints`).load("best");
      assert(step < 1200, `the best is of step ${step}`);
      const line = exchange(dir, other);
      const judged = await runCommand(["eval", dir, "--episodes=3"]);
      assertEquals([judged.code, judged.out], [0, whole.out]);
      leaveUnevaluated(dir);
      const { err } = await trainWell(["--resume", dir, "--quiet"]);
      assert(line.test(err), err);
      assertEquals(remainsOf(dir), expected);
    }),
  );
}

type Parts = Record<string, Record<string, StateTree>>;

/** States whose restoring fails, though the file is whole. */
const UNUSABLE: Record<string, (state: Parts) => unknown> = {
  "no algorithm": (state) => delete (state as Partial<Parts>).algorithm,
  "an array that is too short": ({ algorithm }) =>
    (algorithm.acting as Parts[string]).starts = new Float32Array(3),
  "parameters of another shape": ({ algorithm }) =>
    (algorithm.learned as Parts[string]).policy = {
      "pi/kernel": { data: new Float32Array(1), shape: [1] },
    },
  "environments without a state": (state) => state.env = {},
  "a counter that is none": ({ loop }) => loop.updates = -1,
  "callbacks that are none": (state) => state.callbacks = null as never,
};

for (const [name, damage] of Object.entries(UNUSABLE)) {
  Deno.test(
    `a checkpoint that cannot be restored is passed over: ${name}`,
    inFolder(async (root) => {
      const dir = await copyOfSmall(`${root}/whole`, "--steps=1200");
      const expected = remainsOf(dir);
      leaveUnevaluated(dir);
      const store = new CheckpointStore(`${dir}/checkpoints`);
      const { state, notes, step } = store.load();
      damage(state as Parts);
      store.save(step, state, { notes });
      const { err } = await trainWell(["--resume", dir, "--quiet"]);
      const line =
        /^Cannot restore .*\.safetensors: .*; going back to step 1000\n$/;
      assert(line.test(err), err);
      assertEquals(remainsOf(dir), expected);
      // Where all are like that, it is one line and nothing changes.
      leaveUnevaluated(dir);
      for (const { step } of store.list().checkpoints) {
        const { state } = store.load(step);
        damage(state as Parts);
        store.save(step, state, { notes });
      }
      const refused = await train(["--resume", dir, "--quiet"]);
      assertEquals(refused.code, 2);
      const last = refused.err.trimEnd().split("\n").at(-1)!;
      assert(last.startsWith(`error: Cannot resume ${dir}: none of`), last);
    }),
  );
}

const IN_FILES: Record<string, string[]> = {
  acer: [
    ...["acer", "--env=CartPole-v1", "--set=numEnvs=2", "--steps=1200"],
    ...["--set=bufferSize=200", "--set=replayStart=40"],
  ],
  sac: [
    ...["sac", "--env=Pendulum-v1", "--preset=none", "--steps=1200"],
    ...["--set=bufferSize=500", "--set=learningStarts=100"],
    ...["--set=batchSize=8", "--set=nSteps=3", "--set=replay=rank"],
    "--set=trainFrequency=4",
  ],
};

for (const [algorithm, own] of Object.entries(IN_FILES)) {
  Deno.test(
    `a run of ${algorithm} with its replay in a file resumes with it, from an older checkpoint where rows are damaged, and without where none has them`,
    inFolder(async (root) => {
      const whole = `${root}/whole`, stopped = `${root}/stopped`;
      const settings = [
        ...own,
        ...["--set=hiddenSizes=[8]", "--set=replayStorage=file"],
        ...["--set=evaluationEpisodes=2", "--set=checkpointInterval=300"],
        ...["--set=evaluationInterval=0", "--quiet"],
      ];
      await trainWell([...settings, `--out=${whole}`]);
      const inMemory = `${root}/memory`;
      await trainWell([
        ...settings.map((it) => it.replace("Storage=file", "Storage=memory")),
        `--out=${inMemory}`,
      ]);
      assertEquals(logsOf(inMemory), logsOf(whole));
      copyRun(whole, stopped);
      // Killed after the checkpoint at 900 steps.
      leaveUnevaluated(stopped);
      Deno.removeSync(`${stopped}/checkpoints/step_000001200.safetensors`);
      const damaged = ["resumed", "newest", "all", "gone", "cut", "other"]
        .map((name) => `${root}/${name}`);
      for (const copy of damaged) copyRun(stopped, copy);
      const [resumed, newest, all, gone, cut, other] = damaged;
      await trainWell(["--resume", resumed, "--quiet"]);
      assertEquals(remainsOf(resumed), remainsOf(whole));

      // Rows that the older ones do not need.
      damageNewestRows(newest);
      const back = await trainWell(["--resume", newest, "--quiet"]);
      assertMatch(
        back.err,
        /^Cannot restore .*900\.safetensors: Cannot read rows \d+ to \d+ of .*replay\.rows', which has \d+ bytes: they do not have the checksum that they should; going back to step 600\n$/,
      );
      assertEquals(remainsOf(newest), remainsOf(whole));

      const bytes = Deno.readFileSync(`${all}/replay.rows`);
      for (let at = 4096; at < bytes.length; at += 99) bytes[at] ^= 16;
      Deno.writeFileSync(`${all}/replay.rows`, bytes);
      Deno.removeSync(`${gone}/replay.rows`);
      Deno.truncateSync(`${cut}/replay.rows`, 5000);
      Deno.copyFileSync(`${all}/replay.rows`, `${other}/replay.rows`);
      for (const run of [all, gone, cut, other]) {
        const { err } = await trainWell(["--resume", run, "--quiet"]);
        assertMatch(
          err,
          /^Cannot restore .*900\.safetensors: .*; step 900 has an empty replay buffer\n$/,
        );
        assertEquals(stepsOf(run).at(-1), 1200);
      }
    }),
  );
}

/** Steps of the checkpoints of a run. */
function stepsOf(dir: string): number[] {
  return new CheckpointStore(`${dir}/checkpoints`).list().checkpoints
    .map(({ step }) => step);
}

/** Changes a bit of each block of rows that only the newest checkpoint has. */
function damageNewestRows(dir: string): void {
  const all = stepsOf(dir).map((step) => savedRows(dir, step)!);
  const newest = all.pop()!;
  const older = new Set(all.flatMap(({ places }) => [...places]));
  const path = `${dir}/replay.rows`, bytes = Deno.readFileSync(path);
  const chosen = newest.places.filter((it) => it >= 0 && !older.has(it));
  assert(chosen.length > 0);
  for (const place of chosen) bytes[blockStart(newest, place)] ^= 1;
  Deno.writeFileSync(path, bytes);
}
