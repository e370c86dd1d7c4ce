/**
 * Runs on the nodes of a Ray cluster, for the option `cluster` of experiments and
 * searches.
 *
 * @example
 * ```ts
 * import { checkCarried } from "@bellman/runs/ray";
 * import { resolveConfig } from "@bellman/runs/settings";
 * import { assertThrows } from "@std/assert";
 *
 * const entries: [string, unknown][] = [["vectorization", "ray"]];
 * const config = resolveConfig("a2c", { entries });
 * assertThrows(() => checkCarried(config), Error, "each run is made in one place");
 * ```
 *
 * @module
 */
export { checkCarried } from "./carried.ts";
export { ClusterRuns, type ClusterRunsOptions } from "./cluster_runs.ts";
export type { RunClusterOptions } from "./runs_program.ts";
