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
export type { CommandIo } from "@bellman/runs/program";
export { ALGORITHMS, registerAlgorithm } from "@bellman/runs/settings";
export { type RegisteredRun, registerLogger } from "@bellman/runs/settings";
export { run } from "./command_line.ts";
export { loadRun } from "@bellman/runs/training";
export type { LoadedRun, LoadRunOptions } from "@bellman/runs/training";
export type { CheckpointChoice } from "@bellman/runs/training";
export type { Normalization } from "@bellman/runs/training";
export type { ResolvedConfig } from "@bellman/runs/settings";
export type { RunConfig } from "@bellman/runs/settings";
export { UsageError } from "@bellman/runs/program";
