import {
  CheckpointStore,
  openRunFolder,
  type RunFolder,
} from "@bellman/training";
import type { Checkpoint, StateTree } from "@bellman/training";
import { ALGORITHMS } from "./algorithms.ts";
import { readText } from "./config/from_options.ts";
import {
  parseMapping,
  resolveConfig,
  type ResolvedConfig,
} from "./config/resolve.ts";
import type { Session } from "./session.ts";
import { UsageError } from "./usage_error.ts";

/** A run folder that was made before, and its configuration. */
export interface SavedRun {
  folder: RunFolder;
  config: ResolvedConfig;
}

/** Opens a run folder; one that is missing or broken is one clear line. */
export async function openRun(dir: string): Promise<SavedRun> {
  if (dir === "") {
    throw new UsageError(
      "Cannot open the run '': expected a run folder, such as runs/a2c-CartPole-v1-seed0",
    );
  }
  const folder = openRunFolder(dir);
  const name = folder.configPath;
  const text = await readText(name, "the configuration");
  const entry = parseMapping(text, name).find(([key]) => key === "algorithm");
  const algorithm = String(entry?.[1]);
  if (!Object.hasOwn(ALGORITHMS, algorithm)) {
    throw new UsageError(
      `Cannot use the run ${dir}: its config.yaml names the algorithm '${algorithm}', expected one of ${
        Object.keys(ALGORITHMS).join(", ")
      }`,
    );
  }
  const file = { name, text };
  return {
    folder,
    config: resolveConfig(undefined, { file, entries: [] }),
  };
}

/** Which checkpoint: `best`, `latest` or a step. */
export type CheckpointChoice = "best" | "latest" | number;

/** Reads `best`, `latest` or a step. */
export function parseCheckpointChoice(text: string): CheckpointChoice {
  if (text === "best" || text === "latest") return text;
  const step = Number(text);
  if (text.trim() !== "" && Number.isSafeInteger(step) && step >= 0) {
    return step;
  }
  throw new UsageError(
    `Cannot use --checkpoint ${text}: expected best, latest or a step`,
  );
}

/** Loads a checkpoint of a run; without a best one, the latest stands for it. */
export function loadCheckpoint(
  folder: RunFolder,
  choice: CheckpointChoice,
): Checkpoint {
  const store = new CheckpointStore(folder.checkpointsDir);
  const hasBest = store.list().best !== undefined;
  return store.load(choice === "best" && !hasBest ? "latest" : choice);
}

/** Puts algorithm and environments of a session into a checkpoint's state. */
export function restoreSession(session: Session, checkpoint: Checkpoint): void {
  const { algorithm, env } = checkpoint.state as Record<string, StateTree>;
  if (algorithm === undefined || env === undefined) {
    throw new UsageError(
      `Cannot use the checkpoint ${checkpoint.path}: it is not of a training run`,
    );
  }
  session.algorithm.restore(algorithm);
  session.environments.training.restore(env);
}
