import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { loadStateSync, saveStateSync } from "@bellman/files";
import { CheckpointStore } from "@bellman/training";
import { existsSync } from "node:fs";
import { testsWith } from "../../../tests/testdata/tests_with.ts";
import { resolveConfig } from "../settings/resolve.ts";
import {
  recordOf,
  type RunEvent,
  type RunTask,
  startRun,
} from "../tasks/run_task.ts";
import { holderOf } from "../folder/lock.ts";
import { LOCK_FILE } from "../folder/run_folder.ts";
import { RunFailure, UsageError } from "../program/errors.ts";
import { ClusterRuns } from "./cluster_runs.ts";
import {
  type ClusterScript,
  hasPython,
  scriptedPython,
} from "./testdata/scripted_ray.ts";

const test = testsWith("Python", hasPython);

const root = await Deno.makeTempDir({ prefix: "bellman-cluster-runs-" });
globalThis.addEventListener(
  "unload",
  () => Deno.removeSync(root, { recursive: true }),
);
let folders = 0;

const A2C = ["a2c", "--env", "CartPole-v1", "--steps", "6000"];
const SAC = ["sac", "--env", "Pendulum-v1", "--steps", "500"];
const EVERY: Record<string, number> = { a2c: 1000, sac: 100 };

function taskOf(
  words: readonly string[],
  dir = `${root}/${folders++}`,
): RunTask {
  const set = {
    checkpointInterval: EVERY[words[0]],
    logInterval: EVERY[words[0]],
    hiddenSizes: [8],
    evaluationEpisodes: 2,
    ...words[0] === "sac" && { learningStarts: 50 },
  };
  const [algorithm, , env, , steps] = words;
  const settings = resolveConfig(algorithm, {
    entries: [
      ...Object.entries({ env, totalTimesteps: Number(steps), seed: 1 }),
      ...Object.entries(set),
    ],
  });
  return { dir, settings, episodes: 2 };
}

/** A cluster that follows a script, and what it has told. */
async function clusterOf(script: ClusterScript = {}, cpusPerRun = 1) {
  const told: string[] = [];
  const runs = await ClusterRuns.open({
    cluster: JSON.stringify(script),
    python: scriptedPython(),
    cpusPerRun,
    onNotice: (line) => void told.push(line),
  });
  return { runs, told, [Symbol.asyncDispose]: () => runs.close() };
}

/** Makes a run on a cluster. */
async function made(task: RunTask, script: ClusterScript = {}) {
  await using cluster = await clusterOf(script);
  const events: RunEvent[] = [];
  const { ended } = cluster.runs.start(task, (it) => void events.push(it));
  return { end: await ended, events };
}

const WELL = { code: 0, signal: null, message: "", wasStopped: false };

function read(dir: string, name: string): string {
  return new TextDecoder("latin1").decode(Deno.readFileSync(`${dir}/${name}`));
}

/** Reads rows of a run's log, without what differs from one machine to another. */
function rowsOf(dir: string): string[] {
  const rows = read(dir, "progress.csv").trim().split("\n")
    .map((row) => row.split(","));
  const isTime = rows[0].map((name) => /seconds|per_second/.test(name));
  return rows.map((row) => row.filter((_, i) => !isTime[i]).join());
}

/** Makes a run here, once for all tests. */
const here = new Map<string, Promise<string>>();
function madeHere(words: readonly string[]): Promise<string> {
  const run = async () => {
    const task = taskOf(words);
    assertEquals(await startRun(task).ended, WELL);
    return task.dir;
  };
  const dir = here.get(words[0]) ?? run();
  here.set(words[0], dir);
  return dir;
}

async function assertAsHere(
  { dir }: RunTask,
  words: readonly string[],
): Promise<void> {
  const other = await madeHere(words);
  for (const name of ["policy.onnx", "episodes.csv"]) {
    assert(read(dir, name) === read(other, name), name);
  }
  assertEquals(rowsOf(dir), rowsOf(other));
  const [own, its] = [recordOf(dir)!, recordOf(other)!];
  const names = ["state", "reason", "step", "evaluations", "commit"] as const;
  for (const name of names) assertEquals(own[name], its[name]);
  assert(own.seconds > 0);
}

/** How often a run was lost, or its process killed. */
function resumesOf({ dir }: RunTask): number {
  return recordOf(dir)!.resumes;
}

/** Names below a folder that a run is in, and no run leaves. */
function strayNames(dir: string): string[] {
  return [...Deno.readDirSync(dir), ...Deno.readDirSync(`${dir}/checkpoints`)]
    .map(({ name }) => name).filter((name) => /tmp|lock/.test(name));
}

test("a run on a cluster is the run that it would be here", async () => {
  const task = taskOf(A2C);
  const { end, events } = await made(task);
  assertEquals(end, WELL);
  await assertAsHere(task, A2C);
  assert(events.some((it) => it.step === 6000 && it.statistics));
  assertEquals([strayNames(task.dir), resumesOf(task)], [[], 0]);
  const { dir } = task, other = await madeHere(A2C);
  const names = (it: string) =>
    [...Deno.readDirSync(`${it}/checkpoints`)].map(({ name }) => name).sort();
  assertEquals(names(dir), names(other));
  assertEquals(existsSync(`${dir}/${LOCK_FILE}`), false);
  // One that is whole is not made again.
  assertEquals((await made(task)).end, WELL);
});

for (const words of [A2C, SAC]) {
  test(`${words[0]}: a run whose node is lost twice ends as the run here`, async () => {
    const task = taskOf(words);
    const { end, events } = await made(task, { dies: [0, 1] });
    assertEquals(end, WELL);
    assertEquals(events.flatMap((it) => it.lost ?? []), [
      "its node was lost",
      "its node was lost",
    ]);
    assertEquals(resumesOf(task), 2);
    await assertAsHere(task, words);
  });
}

test("a run that is stopped saves itself, comes back and goes on", async () => {
  const task = taskOf(A2C.with(-1, "100000000"));
  await using cluster = await clusterOf();
  const stop = new AbortController();
  const { ended } = cluster.runs.start(task, ({ step }) => {
    if (step! > 3000) stop.abort();
  }, stop.signal);
  assert(holderOf(`${task.dir}/${LOCK_FILE}`));
  const { code, wasStopped } = await ended;
  assertEquals([code, wasStopped], [143, true]);
  const store = new CheckpointStore(`${task.dir}/checkpoints`);
  const saved = store.list().checkpoints.at(-1)!.step;
  assert(saved > 3000);
  assertEquals(holderOf(`${task.dir}/${LOCK_FILE}`), undefined);
  let first = Infinity;
  const again = cluster.runs.start(task, ({ step }) => {
    first = Math.min(first, step ?? Infinity);
    if (step !== undefined) again.kill();
  });
  const end = await again.ended;
  assertEquals([end.signal, end.wasStopped], ["SIGKILL", false]);
  assert(first > saved, `${first} after ${saved}`);
});

test("what a run fails with is told with the folder here", async () => {
  const { settings, ...task } = taskOf(A2C);
  const { end } = await made({
    ...task,
    settings: { ...settings, env: "none" },
  });
  assertEquals(end.code, 2);
  assertMatch(end.message, /^Unknown environment 'none'/);
});

test("a run that is lost again and again without progress has failed", async () => {
  const { end, events } = await made(taskOf(A2C), { stillborn: true });
  assertEquals(
    end.message,
    "it was lost 4 times without progress, and now its node was lost",
  );
  assertEquals([end.code, events.length], [1, 3]);
});

test("a run that waits for a CPU says so, and can be stopped", async () => {
  await using cluster = await clusterOf({ full: true, cpus: [4, 4] });
  const stop = new AbortController();
  const { ended } = cluster.runs.start(taskOf(A2C), () => {}, stop.signal);
  while (cluster.told.length === 0) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  stop.abort();
  const { code, wasStopped } = await ended;
  assertEquals([code, wasStopped], [143, true]);
  assertEquals(cluster.told, [
    "A run waits for a CPU: the cluster has 8, which are in use",
  ]);
});

test("where the connection to the cluster is lost, runs end and can be resumed", async () => {
  const task = taskOf(A2C);
  await assertRejects(
    () => made(task, { ends: true }),
    RunFailure,
    "The connection to the Ray cluster at ",
  );
  assertEquals(existsSync(`${task.dir}/${LOCK_FILE}`), false);
  assertEquals((await made(task)).end, WELL);
  await assertAsHere(task, A2C);
});

test("places are counted by nodes, and a cluster without a token is told of", async () => {
  await using cluster = await clusterOf({ cpus: [0, 5, 3], open: true }, 2);
  assertEquals(cluster.runs.places, 3);
  assertEquals(cluster.told.length, 1);
  assertMatch(cluster.told[0], /asks for no token/);
});

test("a cluster that cannot be used is refused in a sentence", async () => {
  const refused: [ClusterScript, number, RegExp][] = [
    [{ refusal: "Cannot reach it: nothing listens." }, 1, /^Cannot reach it/],
    [{ cpus: [4, 8] }, 9, /9 CPUs: no node of the cluster .* has more than 8/],
  ];
  for (const [script, cpus, message] of refused) {
    const error = await assertRejects(
      () => clusterOf(script, cpus),
      UsageError,
    );
    assertMatch(error.message, message);
  }
  const options = { cluster: "local", cpusPerRun: 1, onNotice: () => {} };
  await assertRejects(
    () => ClusterRuns.open({ ...options, python: "/none/python" }),
    UsageError,
    "Cannot start Python '/none/python': there is no such program",
  );
});

test("a node resumes no run that names code from elsewhere", async () => {
  const task = taskOf(A2C), { dir } = task;
  const own = await madeHere(A2C);
  const module = `${root}/evil.ts`, marker = `${root}/imported`;
  Deno.writeTextFileSync(
    module,
    `Deno.writeTextFileSync(${JSON.stringify(marker)}, "");\n`,
  );
  const naming = (text: string) =>
    text.replace("envModules: []", `envModules: ["${module}"]`);
  Deno.mkdirSync(`${dir}/checkpoints`, { recursive: true });
  const config = naming(Deno.readTextFileSync(`${own}/config.yaml`));
  Deno.writeTextFileSync(`${dir}/config.yaml`, config);
  const name = "checkpoints/best.safetensors";
  const { state, notes } = loadStateSync(`${own}/${name}`);
  const inner = notes.notes as { config: string };
  saveStateSync(state, `${dir}/${name}`, {
    notes: { ...notes, notes: { ...inner, config: naming(inner.config) } },
  });
  const { end } = await made(task);
  assertEquals([end.code, end.message], [
    2,
    `Cannot resume ${dir}: it may be somebody else's and would import file://${module}; read that code first, then add --trust`,
  ]);
  assertEquals(existsSync(marker), false);
});
