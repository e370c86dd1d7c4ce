import { LostRowsError } from "@bellman/agent";
import type { Checkpoint } from "@bellman/training";
import { existsSync } from "node:fs";
import { RestoreFailure, UsageError, writeWhole } from "../terminal/errors.ts";
import { carryOut, type Output, withTraining } from "./begin_training.ts";
import { signConfig } from "./ownership.ts";
import { checkpointsOf, checkResumable, type SavedRun } from "./saved_run.ts";
import type { TrainingRun } from "./training_run.ts";

/**
 * Resumes a locked run from its latest checkpoint, or the one before where that
 * cannot be restored.
 *
 * @param run The run.
 * @param warnings Lines that the user should see once it is restored.
 * @param output Streams of the run.
 * @param options True where it gets more steps.
 * @returns The exit code.
 * @throws {UsageError} If none of its checkpoints can be restored.
 */
export async function resumeLocked(
  run: SavedRun,
  warnings: string[],
  output: Output,
  { isProlonged }: { isProlonged: boolean },
): Promise<number> {
  const { folder } = run;
  let failure: RestoreFailure | undefined;
  /** Why checkpoints have no rows to replay, by their paths. */
  const lost = new Map<string, string>();
  // Where none has its rows, the newest one begins with an empty replay buffer.
  for (const isReplayLost of [false, true]) {
    const passedOver: string[] = [];
    for (const checkpoint of checkpointsOf(run)) {
      const { path, step } = checkpoint;
      if (isReplayLost && !lost.has(path)) continue;
      passedOver.push(...checkpoint.warnings);
      const restored = [
        ...passedOver.map((line) => `${line}; going back to step ${step}`),
        ...isReplayLost
          ? [`${lost.get(path)}; step ${step} has an empty replay buffer`]
          : [],
        ...warnings,
      ];
      try {
        checkResumable(checkpoint, run, { isProlonged });
        const options = { isProlonged, isReplayLost, restored };
        return await resumeFrom(checkpoint, run, output, options);
      } catch (error) {
        if (!(error instanceof RestoreFailure)) throw error;
        failure = new RestoreFailure(
          `Cannot restore ${path}: ${error.message}`,
          { cause: error },
        );
        passedOver.push(failure.message);
        if (error.cause instanceof LostRowsError) {
          lost.set(path, failure.message);
        }
      }
    }
  }
  throw new UsageError(
    `Cannot resume ${folder.dir}: none of its checkpoints can be restored: ${failure?.message}`,
    { cause: failure },
  );
}

/** Resumes from a checkpoint. */
async function resumeFrom(
  { state, notes }: Checkpoint,
  { folder, config, configText, isOwn }: SavedRun,
  output: Output,
  { isProlonged, isReplayLost, restored }:
    & { isProlonged: boolean }
    & Pick<TrainingRun, "isReplayLost" | "restored">,
): Promise<number> {
  const begin = () => {
    if (isProlonged) {
      // First the copy that decides which of both is right.
      writeWhole(folder.signaturePath, signConfig(configText, { isOwn }));
    }
    if (isProlonged || !existsSync(folder.configPath)) {
      writeWhole(folder.configPath, configText);
    }
  };
  const command = String(notes.command ?? "");
  const start = { folder, configText, command, resumeFrom: state, begin };
  return await withTraining(
    config,
    output,
    (setup) => carryOut({ ...output, ...start, setup, isReplayLost, restored }),
  );
}
