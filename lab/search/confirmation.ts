import { RandomStream } from "@bellman/compute";
import {
  type Estimate,
  mean,
  probabilityOfImprovement,
  stratifiedBootstrap,
} from "@bellman/statistics";
import { type Cell, CellDriver, readCell } from "@bellman/experiments";
import { hasEnded, readReturns, recordOf } from "@bellman/runs/tasks";
import { configOf, scoreOf, type SearchPlan } from "./plan.ts";
import type { Trial } from "./record.ts";
import { bestOf, givenParams, type SearchOptions } from "./search.ts";
import {
  checkRun,
  confirmingRuns,
  freshSeeds,
  taskOf,
  trialName,
  type TrialRun,
} from "./trial_runs.ts";

/** Number of episodes to evaluate a trained policy. */
export const CONFIRMED_EPISODES = 100;

/** Trial with its runs on fresh seeds. */
export interface Candidate {
  /** The trial. */
  trial: Trial;
  /** Score of each seed that succeeded, in the order of seeds. */
  scores: number[];
  /** Mean score with its interval; none if all seeds failed. */
  estimate?: Estimate;
  /** Probability that one of its runs is better than one of the first trial's. */
  improvement?: Estimate;
}

/** Result of a confirmation. */
export interface Confirmation {
  /** Candidates, best first. */
  candidates: Candidate[];
  /** Fresh seeds, which no trial used. */
  seeds: number[];
  /** Failed seeds. */
  failures: { trial: Trial; run: TrialRun; message: string }[];
}

/** Selects the trials to confirm: the best ones, and the first one. */
export function candidatesOf(
  trials: readonly Trial[],
  { confirm }: SearchPlan,
): Trial[] {
  const best = bestOf(trials, confirm.top);
  const [first] = trials;
  return first?.state !== "complete" || best.includes(first)
    ? best
    : [...best, first];
}

/** Run of a candidate as a cell of an experiment, whose variants are the trials. */
interface TrialCell extends Cell {
  trial: Trial;
  run: TrialRun;
}

/** Runs the candidates on fresh seeds, as an experiment that can be resumed. */
export async function confirmTrials(
  options: SearchOptions,
  signal: AbortSignal,
): Promise<Confirmation> {
  const { plan, record, jobs, threads, isTrusted, start, onNotice } = options;
  const trials = candidatesOf(record.trials, plan), seeds = freshSeeds(plan);
  const planned = seeds.flatMap((seed) =>
    trials.flatMap((trial) =>
      confirmingRuns(options, trial, [seed]).map((run): TrialCell => ({
        ...run,
        variant: trialName(trial.number),
        trial,
        run,
      }))
    )
  );
  const trialOf = new Map(planned.map((it) => [it.dir, it]));
  const cells = planned.map(readCell);
  for (const { dir, state } of cells) {
    const { trial, run } = trialOf.get(dir)!;
    const params = givenParams(trial), { number } = trial;
    checkRun(plan, run, { number, params, hasEnded: state === "finished" });
  }
  const failures: Confirmation["failures"] = [];
  const waiting = cells.filter(({ state }) => state !== "finished");
  const driver = new CellDriver(cells, {
    waiting,
    jobs,
    start,
    signal,
    onNotice,
    stepsOf: ({ environment }) => configOf(plan, environment).totalTimesteps,
    taskOf({ dir }) {
      const { trial, run } = trialOf.get(dir)!;
      const params = givenParams(trial), episodes = CONFIRMED_EPISODES;
      return taskOf(plan, run, { params, threads, episodes, isTrusted });
    },
    onEvent({ dir }, event) {
      const { trial, run } = trialOf.get(dir)!;
      options.onProgress(trial, run, event);
    },
    onEnd({ dir, state, message }) {
      if (state === "finished") return;
      const { trial, run } = trialOf.get(dir)!;
      failures.push({ trial, run, message });
      onNotice(
        `Trial ${trial.number} failed with the seed ${run.seed}: ${message}`,
      );
    },
  });
  await driver.run();
  return { ...judged(options, trials, seeds), seeds, failures };
}

/** Returns the score of a run on a fresh seed, if it has ended. */
function scoreOfRun(
  plan: SearchPlan,
  { dir, environment }: TrialRun,
): number | undefined {
  const record = recordOf(dir);
  if (!hasEnded(record)) return undefined;
  if (plan.objective === "last") {
    return scoreOf(plan, environment, record.evaluations.last.meanReturn);
  }
  const values = readReturns(dir).map(({ value }) => value);
  const area = values.reduce((sum, it) => sum + it, 0) / values.length;
  return scoreOf(plan, environment, area);
}

/** Compares the candidates, on the seeds that all environments have. */
function judged(
  options: SearchOptions,
  trials: readonly Trial[],
  seeds: readonly number[],
): Pick<Confirmation, "candidates"> {
  const { plan } = options;
  const random = new RandomStream(plan.seed).split("confirmation");
  const candidates = trials.map((trial): Candidate => {
    const scores = seeds.map((seed) => {
      const runs = confirmingRuns(options, trial, [seed]);
      const scores = runs.map((it) => scoreOfRun(plan, it));
      const sum = scores.reduce<number>((sum, it) => sum + (it ?? NaN), 0);
      return sum / scores.length;
    }).filter((it) => !Number.isNaN(it));
    if (scores.length === 0) return { trial, scores };
    const matrix = scores.map((it) => [it]);
    const estimate = stratifiedBootstrap(matrix, mean, {
      random: random.split(`mean of ${trial.number}`),
    });
    return { trial, scores, estimate };
  });
  const first = candidates.find(({ trial }) => trial.number === 0);
  for (const candidate of candidates) {
    if (candidate === first) continue;
    if (candidate.scores.length === 0 || !first?.scores.length) continue;
    const [trialScores, others] = [candidate, first]
      .map(({ scores }) => scores.map((it) => [it]));
    candidate.improvement = probabilityOfImprovement(trialScores, others, {
      random: random.split(`improvement of ${candidate.trial.number}`),
    });
  }
  const value = ({ estimate }: Candidate) => estimate?.value ?? -Infinity;
  // Ties go to the first trial, which changes nothing, then to the earlier one.
  candidates.sort((a, b) =>
    value(b) - value(a) || a.trial.number - b.trial.number
  );
  return { candidates };
}
