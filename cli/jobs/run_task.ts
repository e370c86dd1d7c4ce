import { readProgress, RunFolder } from "@bellman/training";
import { existsSync, mkdirSync } from "node:fs";
import { readText } from "../terminal/read_text.ts";
import { writeWhole } from "../terminal/errors.ts";
import { type Job, type RunningJob, startJob } from "./job.ts";

/** A run to be made by a job: begun or resumed, and evaluated where that is wanted. */
export interface RunTask {
  /** The run folder. */
  dir: string;
  /** Command line that begins it, from `train` on, without `--out`. */
  train: readonly string[];
  /** Other options of the command that resumes it. */
  resume?: readonly string[];
  /**
   * Commit of the code.
   *
   * @default that of the folder that the job works in
   */
  commit?: string;
  /** Evaluations of the last policy and the best checkpoint, once it is trained. */
  evaluation?: {
    episodes: number;
    /** Seed of the episodes. */
    seed: number;
  };
}

/** Progress of a job's run: its steps, some a second, an evaluation, or its memory. */
export interface RunEvent {
  /** Environment steps so far. */
  step?: number;
  /** Statistics of an evaluation, such as `eval/return_mean`. */
  statistics?: Readonly<Record<string, number>>;
  /** Bytes of memory, once its agent is made. */
  memory?: number;
  /** Why it was lost on the machine where it was made; it is resumed on another one. */
  lost?: string;
}

/** A policy, evaluated on episodes that neither training nor the choice of the best checkpoint saw. */
export interface EvaluatedPolicy {
  /** Environment steps after which it was saved. */
  step: number;
  /** Mean of its episodes' returns. */
  meanReturn: number;
  /** Standard deviation of its episodes' returns (of the population). */
  stdReturn: number;
  /** Share of its episodes that reached their goal; none where no environment tells. */
  successRate?: number;
}

/** Contents of {@linkcode EVALUATIONS_FILE}: the run is whole where there are any. */
export interface RunEvaluations {
  /** Episodes that each policy played, and their seed. */
  episodes: number;
  seed: number;
  /** Environment steps of the training. */
  steps: number;
  /** Seconds of the training, its evaluations included. */
  seconds: number;
  /** Commit of the folder that it was trained in; empty where that is no repository. */
  commit: string;
  /** The policy at the end of training. */
  last: EvaluatedPolicy;
  /** The checkpoint with the highest of the evaluations during training. */
  best: EvaluatedPolicy;
}

/** File in a run's folder with the evaluations of its task. */
export const EVALUATIONS_FILE = "evaluations.json";

/** Reads the evaluations of a run's task; undefined where there are none that are whole. */
export function readEvaluations(dir: string): RunEvaluations | undefined {
  const path = `${dir}/${EVALUATIONS_FILE}`;
  if (!existsSync(path)) return undefined;
  try {
    const found = JSON.parse(readText(path, "the evaluations"));
    const numbers = [found.steps, found.last.meanReturn, found.best.meanReturn];
    return numbers.every(Number.isFinite) ? found : undefined;
  } catch {
    // It is evaluated once more.
    return undefined;
  }
}

/** Seed of a run's final evaluations: neither training nor its evaluations have it. */
export function evaluationSeed(seed: number): number {
  return 1_000_000 + seed;
}

/** Path of the lock that a job has on its run, whose folder may not exist yet. */
export function lockOf(dir: string): string {
  return `${dir}.lock`;
}

/** Reads the rows of a run's log, of which there are none before it is begun. */
function rowsOf(dir: string): ReturnType<typeof readProgress> {
  const { progressPath } = new RunFolder(dir);
  return existsSync(progressPath) ? readProgress(progressPath) : [];
}

/** Reads the environment steps and the seconds of a run's training so far. */
export function trainedSoFar(dir: string): { steps: number; seconds: number } {
  const last = rowsOf(dir).findLast(({ statistics }) =>
    Number.isFinite(statistics["time/seconds"])
  );
  return {
    steps: last?.step ?? 0,
    seconds: last?.statistics["time/seconds"] ?? 0,
  };
}

/** An evaluation of a run during its training. */
export interface Evaluation {
  /** Environment steps so far. */
  step: number;
  /** Mean return of its episodes, or the score of that. */
  value: number;
}

const RETURN = "eval/return_mean";

/** Returns the evaluation of a row of a run's log, if it has one. */
export function evaluationIn(
  { step, statistics }: Pick<RunEvent, "step" | "statistics">,
): Evaluation | undefined {
  const value = statistics?.[RETURN];
  return Number.isFinite(step) && Number.isFinite(value)
    ? { step: step!, value: value! }
    : undefined;
}

/** Reads the evaluations of a run so far. */
export function readReturns(dir: string): Evaluation[] {
  return rowsOf(dir).map(evaluationIn).filter((it) => it !== undefined);
}

/** File in a run's folder with the number of its resumes. */
const RESUMES_FILE = "resumes.txt";

/** Reads how often a run was lost, or its process killed, and then resumed. */
export function readResumes(dir: string): number {
  const path = `${dir}/${RESUMES_FILE}`;
  if (!existsSync(path)) return 0;
  return Number.parseInt(readText(path, "the number of resumes")) || 0;
}

/** Counts that a run is resumed which was lost, or its process killed. */
export function countResume(dir: string): void {
  mkdirSync(dir, { recursive: true });
  writeWhole(`${dir}/${RESUMES_FILE}`, `${readResumes(dir) + 1}\n`);
}

/** Program of the job of a run. */
export const RUN_PROGRAM: string = import.meta.resolve("../run_job.ts");

/** Takes what a line that a job has printed tells, if it does. */
export function hearLine(
  line: string,
  onEvent: (event: RunEvent) => void,
): void {
  // Modules of the user's own may print, too.
  if (line.startsWith('{"')) onEvent(JSON.parse(line));
}

/** Makes the job of a run. */
export function runJob(
  task: RunTask,
  onEvent: (event: RunEvent) => void = () => {},
): Job {
  return {
    program: RUN_PROGRAM,
    args: [JSON.stringify(task)],
    onLine: (line) => hearLine(line, onEvent),
  };
}

/** Starts the job of a run, which the signal stops. */
export type StartRun = (
  task: RunTask,
  onEvent?: (event: RunEvent) => void,
  signal?: AbortSignal,
) => RunningJob;

/** Starts the job of a run in a process of this machine. */
export const startRun: StartRun = (task, onEvent, signal) =>
  startJob(runJob(task, onEvent), signal);
