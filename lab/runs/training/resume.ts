import { LostRowsError } from "@bellman/agent";
import { formerRecord } from "../folder/former_run.ts";
import { RecordKeeper } from "../folder/keeper.ts";
import { lockRun } from "../folder/lock.ts";
import type { RunRecord } from "../folder/record.ts";
import type { Checkpoint } from "@bellman/training";
import { existsSync } from "node:fs";
import type { ResolvedConfig } from "../settings/resolve.ts";
import { refuseShared } from "../settings/shared_folder.ts";
import { RestoreFailure, UsageError, writeWhole } from "../program/errors.ts";
import { carryOut, type Output, withTraining } from "./begin_training.ts";
import { withEngine } from "./run_setup.ts";
import { checkFiles, refuseForeignFolder } from "./run_entries.ts";
import {
  admitRun,
  checkpointsOf,
  checkResumable,
  openSavedRun,
  prolonged,
  type SavedRun,
} from "./saved_run.ts";
import type { TrainingRun } from "./training_run.ts";

/** Options of {@linkcode resumeRun}. */
export interface ResumeOptions {
  /**
   * Number of episodes of the final evaluations.
   *
   * @default as in evaluations during training
   */
  finalEpisodes?: number;
  /** Trust the run: accept code and links of others. */
  isTrusted?: boolean;
  /** New length of a run that is prolonged, in environment steps. */
  steps?: number;
  /** Engine to use instead of the run's. */
  engine?: ResolvedConfig["engine"];
  /** Evaluate its agents again, even if it has ended. */
  evaluatesAgain?: boolean;
  /** True if its process was killed, not stopped. */
  isKilled?: boolean;
  /** True if its lock is already held. */
  isLocked?: boolean;
}

/**
 * Resumes a run from its latest checkpoint, or an earlier one if that cannot be
 * restored.
 *
 * @param dir Folder of the run.
 * @param output Output and abort signal.
 * @param options Trust, more steps, another engine.
 * @returns Final record.
 * @throws {UsageError} If none of its checkpoints can be restored.
 *
 * @example
 * ```ts
 * import { trainRun } from "@bellman/runs";
 * import { resumeRun } from "@bellman/runs/training";
 * import { assertEquals } from "@std/assert";
 *
 * const dir = `${await Deno.makeTempDir()}/run`;
 * await trainRun({ algorithm: "a2c", totalTimesteps: 100 }, { dir });
 * const { step } = await resumeRun(dir, { quiet: true }, { steps: 200 });
 * assertEquals(step, 200);
 * ```
 */
export async function resumeRun(
  dir: string,
  output: Output = {},
  options: ResumeOptions = {},
): Promise<RunRecord> {
  refuseShared(dir);
  // Checked before locking, and again after it: the former holder may have continued
  // training.
  if (!options.isLocked) admitted(dir, options);
  const lock = options.isLocked ? undefined : lockRun(dir);
  try {
    const { run, warnings } = admitted(dir, options);
    return await resumeNewest(run, warnings, output, options);
  } finally {
    lock?.release();
  }
}

/** Opens a run, if it may be resumed with these options. */
function admitted(
  dir: string,
  { isTrusted = false, steps, engine }: ResumeOptions,
): { run: SavedRun; warnings: string[] } {
  const saved = openSavedRun(dir, { isTrusted });
  const warnings = admitRun(saved, { command: "resume", isTrusted });
  if (!isTrusted) refuseForeignFolder(dir);
  const whole = steps === undefined ? saved : prolonged(saved, steps);
  checkFiles(dir);
  const config = withEngine(whole.config, engine);
  return { run: { ...whole, config }, warnings };
}

/** Resumes from the newest checkpoint that can be restored. */
async function resumeNewest(
  run: SavedRun,
  warnings: string[],
  output: Output,
  options: ResumeOptions,
): Promise<RunRecord> {
  const { evaluatesAgain } = options;
  const isProlonged = options.steps !== undefined;
  const { folder } = run;
  let failure: RestoreFailure | undefined;
  /** Reasons why checkpoints have no replay rows, by path. */
  const lost = new Map<string, string>();
  // If none has its rows, the newest one starts with an empty replay buffer.
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
        checkResumable(checkpoint, run, { isProlonged, evaluatesAgain });
        const how = { ...options, isReplayLost, restored };
        return await resumeFrom(checkpoint, run, output, how);
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
  { folder, config, configText, record: saved }: SavedRun,
  output: Output,
  { steps, isReplayLost, restored, isKilled, finalEpisodes }:
    & ResumeOptions
    & Pick<TrainingRun, "isReplayLost" | "restored">,
): Promise<RunRecord> {
  const record = saved ?? formerRecord(folder, config);
  const command = record.command ?? String(notes.command ?? "");
  return await withTraining(config, output, (setup) => {
    const keeper = new RecordKeeper(folder, {
      ...record,
      engine: setup.engine,
      settings: {
        ...record.settings,
        totalTimesteps: config.totalTimesteps,
      },
      resumes: record.resumes + (isKilled ? 1 : 0),
    });
    const begin = () => {
      if (steps !== undefined || !existsSync(folder.configPath)) {
        writeWhole(folder.configPath, configText);
      }
    };
    return carryOut({
      ...{ ...output, setup, folder, configText, keeper, command, begin },
      ...{ resumeFrom: state, isReplayLost, restored, finalEpisodes },
    });
  });
}
