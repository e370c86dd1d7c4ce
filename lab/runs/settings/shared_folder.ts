/** Folders of agents that were cut out of runs to be shared, as `share` writes them. */
import { RunFolder } from "../folder/run_folder.ts";
import { CheckpointStore } from "@bellman/training";
import { existsSync } from "node:fs";
import { extname, join } from "node:path";
import type { ResolvedConfig } from "./resolve.ts";
import { UsageError } from "../program/errors.ts";

/** File of weights and scales in a shared folder, in place of checkpoints. */
export const AGENT_FILE = "agent.safetensors";
/** Folder of the modules that were shared with an agent. */
export const MODULES_FOLDER = "modules";

/** File of the run's evaluations in a shared folder, in place of its log. */
export const EVALUATIONS_CSV = "evaluations.csv";

/**
 * Returns the log of a run; of a shared agent's, its evaluations are left.
 *
 * @example
 * ```ts
 * import { RunFolder } from "@bellman/runs";
 * import { logOf } from "@bellman/runs/settings";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(logOf(new RunFolder("runs/first")), "runs/first/progress.csv");
 * ```
 */
export function logOf({ dir, progressPath }: RunFolder): string {
  return isShared(dir) ? join(dir, EVALUATIONS_CSV) : progressPath;
}

/**
 * True for the folder of a shared agent, which has no checkpoints.
 *
 * @example
 * ```ts
 * import { isShared, runDirOf } from "@bellman/runs/settings";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(isShared(runDirOf("zoo:a2c/CartPole-v1")), true);
 * ```
 */
export function isShared(dir: string): boolean {
  return existsSync(join(dir, AGENT_FILE)) &&
    !existsSync(new RunFolder(dir).checkpointsDir);
}

/**
 * Returns the name of an agent's file, or folder, after what it was trained in.
 *
 * @example
 * ```ts
 * import { agentName, resolveConfig } from "@bellman/runs/settings";
 * import { assertEquals } from "@std/assert";
 *
 * const config = resolveConfig("a2c", { entries: [["env", "ALE/Pong-v5"]] });
 * assertEquals(agentName(config), "a2c-ALE-Pong-v5");
 * ```
 */
export function agentName({ algorithm, env }: ResolvedConfig): string {
  return `${algorithm}-${env.replaceAll(/[^\w.-]+/g, "-")}`;
}

/**
 * Returns the path that a command writes to where none is given: in the run's
 * folder, or in the current one, as a shared agent stays as it is.
 *
 * @example
 * ```ts
 * import { outputPath, resolveConfig } from "@bellman/runs/settings";
 * import { assertEquals } from "@std/assert";
 *
 * const run = { dir: "runs/first", config: resolveConfig("a2c", { entries: [] }) };
 * assertEquals(outputPath(run, "play.gif"), "runs/first/play.gif");
 * ```
 */
export function outputPath(
  { dir, config }: { dir: string; config: ResolvedConfig },
  name: string,
): string {
  return isShared(dir) ? agentName(config) + extname(name) : join(dir, name);
}

/** Returns the checkpoints of a run; a shared agent is its own best one. */
export function storeOf({ dir, checkpointsDir }: RunFolder): CheckpointStore {
  return isShared(dir)
    ? new CheckpointStore(dir, { best: AGENT_FILE })
    : new CheckpointStore(checkpointsDir);
}

/** Returns a configuration whose shared modules are found in the agent's folder. */
export function withSharedModules(
  config: ResolvedConfig,
  dir: string,
): ResolvedConfig {
  if (!isShared(dir)) return config;
  const found = (it: string) =>
    it.startsWith(`${MODULES_FOLDER}/`) ? join(dir, it) : it;
  const { envModules, algorithmModules } = config;
  return {
    ...config,
    envModules: envModules.map(found),
    algorithmModules: algorithmModules.map(found),
  };
}

/** Refuses a folder that lacks what a run needs to be resumed. */
export function refuseShared(dir: string): void {
  if (!isShared(dir)) return;
  throw new UsageError(
    `Cannot resume ${dir}: it is a shared agent, which has no optimizer, replay and environments; 'train --init-from ${dir}' starts a new run from its weights`,
  );
}
