/**
 * Runs: train, resume, evaluate, list and load them; run folders with their records and
 * locks. Tensor libraries are loaded only when an agent is.
 *
 * @example
 * ```ts
 * import { listRuns, openRun, trainRun } from "@bellman/runs";
 * import { assertEquals } from "@std/assert";
 *
 * const root = await Deno.makeTempDir();
 * const settings = { algorithm: "a2c", env: "CartPole-v1", totalTimesteps: 100 };
 * await trainRun(settings, { dir: `${root}/first` });
 * const [{ dir, state }] = await listRuns(root);
 * assertEquals([state, openRun(dir).settings.env], ["ended", "CartPole-v1"]);
 * ```
 *
 * @module
 */
export {
  type CurveRows,
  readCurves,
  type ReadCurvesOptions,
  readLatest,
} from "./folder/curves.ts";
export { type InsideFile, type OpenFile, openInside } from "./folder/inside.ts";
export { RecordKeeper } from "./folder/keeper.ts";
export {
  type FolderKind,
  type FolderState,
  type ListedFolder,
  listRuns,
  type ListRunsOptions,
} from "./folder/list.ts";
export { holderOf, lockFile, lockRun, type RunLock } from "./folder/lock.ts";
export {
  parseRecord,
  readRecord,
  type RecordedCheckpoint,
  type RecordedEvaluation,
  type RecordPlace,
  type RunRecord,
  type RunSettings,
  type RunState,
  writeRecord,
} from "./folder/record.ts";
export {
  createRunFolder,
  type CreateRunFolderOptions,
  LOCK_FILE,
  openRunFolder,
  RunFolder,
} from "./folder/run_folder.ts";
export {
  loadRun,
  openRun,
  type OpenRunOptions,
  type ResumeRunOptions,
  Run,
  trainRun,
} from "./run.ts";
export type {
  EvaluateRunOptions,
  LoadedRun,
  LoadRunOptions,
} from "./training/load_run.ts";
export type { TrainRunOptions } from "./training/train_run.ts";
export type { RunOutput } from "./training/training_run.ts";
export type { CheckpointChoice } from "./training/saved_run.ts";
export type { Normalization } from "./training/scaled_environments.ts";
export type { ClusterOptions } from "./settings/cluster.ts";
export type { ResolvedConfig } from "./settings/resolve.ts";
export type { RunConfig } from "./settings/run_config.ts";
export { UsageError } from "./program/usage_error.ts";
