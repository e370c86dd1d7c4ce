import { mean, median } from "@bellman/statistics";
import type { Trial } from "./record.ts";

/** Objective of a trial from its evaluations. */
export type Objective = "last" | "area";

/** Number of complete trials before the median rule prunes. */
const STARTUP = 5;
/** Fraction of a trial's first run that the median rule does not prune. */
const GRACE = 1 / 5;
/** Fraction of the trials that successive halving keeps at each rung. */
const KEPT = 1 / 3;
/** Rungs of successive halving, each with three times the evaluations of the one before. */
const RUNGS = 3;

/** Computes the objective of a trial: the mean over its runs. */
export function objectiveOf(
  { evaluations }: Pick<Trial, "evaluations">,
  objective: Objective,
): number {
  return mean([
    evaluations.map((run) => {
      const values = run.map(({ value }) => value);
      return objective === "area" ? mean([values]) : values.at(-1)!;
    }),
  ]);
}

/** Pruning rule with its parameters. */
export interface PruningRule {
  pruner: "median" | "halving" | "none";
  objective: Objective;
  /** Number of runs of a trial, and of evaluations of each. */
  runs: number;
  evaluations: number;
}

/**
 * Returns true if a running trial should stop after its latest evaluation. All trials
 * are evaluated on the same episodes.
 *
 * Median rule (Golovin et al. 2017, section 3.2.2): a trial stops if it is below the
 * median of the complete trials at the same point. Asynchronous successive halving (Li
 * et al. 2020): at each rung the best third of the trials so far continues.
 *
 * @param trial The trial.
 * @param trials All trials so far.
 * @param rule The rule.
 */
export function isPruned(
  trial: Trial,
  trials: readonly Trial[],
  { pruner, objective, runs, evaluations }: PruningRule,
): boolean {
  // The first trial is the reference for all others.
  if (pruner === "none" || trial.number === 0) return false;
  const run = trial.evaluations.length - 1;
  if (run < 0) return false;
  const { length } = trial.evaluations[run];
  const objectiveNow = objectiveOf(trial, objective);
  /**
   * Computes the objectives of other trials after the same number of runs, and of
   * evaluations in the last one.
   */
  const judged = (isOne: (state: Trial["state"]) => boolean) =>
    trials.filter((other) =>
      other !== trial && isOne(other.state) &&
      (other.evaluations[run]?.length ?? 0) >= length
    ).map((other) => {
      const whole = other.evaluations.slice(0, run);
      const last = other.evaluations[run].slice(0, length);
      return objectiveOf({ evaluations: [...whole, last] }, objective);
    });
  if (pruner === "median") {
    if (run === 0 && length < GRACE * evaluations) return false;
    const values = judged((state) => state === "complete");
    return values.length >= STARTUP && objectiveNow < median([values]);
  }
  const total = runs * evaluations, count = trial.evaluations.flat().length;
  const rungs = Array.from(
    { length: RUNGS },
    (_, i) => Math.ceil(total * KEPT ** (i + 1)),
  );
  if (count === total || !rungs.includes(count)) return false;
  const values = judged((state) => state !== "failed");
  const better = values.filter((it) => it > objectiveNow).length;
  return better >= Math.max(1, Math.floor((values.length + 1) * KEPT));
}
