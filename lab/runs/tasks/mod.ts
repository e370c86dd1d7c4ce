/**
 * Runs in processes of their own: tasks, jobs and how they end.
 *
 * @module
 */
export { commitOf } from "./commit.ts";
export { eachLine, inPlaces } from "./job.ts";
export { makeTask, type RunEnd } from "./make_task.ts";
export {
  type Evaluation,
  evaluationIn,
  hasEnded,
  lockOf,
  readReturns,
  recordOf,
  type RunEvent,
  type RunTask,
  type StartRun,
} from "./run_task.ts";
