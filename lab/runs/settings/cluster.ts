import type { RayOptions } from "@bellman/envs/ray";
import { UsageError } from "../program/errors.ts";
import type { ResolvedConfig } from "./resolve.ts";

/**
 * Cluster that hosts the environments of a run. It is no part of the configuration: a
 * run resumes on another one.
 */
export interface ClusterOptions
  extends Pick<RayOptions, "cluster" | "listen" | "code"> {
  /** Time for a host to get a CPU and to start, in milliseconds. */
  startTimeoutMs: number;
}

/** Cluster on which several runs are made, each on one node. */
export interface RunCluster
  extends Required<Pick<RayOptions, "cluster" | "code">> {
  /** CPUs of the cluster that each run takes. */
  cpusPerRun: number;
}

/**
 * Checks that a run has a cluster where it needs one, and none where it has no use for
 * it.
 *
 * @throws {UsageError} If that is not so.
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
  // A process that may reach some hosts knows which.
  const host = "127.0.0.1";
  const { state } = Deno.permissions.querySync({ name: "net", host });
  if (cluster !== undefined && state !== "granted") {
    throw new UsageError(
      "Cannot use --cluster without the network: expected 'deno task train:cluster', which has it, or --allow-net",
    );
  }
}
