/**
 * The command line: `train`, `experiment`, `eval`, `play`, `plot`, `share` and `list`. It
 * parses, validates, wires the packages and prints. {@linkcode loadRun} opens what it
 * leaves.
 *
 * @example
 * ```ts
 * import { run } from "@bellman/cli";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(await run(["list"]), 0);
 * ```
 *
 * @module
 */
export type { CommandIo } from "../lab/runs/program/process.ts";
export {
  ALGORITHMS,
  registerAlgorithm,
} from "../lab/runs/settings/algorithms.ts";
export {
  type RegisteredRun,
  registerLogger,
} from "../lab/runs/settings/loggers.ts";
export { run } from "./command_line.ts";
export { loadRun } from "../lab/runs/training/load_run.ts";
export type {
  LoadedRun,
  LoadRunOptions,
} from "../lab/runs/training/load_run.ts";
export type { CheckpointChoice } from "../lab/runs/training/saved_run.ts";
export type { Normalization } from "../lab/runs/training/scaled_environments.ts";
export type { ResolvedConfig } from "../lab/runs/settings/resolve.ts";
export type { RunConfig } from "../lab/runs/settings/run_config.ts";
export { UsageError } from "../lab/runs/program/errors.ts";
