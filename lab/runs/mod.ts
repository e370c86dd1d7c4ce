/**
 * Runs: trained, resumed, evaluated, listed and loaded; their folders, the record of
 * each, and the lock of whoever trains. What acts is loaded where an agent is asked
 * for.
 *
 * @example
 * ```ts
 * import { listRuns, openRun, trainRun } from "@bellman/runs";
 * import { assertEquals } from "@std/assert";
 *
 * const root = await Deno.makeTempDir();
 * const settings = { algorithm: "a2c", env: "CartPole-v1", totalTimesteps: 400 };
 * await trainRun(settings, { dir: `${root}/first` });
 * const [{ dir, state }] = await listRuns(root);
 * assertEquals([state, openRun(dir).record.step], ["ended", 400]);
 * ```
 *
 * @module
 */
export * from "./folder/curves.ts";
export { formerRecord } from "./folder/former_run.ts";
export { type InsideFile, type OpenFile, openInside } from "./folder/inside.ts";
export * from "./folder/keeper.ts";
export * from "./folder/list.ts";
export * from "./folder/lock.ts";
export * from "./folder/record.ts";
export * from "./folder/run_folder.ts";
export { loadRun, openRun, type OpenRunOptions, Run, trainRun } from "./run.ts";
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
