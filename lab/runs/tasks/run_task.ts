import { formerRecord } from "../folder/former_run.ts";
import {
  readRecord,
  type RecordedEvaluation,
  type RunRecord,
  toJson,
} from "../folder/record.ts";
import { RunFolder } from "../folder/run_folder.ts";
import { existsSync } from "node:fs";
import type { ResolvedConfig } from "../settings/resolve.ts";
import { savedConfigOf } from "../training/saved_run.ts";
import { type Job, type RunningJob, startJob } from "./job.ts";

/** Run for a job: to start or resume, and to evaluate. */
export interface RunTask {
  /** Run folder. */
  dir: string;
  /** Settings of the run. */
  settings: ResolvedConfig;
  /** Trust code and links of others when it is resumed. */
  isTrusted?: boolean;
  /**
   * Commit of the code.
   *
   * @default that of the folder that the job works in
   */
  commit?: string;
  /**
   * Number of episodes of the final evaluations.
   *
   * @default as in evaluations during training
   */
  episodes?: number;
}

/** Progress of a job's run: steps, an evaluation, or memory. */
export interface RunEvent {
  /** Environment steps so far. */
  step?: number;
  /** Statistics of an evaluation, such as `eval/return_mean`. */
  statistics?: Readonly<Record<string, number>>;
  /** Bytes of memory, once its agent exists. */
  memory?: number;
  /** Reason why its machine was lost; it is resumed on another one. */
  lost?: string;
}

/** Exit code of a job when the disk is full, or the quota exceeded. */
export const DISK_FULL = 74;

/**
 * Reads the record of a run, or makes it for a run of an older version.
 *
 * @param dir Run folder.
 * @param onNotice Receives a line about a log that cannot be read, if there is no
 * record.
 * @returns Undefined if there is no run, or none that can be read.
 *
 * @example
 * ```ts
 * import { recordOf } from "@bellman/runs/tasks";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(recordOf("runs/missing"), undefined);
 * ```
 */
export function recordOf(
  dir: string,
  onNotice?: (line: string) => void,
): RunRecord | undefined {
  if (!existsSync(dir)) return undefined;
  const folder = new RunFolder(dir);
  try {
    const record = readRecord(folder);
    if (record !== undefined) return record;
  } catch (error) {
    // Other files describe it, unless a newer version wrote it.
    if (error instanceof RangeError) throw error;
  }
  const config = savedConfigOf(dir);
  return config && formerRecord(folder, config, onNotice);
}

/** Finished run with the evaluations of its last and its best agent. */
export type EndedRun = RunRecord & {
  evaluations: { last: RecordedEvaluation; best: RecordedEvaluation };
};

/**
 * Returns true for a finished run whose agents were evaluated.
 *
 * @example
 * ```ts
 * import { trainRun } from "@bellman/runs";
 * import { hasEnded } from "@bellman/runs/tasks";
 * import { assert } from "@std/assert";
 *
 * const dir = `${await Deno.makeTempDir()}/run`;
 * const settings = { algorithm: "a2c", totalTimesteps: 100 };
 * const { record } = await trainRun(settings, { dir });
 * assert(hasEnded(record) && record.evaluations.best.meanReturn > 0);
 * ```
 */
export function hasEnded(record: RunRecord | undefined): record is EndedRun {
  const { last, best } = record?.evaluations ?? {};
  return record?.state === "ended" &&
    [last, best].every((it) => Number.isFinite(it?.meanReturn));
}

/** Evaluation during training. */
export interface Evaluation {
  /** Environment steps so far. */
  step: number;
  /** Mean return of its episodes, or its score. */
  value: number;
}

const RETURN = "eval/return_mean";

/**
 * Returns the evaluation in an event or a row; undefined if there is none.
 *
 * @example
 * ```ts
 * import { evaluationIn } from "@bellman/runs/tasks";
 * import { assertEquals } from "@std/assert";
 *
 * const row = { step: 80, statistics: { "eval/return_mean": 21 } };
 * assertEquals(evaluationIn(row), { step: 80, value: 21 });
 * assertEquals(evaluationIn({ step: 80 }), undefined);
 * ```
 */
export function evaluationIn(
  { step, statistics }: Pick<RunEvent, "step" | "statistics">,
): Evaluation | undefined {
  const value = statistics?.[RETURN];
  return Number.isFinite(step) && Number.isFinite(value)
    ? { step: step!, value: value! }
    : undefined;
}

/**
 * Reads the evaluations during the training of a run.
 *
 * @example
 * ```ts
 * import { trainRun } from "@bellman/runs";
 * import { readReturns } from "@bellman/runs/tasks";
 * import { assertEquals } from "@std/assert";
 *
 * const dir = `${await Deno.makeTempDir()}/run`;
 * await trainRun({ algorithm: "a2c", totalTimesteps: 100 }, { dir });
 * assertEquals(readReturns(dir)[0].step, 8);
 * ```
 */
export function readReturns(
  dir: string,
  onNotice?: (line: string) => void,
): Evaluation[] {
  return (recordOf(dir, onNotice)?.evaluations.during ?? [])
    .map(({ step, meanReturn }) => ({ step, value: meanReturn }))
    .filter(({ value }) => Number.isFinite(value));
}

/** Program of a run's job. */
export const RUN_PROGRAM: string = import.meta.resolve("./run_job.ts");

/** Parses a line of a job's output. */
export function hearLine(
  line: string,
  onEvent: (event: RunEvent) => void,
): void {
  // Modules of the user may print too.
  if (line.startsWith('{"')) onEvent(JSON.parse(line));
}

/**
 * Returns the job that makes a run.
 *
 * @param task Run to make.
 * @param onEvent Receives its progress.
 */
export function runJob(
  task: RunTask,
  onEvent: (event: RunEvent) => void = () => {},
): Job {
  return {
    program: RUN_PROGRAM,
    args: [toJson(task)],
    onLine: (line) => hearLine(line, onEvent),
  };
}

/**
 * Starts a run.
 *
 * @param task Run to make.
 * @param onEvent Receives its progress.
 * @param signal Saves and stops it.
 */
export type StartRun = (
  task: RunTask,
  onEvent?: (event: RunEvent) => void,
  signal?: AbortSignal,
) => RunningJob;

/** Starts a run in a process of this machine. */
export const startRun: StartRun = (task, onEvent, signal) =>
  startJob(runJob(task, onEvent), signal);
