import { RunFolder } from "@bellman/runs";
import { changedKeys, folderOf } from "@bellman/experiments";
import type { RunTask } from "@bellman/runs/tasks";
import { removeInside } from "@bellman/runs/training";
import { UsageError } from "@bellman/runs/program";
import { configOf, type SearchPlan } from "./plan.ts";
import type { Params, Trial } from "./record.ts";

/** A run of a trial. */
export interface TrialRun {
  /** The run folder. */
  dir: string;
  /** Id of the environment. */
  environment: string;
  /** Its seed. */
  seed: number;
}

/** Name of a trial's folder. */
export function trialName(number: number): string {
  return String(number).padStart(4, "0");
}

/**
 * Lists runs of a trial in the order in which they are begun: seed by seed, in each
 * environment.
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

/** A search's plan, and its folder. */
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

/** Lists the seeds of the confirmation: those after the trials' own. */
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

/** How runs are made. */
export interface TaskOptions {
  /** Settings of the trial; none for the first one. */
  params?: Params;
  /** Threads of the run, unless the plan says; by default all of the machine. */
  threads?: number;
  /** Episodes that the trained policy is evaluated on. */
  episodes?: number;
  isTrusted: boolean;
}

/** Returns the task that makes a run. */
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
 * Lists the settings in which a run that exists is not that of a trial.
 *
 * @param plan The plan.
 * @param run The run.
 * @param options Settings of the trial, none for the first one, and true where the
 * run has ended, which may have been prolonged.
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
 * Refuses a run in the place of a trial's that has other settings.
 *
 * @throws {UsageError} If it has; the message names them.
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

/** Counts the evaluations of a run. */
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
 * Removes what resumes a run: it is not needed any more.
 *
 * @param root Folder of the search.
 * @param dir The run's folder.
 */
export function removeCheckpoints(root: string, dir: string): void {
  const { checkpointsDir, replayPath } = new RunFolder(dir);
  for (const path of [checkpointsDir, replayPath]) removeInside(root, path);
}
