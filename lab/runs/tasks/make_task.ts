import { CheckpointStore } from "@bellman/training";
import { holderOf } from "../folder/lock.ts";
import { LOCK_FILE, RunFolder } from "../folder/run_folder.ts";
import { DiskFull } from "../program/errors.ts";
import { wasKilled } from "./job.ts";
import {
  DISK_FULL,
  type RunEvent,
  type RunTask,
  type StartRun,
  startRun,
} from "./run_task.ts";

/** Starts without progress before a run counts as failed. */
const MOST_LOST = 3;
/** Milliseconds between two checks of a lock. */
const LOOK_MS = 200;

/** End of a run: successful, stopped by the signal, or failed with a message. */
export type RunEnd = "done" | "stopped" | { code: number; message: string };

function latestStep(dir: string): number {
  const { checkpointsDir } = new RunFolder(dir);
  return new CheckpointStore(checkpointsDir).list().checkpoints.at(-1)?.step ??
    -1;
}

/** Waits until the run is unlocked: the process of a killed search may still be saving it. */
async function untilFree(
  dir: string,
  { signal, onNotice }: Pick<MakeTaskOptions, "signal" | "onNotice">,
): Promise<void> {
  let isTold = false;
  for (;;) {
    const holder = holderOf(`${dir}/${LOCK_FILE}`);
    if (holder === undefined || signal.aborted) return;
    if (!isTold) onNotice(`Waiting for ${holder}, which saves ${dir}`);
    isTold = true;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

/** Options of {@linkcode makeTask}. */
export interface MakeTaskOptions {
  /** Saves and stops the run. */
  signal: AbortSignal;
  /** Ends the run at once: it was pruned. */
  pruned?: AbortSignal;
  /** Receives its progress. */
  onEvent?: (event: RunEvent) => void;
  /** Receives lines for the user. */
  onNotice: (line: string) => void;
  /** Starts its job; in a process of this machine by default. */
  start?: StartRun;
}

/**
 * Makes a run in a job. If a signal ends the job, as when memory is short, the run is
 * resumed, unless that happens repeatedly.
 *
 * @param task Run to make.
 * @param options Abort signals and receivers.
 * @throws {DiskFull} If the disk is full: other runs would fail too.
 *
 * @example
 * ```ts
 * import { resolveConfig } from "@bellman/runs/settings";
 * import { makeTask } from "@bellman/runs/tasks";
 * import { assertEquals } from "@std/assert";
 *
 * const dir = `${await Deno.makeTempDir()}/run`;
 * const settings = resolveConfig("a2c", { entries: [] });
 * // Nothing is begun after the signal.
 * const options = { signal: AbortSignal.abort(), onNotice: console.error };
 * assertEquals(await makeTask({ dir, settings }, options), "stopped");
 * ```
 */
export async function makeTask(
  task: RunTask,
  options: MakeTaskOptions,
): Promise<RunEnd> {
  const { signal, pruned, onEvent, onNotice, start = startRun } = options;
  const hear = (event: RunEvent) => {
    const { lost } = event;
    if (lost !== undefined) {
      onNotice(`${task.dir}: ${lost}; it is resumed elsewhere`);
    }
    onEvent?.(event);
  };
  for (let lost = 0;;) {
    await untilFree(task.dir, options);
    if (signal.aborted || pruned?.aborted) return "stopped";
    const before = latestStep(task.dir);
    const { ended, kill } = start(task, hear, signal);
    pruned?.addEventListener("abort", kill);
    const end = await ended;
    pruned?.removeEventListener("abort", kill);
    if (end.code === 0) return "done";
    if (end.wasStopped || pruned?.aborted) return "stopped";
    if (!wasKilled(end)) {
      const { code, message } = end;
      // All other runs would fail too; with more room this one may not.
      if (code === DISK_FULL) throw new DiskFull(message);
      return { code, message };
    }
    lost = latestStep(task.dir) > before ? 0 : lost + 1;
    const by = end.signal ?? "a signal";
    if (lost < MOST_LOST) {
      onNotice(`${task.dir} was ended by ${by}; it is resumed`);
      continue;
    }
    return {
      code: 1,
      message:
        `its process was ended by ${by} ${MOST_LOST} times without progress, as where memory is short`,
    };
  }
}
