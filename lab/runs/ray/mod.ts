/**
 * Runs on the nodes of a Ray cluster.
 *
 * @module
 */
export { checkCarried } from "./carried.ts";
export { ClusterRuns } from "./cluster_runs.ts";
