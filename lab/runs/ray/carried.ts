/** Checks that a run can be sent to the nodes of a cluster. */
import type { RayOptions } from "@bellman/envs/ray";
import type { ResolvedConfig } from "../settings/resolve.ts";
import { codeOf } from "../training/environment_modules.ts";
import { UsageError } from "../program/errors.ts";

/** Files that a configuration names; packages of JSR or npm are none. */
function filesOf(config: ResolvedConfig): string[] {
  const { modules, files } = codeOf(config);
  return [...modules.filter((it) => it.startsWith("file:")), ...files];
}

/**
 * Checks that several runs can be made in their place, here or on a cluster, and makes
 * their paths absolute.
 *
 * @param config The configuration.
 * @param cluster Cluster of the runs, if any.
 * @throws {UsageError} If code or files are not allowed or not found.
 *
 * @example
 * ```ts
 * import { checkCarried } from "@bellman/runs/ray";
 * import { resolveConfig } from "@bellman/runs/settings";
 * import { assertThrows } from "@std/assert";
 *
 * const config = resolveConfig("a2c", { entries: [] });
 * checkCarried(config, { code: "ship" });
 * assertThrows(() => checkCarried({ ...config, vectorization: "ray" }));
 * ```
 */
export function checkCarried(
  config: ResolvedConfig,
  cluster?: Pick<RayOptions, "code">,
): void {
  if (config.vectorization === "ray") {
    throw new UsageError(
      "Cannot use vectorization: ray for several runs: each run is made in one place; expected another one",
    );
  }
  const [file] = filesOf(config);
  const isThere = cluster === undefined || cluster.code === "here";
  if (file === undefined || isThere) return;
  throw new UsageError(
    `Cannot ship ${file} to the cluster: its runs would name the place that it has there; expected code that is at the same path on all nodes, with --cluster-code here`,
  );
}
