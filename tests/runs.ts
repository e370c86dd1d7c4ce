/** Runs of the command line for tests, and what they leave. */
import type { ALGORITHMS } from "@bellman/runs/settings";
import { loadStateSync, saveStateSync } from "@bellman/files";
import {
  readRecord,
  RunFolder,
  type RunRecord,
  writeRecord,
} from "@bellman/runs";
import { CheckpointStore, readProgress } from "@bellman/training";
import type { StateTree } from "@bellman/types";
import { assertEquals } from "@std/assert";
import { capture, type Captured } from "../cli/testdata/capture.ts";
import { runDeno } from "./testdata/run_deno.ts";

const MAIN = new URL("../cli/main.ts", import.meta.url).pathname;

/** Names of the algorithms that take no other actions than those of a box. */
export const BOX_ONLY: readonly string[] = ["sac-v1", "td3", "ddpg"];

/** Settings of a small run of an algorithm. */
export function smallSettings(
  { meta: { smallConfig = {} }, startWorkers }: (typeof ALGORITHMS)[number],
): string[] {
  const own = Object.entries(smallConfig)
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`);
  return startWorkers
    ? ["numEnvs=1", "workers=2", ...own]
    : ["numEnvs=2", ...own];
}

/** `train` in a separate process, with variables of its environment. */
export function trainProcess(
  args: readonly string[],
  env: Record<string, string> = {},
): Deno.Command {
  return new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "-q", "--no-check", MAIN, "train", ...args],
    stdout: "piped",
    stderr: "piped",
    env: { NO_COLOR: "1", ...env },
  });
}

/** Module of {@link killMidway}, to be named in `algorithmModules`. */
export const KILLER = new URL("testdata/killer.ts", import.meta.url).pathname;

/** Trains a run that is killed after some steps. */
export async function killMidway(
  args: readonly string[],
  after: number,
  env: Record<string, string> = {},
): Promise<void> {
  const killed = trainProcess(args, { KILL_AFTER: String(after), ...env });
  const { signal, stderr } = await killed.output();
  assertEquals(signal, "SIGKILL", new TextDecoder().decode(stderr));
}

/** A command line in a separate process, at most two minutes long unless told. */
export function runProcess(
  args: readonly string[],
  options: Pick<Deno.CommandOptions, "env" | "cwd" | "stdin" | "signal"> = {},
): Promise<Captured> {
  const signal = AbortSignal.timeout(120_000);
  return runDeno(["-A", MAIN, ...args], { signal, ...options });
}

/** `train` in this process. */
export function train(args: readonly string[]): Promise<Captured> {
  return runCommand(["train", ...args]);
}

/** A command line in this process. */
export function runCommand(args: readonly string[]): Promise<Captured> {
  return capture(...args);
}

/** `train` in this process, which must go well. */
export async function trainWell(args: readonly string[]): Promise<Captured> {
  const ending = await train(args);
  assertEquals(ending.code, 0, ending.err);
  return ending;
}

/** Copies a run folder, and returns the new one. */
export function copyRun(from: string, to: string): string {
  Deno.mkdirSync(to, { recursive: true });
  for (const { name, isDirectory } of Deno.readDirSync(from)) {
    if (isDirectory) copyRun(`${from}/${name}`, `${to}/${name}`);
    else Deno.copyFileSync(`${from}/${name}`, `${to}/${name}`);
  }
  return to;
}

/** Changes the record of a run. */
export function editRecord(
  dir: string,
  change: (record: RunRecord) => Partial<RunRecord>,
): void {
  const folder = new RunFolder(dir), record = readRecord(folder)!;
  writeRecord(folder, { ...record, ...change(record) });
}

/** Paths of a folder, and the times of its files. */
export function filesUnder(root: string): string[] {
  return [...Deno.readDirSync(root)].flatMap(({ name, isDirectory }) => {
    const path = `${root}/${name}`;
    return isDirectory
      ? [path, ...filesUnder(path)]
      : [`${path} ${Deno.statSync(path).mtime?.getTime()}`];
  }).sort();
}

/** Makes a run that has ended as it was before its last evaluation, in which it was killed. */
export function leaveUnevaluated(dir: string): void {
  editRecord(dir, ({ evaluations: { during } }) => ({
    state: "running",
    reason: undefined,
    evaluations: { during },
  }));
}

/** Changes the configuration that a run's checkpoints were made with. */
export function editCheckpoints(
  dir: string,
  edit: (config: string) => string,
  editState: (state: StateTree) => void = () => {},
): void {
  for (const { name } of Deno.readDirSync(`${dir}/checkpoints`)) {
    const path = `${dir}/checkpoints/${name}`;
    const { state, notes } = loadStateSync(path);
    const inner = notes.notes as { config: string };
    const changed = { ...inner, config: edit(inner.config) };
    editState(state);
    saveStateSync(state, path, { notes: { ...notes, notes: changed } });
  }
}

/** A logged file without the columns that tell the time. */
function withoutClock(text: string): string {
  const [header, ...rows] = text.trimEnd().split("\n").map((it) =>
    it.split(",")
  );
  const kept = header.map((name, i): [string, number] => [name, i])
    .filter(([name]) => !/^time\/(seconds|steps_per_second)$/.test(name));
  return [header, ...rows].map((row) => kept.map(([, i]) => row[i]).join(","))
    .join("\n");
}

/** What a run leaves but the time it took. */
export interface Remains {
  state: StateTree;
  /** None of a run that evaluated at its end alone. */
  best?: StateTree;
  /** Names of the best one's files. */
  files: string[];
  episodes: string;
  progress: string;
  /** What its record says of it. */
  record: Pick<
    RunRecord,
    "state" | "reason" | "step" | "updates" | "episodes" | "evaluations"
  >;
}

/** The state of a checkpoint without the time that it took, and places in a file. */
export function stateOf(dir: string, which: "latest" | "best"): StateTree {
  const { state } = new CheckpointStore(`${dir}/checkpoints`).load(which);
  const { loop, algorithm } = state as Record<
    string,
    Record<string, StateTree>
  >;
  delete loop.elapsedSeconds;
  type Replay = { storage?: { places?: StateTree }; replay?: Replay } | null;
  // Rows lie in a file as it has room.
  const experience = algorithm.experience as Replay;
  for (const it of [experience, experience?.replay]) delete it?.storage?.places;
  return state;
}

/** What a run logged, without the time that it took. */
export function logsOf(dir: string): Pick<Remains, "episodes" | "progress"> {
  return {
    episodes: Deno.readTextFileSync(`${dir}/episodes.csv`),
    progress: withoutClock(Deno.readTextFileSync(`${dir}/progress.csv`)),
  };
}

/** Asserts that the record of a run has the evaluations of its log. */
export function assertEvaluations(dir: string): void {
  const { recordPath, progressPath } = new RunFolder(dir);
  const { during } = readRecord({ recordPath })!.evaluations;
  const rows = readProgress(progressPath)
    .filter(({ statistics }) => statistics["eval/return_mean"] !== undefined);
  assertEquals(
    during.map((it) => [it.step, it.meanReturn, it.stdReturn]),
    rows.map(({ step, statistics: it }) => [
      ...[step, it["eval/return_mean"], it["eval/return_std"]],
    ]),
  );
}

/** Reads the record of a run, which must name the checkpoints that there are. */
function recordOf(dir: string): Remains["record"] {
  const folder = new RunFolder(dir), record = readRecord(folder)!;
  const { state, reason, step, updates, episodes, evaluations } = record;
  const { checkpoints, best } = new CheckpointStore(folder.checkpointsDir)
    .list();
  assertEquals(
    record.checkpoints,
    [...checkpoints, ...best ? [best] : []].map(({ step, path }) => ({
      step,
      file: path.slice(dir.length + 1),
      sha256: Deno.readFileSync(path).slice(-32).toHex(),
    })),
  );
  return { state, reason, step, updates, episodes, evaluations };
}

/** Reads what a run leaves. */
export function remainsOf(dir: string): Remains {
  const { best } = new CheckpointStore(`${dir}/checkpoints`).list();
  return {
    state: stateOf(dir, "latest"),
    best: best && stateOf(dir, "best"),
    files: [...Deno.readDirSync(`${dir}/checkpoints`)].map(({ name }) => name)
      .filter((name) => name.startsWith("best")).sort(),
    ...logsOf(dir),
    record: recordOf(dir),
  };
}

/** Resumes a copy of a run from one of its checkpoints: it must end alike. */
export async function assertResumes(dir: string, step: number): Promise<void> {
  const stopped = `${dir}-stopped`;
  copyRun(dir, stopped);
  leaveUnevaluated(stopped);
  new CheckpointStore(`${stopped}/checkpoints`).truncate(step);
  await trainWell(["--resume", stopped, "--quiet"]);
  assertEquals(remainsOf(stopped), remainsOf(dir));
  assertEvaluations(stopped);
}
