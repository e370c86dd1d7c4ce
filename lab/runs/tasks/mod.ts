/**
 * Runs in separate processes: tasks, jobs and their ends.
 *
 * @example
 * ```ts
 * import { resolveConfig } from "@bellman/runs/settings";
 * import { hasEnded, makeTask, recordOf } from "@bellman/runs/tasks";
 * import { assert, assertEquals } from "@std/assert";
 *
 * const dir = `${await Deno.makeTempDir()}/run`;
 * const entries: [string, unknown][] = [["totalTimesteps", 100], ["seed", 3]];
 * const settings = resolveConfig("a2c", { entries });
 * const { signal } = new AbortController();
 * const end = await makeTask({ dir, settings, episodes: 2 }, {
 *   signal,
 *   onNotice: console.error,
 * });
 * assertEquals(end, "done");
 * assert(hasEnded(recordOf(dir)));
 * ```
 *
 * @module
 */
export { commitOf } from "./commit.ts";
export {
  checkJobs,
  eachLine,
  inPlaces,
  type JobEnd,
  type RunningJob,
} from "./job.ts";
export { makeTask, type MakeTaskOptions, type RunEnd } from "./make_task.ts";
export {
  type EndedRun,
  type Evaluation,
  evaluationIn,
  hasEnded,
  readReturns,
  recordOf,
  type RunEvent,
  type RunTask,
  type StartRun,
} from "./run_task.ts";
