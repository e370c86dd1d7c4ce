import { mean, median } from "@bellman/statistics";
import type { Trial } from "./record.ts";

/** How a trial is judged by its evaluations. */
export type Objective = "last" | "area";

/** Complete trials from which on the median rule prunes. */
const STARTUP = 5;
/** Part of a trial's first run in which the median rule does not prune. */
const GRACE = 1 / 5;
/** Part of the trials that successive halving keeps at each rung. */
const KEPT = 1 / 3;
/** Rungs of successive halving, each at three times the evaluations of the one before. */
const RUNGS = 3;

/** Judges a run by its evaluations so far. */
function objectiveOfRun(
  values: readonly number[],
  objective: Objective,
): number {
  return objective === "area" ? mean([values]) : values.at(-1)!;
}

/** Judges a trial: the mean over its runs. */
export function objectiveOf(
  { evaluations }: Pick<Trial, "evaluations">,
  objective: Objective,
): number {
  return mean([
    evaluations.map((run) =>
      objectiveOfRun(run.map(({ value }) => value), objective)
    ),
  ]);
}

/** Counts the evaluations of a trial. */
function countOf({ evaluations }: Trial): number {
  return evaluations.reduce((sum, it) => sum + it.length, 0);
}

/**
 * Judges a trial as it was at a place of another one: after as many runs, and
 * evaluations of the last of them. Undefined where it has not come so far.
 */
function judgedAt(
  { evaluations }: Trial,
  { run, count }: { run: number; count: number },
  objective: Objective,
): number | undefined {
  const runs = evaluations.slice(0, run + 1);
  if (runs.length <= run || runs[run].length < count) return undefined;
  runs[run] = runs[run].slice(0, count);
  return objectiveOf({ evaluations: runs }, objective);
}

function placeOf({ evaluations }: Trial): { run: number; count: number } {
  return { run: evaluations.length - 1, count: evaluations.at(-1)!.length };
}

/** A search's rule, and what it needs to know. */
export interface PruningRule {
  pruner: "median" | "halving" | "none";
  objective: Objective;
  /** Runs of a trial, and evaluations of each. */
  runs: number;
  evaluations: number;
}

/**
 * Median rule (Golovin et al. 2017, section 3.2.2): a trial ends that is below the
 * median of the complete trials at the same place.
 */
function isBelowMedian(
  trial: Trial,
  others: readonly Trial[],
  { objective, evaluations }: PruningRule,
): boolean {
  const place = placeOf(trial);
  if (place.run === 0 && place.count < GRACE * evaluations) return false;
  const values = others.filter(({ state }) => state === "complete")
    .map((it) => judgedAt(it, place, objective))
    .filter((it) => it !== undefined);
  if (values.length < STARTUP) return false;
  return judgedAt(trial, place, objective)! < median([values]);
}

/**
 * Asynchronous successive halving (Li et al. 2020): at each rung the best third
 * goes on, of the trials that have come there so far.
 */
function isHalved(
  trial: Trial,
  others: readonly Trial[],
  { objective, runs, evaluations }: PruningRule,
): boolean {
  const total = runs * evaluations, count = countOf(trial);
  const rungs = Array.from(
    { length: RUNGS },
    (_, i) => Math.ceil(total * KEPT ** (i + 1)),
  );
  if (count === total || !rungs.includes(count)) return false;
  const place = placeOf(trial), own = judgedAt(trial, place, objective)!;
  const values = others.filter(({ state }) => state !== "failed")
    .map((it) => judgedAt(it, place, objective))
    .filter((it) => it !== undefined);
  const better = values.filter((it) => it > own).length;
  return better >= Math.max(1, Math.floor((values.length + 1) * KEPT));
}

/**
 * Returns true for a running trial that ends after its latest evaluation. All trials
 * are evaluated on the same episodes.
 *
 * @param trial The trial.
 * @param trials All trials so far.
 * @param rule The rule.
 */
export function isPruned(
  trial: Trial,
  trials: readonly Trial[],
  rule: PruningRule,
): boolean {
  // The first trial is what the others are compared with.
  if (rule.pruner === "none" || trial.number === 0) return false;
  if (trial.evaluations.length === 0) return false;
  const others = trials.filter((it) => it !== trial);
  return rule.pruner === "median"
    ? isBelowMedian(trial, others, rule)
    : isHalved(trial, others, rule);
}
