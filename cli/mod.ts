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
export type { CommandIo } from "./terminal/process.ts";
export { ALGORITHMS, registerAlgorithm } from "./config/algorithms.ts";
export { type RegisteredRun, registerLogger } from "./config/loggers.ts";
export { run } from "./command_line.ts";
export { loadRun } from "./run/load_run.ts";
export type { LoadedRun, LoadRunOptions } from "./run/load_run.ts";
export type { CheckpointChoice } from "./run/saved_run.ts";
export type { Normalization } from "./run/scaled_environments.ts";
export type { ResolvedConfig } from "./config/resolve.ts";
export type { RunConfig } from "./config/run_config.ts";
export { UsageError } from "./terminal/errors.ts";
