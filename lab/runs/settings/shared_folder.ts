/** Folders of shared agents, as `share` writes them. */
import { RunFolder } from "../folder/run_folder.ts";
import { CheckpointStore } from "@bellman/training";
import { existsSync } from "node:fs";
import { extname, join } from "node:path";
import type { ResolvedConfig } from "./resolve.ts";
import { UsageError } from "../program/errors.ts";

/** File of weights and normalization statistics in a shared folder, in place of checkpoints. */
export const AGENT_FILE = "agent.safetensors";
/** Folder of the modules shared with an agent. */
export const MODULES_FOLDER = "modules";

/** File of the run's evaluations in a shared folder, in place of its log. */
export const EVALUATIONS_CSV = "evaluations.csv";

/**
 * Returns the path of a run's log; a shared agent only has evaluations.
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
 * Returns true for the folder of a shared agent, which has no checkpoints.
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
 * Returns the default name of an agent's file or folder, from algorithm and
 * environment.
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
 * Returns the default path of a command's output: in the run's folder, or in the
 * current one for a shared agent, which stays unchanged.
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

/** Returns the checkpoint store of a run; a shared agent is its own best checkpoint. */
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
  const located = (it: string) =>
    it.startsWith(`${MODULES_FOLDER}/`) ? join(dir, it) : it;
  const { envModules, algorithmModules } = config;
  return {
    ...config,
    envModules: envModules.map(located),
    algorithmModules: algorithmModules.map(located),
  };
}

/** Throws for a shared agent, which cannot be resumed. */
export function refuseShared(dir: string): void {
  if (!isShared(dir)) return;
  throw new UsageError(
    `Cannot resume ${dir}: it is a shared agent, which has no optimizer, replay and environments; 'train --init-from ${dir}' starts a new run from its weights`,
  );
}
