/** Agents that were cut out of runs to be shared, as `share` writes them. */
import { type Checkpoint, CheckpointStore, RunFolder } from "@bellman/training";
import { isStateRecord } from "@bellman/files";
import type { SavedState } from "@bellman/agent";
import type { StateTree } from "@bellman/types";
import { existsSync } from "node:fs";
import { extname, join } from "node:path";
import type { ResolvedConfig } from "../config/resolve.ts";
import { UsageError } from "../terminal/errors.ts";
import {
  type InitialWeights,
  startFrom,
  weightsOf,
} from "./initial_weights.ts";
import type { RunSetup } from "./run_setup.ts";

/** File of weights and scales in a shared folder, in place of checkpoints. */
export const AGENT_FILE = "agent.safetensors";
/** Folder of the modules that were shared with an agent. */
export const MODULES_FOLDER = "modules";

/** File of the run's evaluations in a shared folder, in place of its log. */
export const EVALUATIONS_CSV = "evaluations.csv";

/** Returns the log of a run; of a shared agent's, its evaluations are left. */
export function logOf({ dir, progressPath }: RunFolder): string {
  return isShared(dir) ? join(dir, EVALUATIONS_CSV) : progressPath;
}

/** True for the folder of a shared agent, which has no checkpoints. */
export function isShared(dir: string): boolean {
  return existsSync(join(dir, AGENT_FILE)) &&
    !existsSync(new RunFolder(dir).checkpointsDir);
}

/**
 * Returns the path that a command writes to where none is given: in the run's
 * folder, or in the current one, as a shared agent stays as it is.
 */
export function outputPath(
  { dir, config }: { dir: string; config: ResolvedConfig },
  name: string,
): string {
  if (!isShared(dir)) return join(dir, name);
  const env = config.env.replaceAll(/[^\w.-]+/g, "-");
  return `${config.algorithm}-${env}${extname(name)}`;
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

/** Cuts the weights of a setup's policy out, and the scales that it sees by. */
export function sharedState(setup: RunSetup): StateTree {
  const { shared } = setup.algorithm.save() as Record<string, StateTree>;
  // Workers that learn share one array of parameters.
  if (isStateRecord(shared)) return { params: shared.params };
  const { learned: { policy }, scales } = weightsOf(setup, "");
  return { policy, scales } as unknown as StateTree;
}

/** Reads the weights of a shared agent; undefined for a checkpoint of a run. */
export function sharedWeights(
  { state, step }: Checkpoint,
  dir: string,
): InitialWeights | undefined {
  const { policy, scales } = state as Record<string, StateTree>;
  if (!isStateRecord(policy) || !isStateRecord(scales)) return undefined;
  const learned = { policy } as unknown as SavedState;
  return { origin: `${dir}, step ${step}`, learned, scales };
}

/**
 * Gives a setup the weights of a shared agent.
 *
 * @returns False for a checkpoint of a run.
 */
export function restoreShared(
  setup: RunSetup,
  checkpoint: Checkpoint,
): boolean {
  const weights = sharedWeights(checkpoint, checkpoint.path);
  if (weights !== undefined) {
    startFrom(setup, weights);
    return true;
  }
  const { params } = checkpoint.state as Record<string, StateTree>;
  if (params === undefined) return false;
  const { algorithm } = setup;
  const saved = algorithm.save() as Record<string, StateTree>;
  if (!isStateRecord(saved.shared)) return false;
  algorithm.load({ ...saved, shared: { ...saved.shared, params } });
  return true;
}
