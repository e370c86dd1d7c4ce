import { lockRun } from "../folder/lock.ts";
import type { RunRecord } from "../folder/record.ts";
import { RunFolder } from "../folder/run_folder.ts";
import { CheckpointStore } from "@bellman/training";
import { mkdirSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { registerLogger } from "../settings/loggers.ts";
import { commitOf } from "./commit.ts";
import {
  DISK_FULL,
  hasEnded,
  recordOf,
  type RunEvent,
  type RunTask,
} from "./run_task.ts";
import { beginRun, type Output } from "../training/begin_training.ts";
import { resumeRun } from "../training/resume.ts";
import { guarded, notices } from "../program/guarded.ts";
import { isDiskFull, RunFailure } from "../program/errors.ts";
import { exitCodeOf, interruptSignal, processIo } from "../program/process.ts";

function tell(event: RunEvent): void {
  processIo().out(`${JSON.stringify(event)}\n`);
}

/** Milliseconds between two progress reports. */
const INTERVAL_MS = 500;

/** Sends steps and evaluations of the run to the parent process. */
function tellProgress(): void {
  registerLogger(() => {
    // All arrays of the run exist by now.
    const { rss, external } = Deno.memoryUsage();
    tell({ memory: Math.max(rss, external) });
    let lastReport = -Infinity;
    return {
      write({ step, statistics }) {
        const time = performance.now();
        const isEvaluation = "eval/return_mean" in statistics;
        if (!isEvaluation && time - lastReport < INTERVAL_MS) return;
        lastReport = time;
        tell(isEvaluation ? { step, statistics } : { step });
      },
      close() {},
    };
  });
}

/** Returns true if a run is finished as its task requires. */
function isDone(
  record: RunRecord | undefined,
  { episodes }: RunTask,
): boolean {
  if (!hasEnded(record)) return false;
  return [undefined, record.evaluations.last.episodes].includes(episodes);
}

/** Removes the folder of a run that could not start. */
function leaveNothing(dir: string): void {
  try {
    rmdirSync(dir);
  } catch {
    // It contains the run.
  }
}

/** Removes everything of a run without checkpoints but its lock file. */
function clear(dir: string): void {
  for (const name of readdirSync(dir)) {
    if (name === "run.lock") continue;
    rmSync(`${dir}/${name}`, { recursive: true, force: true });
  }
}

/** Starts the run, or resumes it. */
async function trainRun(task: RunTask, output: Output): Promise<void> {
  const { dir, settings, isTrusted, episodes: finalEpisodes } = task;
  const before = recordOf(dir);
  if (isDone(before, task)) return;
  tellProgress();
  const { checkpointsDir } = new RunFolder(dir);
  const { best, checkpoints } = new CheckpointStore(checkpointsDir).list();
  const options = { finalEpisodes, isLocked: true, evaluatesAgain: true };
  if (best !== undefined || checkpoints.length > 0) {
    const isKilled = before?.state === "running";
    await resumeRun(dir, output, { ...options, isTrusted, isKilled });
    return;
  }
  clear(dir);
  const commit = task.commit ?? await commitOf(Deno.cwd());
  await beginRun(settings, output, { ...options, out: dir, commit });
}

/**
 * Makes a run: starts it, or resumes a killed one, up to its final evaluations.
 *
 * @param task Run to make.
 * @returns Exit code, as of commands; {@linkcode DISK_FULL} if the disk is full.
 */
export async function makeRun(task: RunTask): Promise<number> {
  const { dir } = task;
  const io = processIo();
  let isFull = false;
  const code = await guarded(io, async () => {
    mkdirSync(dir, { recursive: true });
    const lock = lockRun(dir);
    const { signal, release } = await interruptSignal(() => {});
    try {
      await trainRun(task, { onNotice: notices(io), signal, quiet: true });
      if (signal.aborted) return exitCodeOf(signal);
      if (isDone(recordOf(dir), task)) return 0;
      throw new RunFailure(
        `Cannot evaluate ${dir}: a mean return is no number`,
      );
    } catch (error) {
      isFull = isDiskFull(error);
      throw error;
    } finally {
      await release();
      lock.release();
      leaveNothing(dir);
    }
  });
  return isFull ? DISK_FULL : code;
}
