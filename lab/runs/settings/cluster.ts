import type { RayOptions } from "@bellman/envs/ray";
import { checkDeno } from "@bellman/files";
import { UsageError } from "../program/errors.ts";
import type { ResolvedConfig } from "./resolve.ts";

/**
 * Cluster that hosts the environments of a run. It is not part of the configuration: a
 * run may be resumed on another one.
 */
export interface ClusterOptions
  extends Pick<RayOptions, "cluster" | "listen" | "code"> {
  /** Milliseconds for a host to get a CPU and to start. */
  startTimeoutMs: number;
}

/** Cluster for whole runs, each on one node. */
export interface RunCluster
  extends Required<Pick<RayOptions, "cluster" | "code">> {
  /** CPUs of the cluster for each run. */
  cpusPerRun: number;
}

/**
 * Checks that a cluster is given exactly if the run needs one.
 *
 * @throws {UsageError} If it is missing, or not needed.
 */
export function checkCluster(
  { vectorization, workers }: ResolvedConfig,
  cluster: ClusterOptions | undefined,
): void {
  if (vectorization === "ray" && cluster === undefined) {
    throw new UsageError(
      "Cannot use vectorization: ray without a cluster: expected --cluster ADDRESS, auto or local",
    );
  }
  if (vectorization !== "ray" && cluster !== undefined) {
    throw new UsageError(
      `Cannot use --cluster with vectorization: ${vectorization}: expected ray`,
    );
  }
  if (vectorization === "ray" && workers === null) {
    throw new UsageError(
      "Cannot use vectorization: ray without workers: expected --workers N, processes with a CPU of the cluster each",
    );
  }
  if (cluster === undefined) return;
  checkDeno("use a cluster");
  // Tasks without the network have 127.0.0.1 alone; who limits it otherwise names this.
  const host = "0.0.0.0";
  const { state } = Deno.permissions.querySync({ name: "net", host });
  if (state !== "granted") {
    throw new UsageError(
      "Cannot use --cluster without the network: expected 'deno task train:cluster', which has it, or --allow-net",
    );
  }
}
