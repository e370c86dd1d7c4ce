import { RunFolder } from "@bellman/runs";
import { changedKeys, folderOf } from "@bellman/experiments";
import type { RunTask } from "@bellman/runs/tasks";
import { removeInside } from "@bellman/runs/training";
import { UsageError } from "@bellman/runs/program";
import { configOf, type SearchPlan } from "./plan.ts";
import type { Params, Trial } from "./record.ts";

/** Run of a trial. */
export interface TrialRun {
  /** Run folder. */
  dir: string;
  /** Environment id. */
  environment: string;
  /** Seed. */
  seed: number;
}

/** Name of a trial's folder. */
export function trialName(number: number): string {
  return String(number).padStart(4, "0");
}

/**
 * Lists runs of a trial in the order of their start: seed by seed, in each environment.
 *
 * @param folder Folder of the trial.
 * @param environments Environments of the plan.
 * @param seeds Seeds of the runs.
 */
function runsOf(
  folder: string,
  environments: readonly string[],
  seeds: readonly number[],
): TrialRun[] {
  return seeds.flatMap((seed) =>
    environments.map((environment) => {
      const below = environments.length === 1
        ? folder
        : `${folder}/${folderOf(environment)}`;
      return { dir: `${below}/seed-${seed}`, environment, seed };
    })
  );
}

/** Plan and folder of a search. */
type Place = { plan: SearchPlan; dir: string };

/** Lists the runs of a trial. */
export function runsOfTrial(
  { plan, dir }: Place,
  { number }: Trial,
): TrialRun[] {
  const seeds = Array.from({ length: plan.seeds }, (_, i) => i);
  const folder = `${dir}/trials/${trialName(number)}`;
  return runsOf(folder, plan.environments, seeds);
}

/** Lists the fresh seeds of the confirmation: those after the trials' seeds. */
export function freshSeeds({ seeds, confirm }: SearchPlan): number[] {
  return Array.from({ length: confirm.seeds }, (_, i) => seeds + i);
}

/** Lists the runs of a trial on fresh seeds. */
export function confirmingRuns(
  { plan, dir }: Place,
  { number }: Trial,
  seeds: readonly number[],
): TrialRun[] {
  const folder = `${dir}/confirmation/${trialName(number)}`;
  return runsOf(folder, plan.environments, seeds);
}

/** Options of a run. */
export interface TaskOptions {
  /** Settings of the trial; none for the first one. */
  params?: Params;
  /** Default number of threads of the run; all of the machine's if left out. */
  threads?: number;
  /** Number of episodes to evaluate the trained policy. */
  episodes?: number;
  isTrusted: boolean;
}

/** Makes the task of a run. */
export function taskOf(
  plan: SearchPlan,
  { dir, environment, seed }: TrialRun,
  { params = {}, threads, episodes, isTrusted }: TaskOptions,
): RunTask {
  const settings = { ...configOf(plan, environment, params), seed };
  if (threads !== undefined) settings.threads ??= threads;
  return { dir, settings, isTrusted, episodes };
}

/**
 * Lists the settings of an existing run that differ from its trial's.
 *
 * @param plan The plan.
 * @param run The run.
 * @param options Settings of the trial, none for the first one, and whether the run has
 * ended, which may have been prolonged.
 */
export function changesOfRun(
  plan: SearchPlan,
  { dir, environment, seed }: TrialRun,
  { params, hasEnded }: { params: Params; hasEnded: boolean },
): string[] {
  const planned = { ...configOf(plan, environment, params), seed };
  return changedKeys(dir, planned)
    .filter((key) => !(hasEnded && key === "totalTimesteps"));
}

/**
 * Throws for a run in the place of a trial's with other settings.
 *
 * @throws {UsageError} If settings differ; the message names them.
 */
export function checkRun(
  plan: SearchPlan,
  run: TrialRun,
  { number, ...options }:
    & { number: number }
    & Parameters<
      typeof changesOfRun
    >[2],
): void {
  const keys = changesOfRun(plan, run, options);
  if (keys.length === 0) return;
  throw new UsageError(
    `Cannot use the run ${run.dir} for trial ${number}: it has another ${
      keys.join(", ")
    }; move it away`,
  );
}

/** Returns the number of evaluations of a run. */
export function countEvaluations(plan: SearchPlan): number {
  const { evaluationInterval, totalTimesteps } = configOf(
    plan,
    plan.environments[0],
  );
  if (evaluationInterval === null) return 20;
  if (evaluationInterval === 0) return 1;
  return Math.ceil(totalTimesteps / evaluationInterval);
}

/**
 * Removes the checkpoints of a run, which is not resumed any more.
 *
 * @param root Folder of the search.
 * @param dir Run folder.
 */
export function removeCheckpoints(root: string, dir: string): void {
  const { checkpointsDir, replayPath } = new RunFolder(dir);
  for (const path of [checkpointsDir, replayPath]) removeInside(root, path);
}
