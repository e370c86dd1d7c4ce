import { lockRun, RunFolder, type RunRecord } from "@bellman/runs";
import { CheckpointStore } from "@bellman/training";
import { mkdirSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { registerLogger } from "./config/loggers.ts";
import { commitOf } from "./jobs/commit.ts";
import {
  DISK_FULL,
  hasEnded,
  recordOf,
  type RunEvent,
  type RunTask,
} from "./jobs/run_task.ts";
import { beginRun, type Output } from "./run/begin_training.ts";
import { resumeRun } from "./run/resume.ts";
import { guarded } from "./terminal/guarded.ts";
import { isDiskFull, RunFailure } from "./terminal/errors.ts";
import { interruptSignal, processIo } from "./terminal/process.ts";

function tell(event: RunEvent): void {
  processIo().out(`${JSON.stringify(event)}\n`);
}

/** Milliseconds between two rows that tell how far a run is. */
const INTERVAL_MS = 500;

/** Sends steps and evaluations of the run to the process that started this one. */
function tellProgress(): void {
  registerLogger(() => {
    // All arrays of the run are made by now.
    const { rss, external } = Deno.memoryUsage();
    tell({ memory: Math.max(rss, external) });
    let told = -Infinity;
    return {
      write({ step, statistics }) {
        const time = performance.now();
        const isEvaluation = "eval/return_mean" in statistics;
        if (!isEvaluation && time - told < INTERVAL_MS) return;
        told = time;
        tell(isEvaluation ? { step, statistics } : { step });
      },
      close() {},
    };
  });
}

/** True where a run is as its task wants it. */
function isDone(
  record: RunRecord | undefined,
  { episodes }: RunTask,
): boolean {
  if (!hasEnded(record)) return false;
  return [undefined, record.evaluations.last.episodes].includes(episodes);
}

/** Removes the folder of a run that could not begin. */
function leaveNothing(dir: string): void {
  try {
    rmdirSync(dir);
  } catch {
    // It holds the run.
  }
}

/** Removes all of a run that has nothing to lose, but the file of its lock. */
function clear(dir: string): void {
  for (const name of readdirSync(dir)) {
    if (name === "run.lock") continue;
    rmSync(`${dir}/${name}`, { recursive: true, force: true });
  }
}

/** Begins the run, or resumes it from where it is. */
async function trainRun(task: RunTask, output: Output): Promise<number> {
  const { dir, settings, isTrusted, episodes: finalEpisodes } = task;
  const before = recordOf(dir);
  if (isDone(before, task)) return 0;
  tellProgress();
  const { checkpointsDir } = new RunFolder(dir);
  const { best, checkpoints } = new CheckpointStore(checkpointsDir).list();
  const options = { finalEpisodes, isLocked: true, evaluatesAgain: true };
  if (best !== undefined || checkpoints.length > 0) {
    const isKilled = before?.state === "running";
    return await resumeRun(dir, output, { ...options, isTrusted, isKilled });
  }
  clear(dir);
  const commit = task.commit ?? await commitOf(Deno.cwd());
  return await beginRun(settings, output, { ...options, out: dir, commit });
}

/**
 * Makes a run: begins it, or resumes what a killed process has left, to the
 * evaluations at its end.
 *
 * @param task The run.
 * @returns The exit code, as commands have it; {@linkcode DISK_FULL} where a file of
 * it has no room.
 */
export async function makeRun(task: RunTask): Promise<number> {
  const { dir } = task;
  const io = {
    ...processIo(),
    ...{ out: () => {}, errIsTerminal: false, outIsTerminal: false },
  };
  let isFull = false;
  const code = await guarded(io, async () => {
    mkdirSync(dir, { recursive: true });
    const lock = lockRun(dir);
    const { signal, release } = await interruptSignal(() => {});
    try {
      const code = await trainRun(task, { io, signal, quiet: true });
      if (code !== 0 || isDone(recordOf(dir), task)) return code;
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
  }, { hints: false });
  return isFull ? DISK_FULL : code;
}
