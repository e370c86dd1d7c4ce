import { renameSync } from "node:fs";
import {
  type Evaluation,
  evaluationIn,
  inPlaces,
  makeTask,
  readReturns,
  type RunEnd,
  type RunEvent,
  type StartRun,
} from "@bellman/runs/tasks";
import { RunFailure, UsageError } from "@bellman/runs/program";
import { paramsOfFirst, scoreOf, type SearchPlan } from "./plan.ts";
import { isPruned, objectiveOf, type PruningRule } from "./pruner.ts";
import type { SearchRecord, Trial } from "./record.ts";
import type { Sampler } from "./sampler.ts";
import {
  changesOfRun,
  checkRun,
  confirmingRuns,
  countEvaluations,
  freshSeeds,
  removeCheckpoints,
  runsOfTrial,
  taskOf,
  trialName,
  type TrialRun,
} from "./trial_runs.ts";

/** Number of failures in a row that stop a search. */
const MOST_FAILURES = 10;

/** Options of a {@linkcode Search}. */
export interface SearchOptions {
  plan: SearchPlan;
  /** Folder of the search. */
  dir: string;
  record: SearchRecord;
  sampler: Sampler;
  /** Number of runs at a time. */
  jobs: number;
  /** Default number of threads of each run; all of the machine's if left out. */
  threads?: number;
  /** Starts the job of a run; in a process of this machine by default. */
  start?: StartRun;
  isTrusted: boolean;
  /** Keep all checkpoints. */
  keepsAll: boolean;
  /** Receives lines for the user. */
  onNotice: (line: string) => void;
  /** Receives each trial that has ended. */
  onTrial: (trial: Trial) => void;
  /** Receives the progress of a trial's run. */
  onProgress: (trial: Trial, run: TrialRun, event: RunEvent) => void;
}

/**
 * Returns a trial's settings for its runs: none for the first one, which is the
 * reference without a search.
 */
export function givenParams({ number, params }: Trial): Trial["params"] {
  return number === 0 ? {} : params;
}

/**
 * Runs the trials of a search. The record determines what comes next: with one run at a
 * time, a killed search resumes exactly.
 */
export class Search {
  #options: SearchOptions;
  #rule: PruningRule;
  /** Unfinished trials to continue. */
  #begun: Trial[];
  #failures = 0;
  /** Queue of critical sections, in which record and sampler agree. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: SearchOptions) {
    this.#options = options;
    const { plan, record } = options;
    this.#rule = {
      pruner: plan.pruner,
      objective: plan.objective,
      runs: plan.seeds * plan.environments.length,
      evaluations: countEvaluations(plan),
    };
    this.#begun = record.trials.filter(({ state }) => state === "running");
    const [first] = record.trials, wanted = JSON.stringify(paramsOfFirst(plan));
    if (first !== undefined && JSON.stringify(first.params) !== wanted) {
      throw new UsageError(
        `Cannot resume ${options.dir}: its trial 0 had ${
          JSON.stringify(first.params)
        }, expected ${wanted}; name another folder with --out`,
      );
    }
    for (const trial of record.trials) {
      const { number, state } = trial;
      const params = givenParams(trial), hasEnded = state !== "running";
      for (const run of runsOfTrial(options, trial)) {
        checkRun(plan, run, { number, params, hasEnded });
      }
    }
  }

  /**
   * Runs the trials.
   *
   * @param signal Saves and stops them.
   * @throws {RunFailure} If many in a row fail.
   */
  async run(signal: AbortSignal): Promise<void> {
    await inPlaces(this.#options.jobs, async (_, signal) => {
      while (!signal.aborted) {
        const trial = await this.#inTurn(() => this.#next());
        if (trial === undefined) return;
        await this.#runTrial(trial, signal);
      }
    }, signal);
  }

  #inTurn<T>(act: () => T | Promise<T>): Promise<T> {
    const done = this.#turn.then(act);
    this.#turn = done.catch(() => {});
    return done;
  }

  /** Returns an unfinished trial, or a new one. */
  async #next(): Promise<Trial | undefined> {
    const { plan, record, sampler } = this.#options;
    const begun = this.#begun.shift();
    if (begun !== undefined) return begun;
    const number = record.trials.length;
    if (number >= plan.trials) return undefined;
    const params = number === 0
      ? paramsOfFirst(plan)
      : await sampler.ask(number, record.events);
    if (params === undefined) return undefined;
    const trial: Trial = { number, params, state: "running", evaluations: [] };
    this.#makeRoom(trial);
    record.append({ op: "ask", trial: number, params });
    return record.trials[number];
  }

  /** Moves runs with other settings away, which a damaged record has left. */
  #makeRoom(trial: Trial): void {
    const { plan, dir, onNotice } = this.#options;
    const params = givenParams(trial), options = { params, hasEnded: false };
    const kinds = {
      trials: runsOfTrial(this.#options, trial),
      confirmation: confirmingRuns(this.#options, trial, freshSeeds(plan)),
    };
    for (const [kind, runs] of Object.entries(kinds)) {
      if (runs.every((it) => changesOfRun(plan, it, options).length === 0)) {
        continue;
      }
      const folder = `${dir}/${kind}/${trialName(trial.number)}`;
      const aside = `${folder}.${Date.now()}`;
      renameSync(folder, aside);
      onNotice(
        `${folder} holds runs of other settings than trial ${trial.number} has: it is ${aside} now`,
      );
    }
  }

  async #runTrial(trial: Trial, signal: AbortSignal): Promise<void> {
    await this.#makeRuns(trial, signal);
    if (this.#options.keepsAll) return;
    if (trial.state === "pruned" || trial.state === "failed") {
      this.#removeCheckpoints(trial);
    }
  }

  async #makeRuns(trial: Trial, signal: AbortSignal): Promise<void> {
    const runs = runsOfTrial(this.#options, trial);
    const pruned = new AbortController();
    // A killed search may not have judged the last evaluation.
    await this.#inTurn(() => this.#prune(trial, pruned));
    // Runs before the last evaluated one have ended.
    const first = Math.max(0, trial.evaluations.length - 1);
    for (let i = first; i < runs.length && !pruned.signal.aborted; i++) {
      const end = await this.#makeRun(trial, { run: runs[i], index: i }, {
        signal,
        pruned,
      });
      if (end === "stopped") break;
      if (end !== "done") {
        await this.#inTurn(() => this.#fail(trial, end));
        return;
      }
    }
    if (signal.aborted && !pruned.signal.aborted) return;
    await this.#inTurn(() => {
      if (trial.state !== "running") return;
      const value = objectiveOf(trial, this.#rule.objective);
      // The mean of returns near the largest double may overflow.
      if (Number.isFinite(value)) {
        this.#tell(trial, { state: "complete", value });
      } else {
        this.#fail(trial, { code: 1, message: "its score is no number" });
      }
    });
  }

  /** Makes a run of a trial, and records its evaluations. */
  async #makeRun(
    trial: Trial,
    { run, index }: { run: TrialRun; index: number },
    { signal, pruned }: { signal: AbortSignal; pruned: AbortController },
  ): Promise<RunEnd> {
    const { plan, threads, isTrusted, start, onNotice, onProgress } =
      this.#options;
    const { environment } = run;
    const report = (evaluation: Evaluation) =>
      this.#report(trial, { ...evaluation, index, environment }, pruned);
    // Records evaluations that a killed process has not. If a run is resumed, its log
    // is complete once it reports something.
    const catchUp = () => readReturns(run.dir).forEach(report);
    let isCaughtUp = false;
    const params = givenParams(trial);
    const task = taskOf(plan, run, { params, threads, isTrusted });
    let problem: unknown;
    const end = await makeTask(task, {
      signal,
      pruned: pruned.signal,
      start,
      onNotice,
      onEvent: (event) => {
        onProgress(trial, run, event);
        const evaluation = evaluationIn(event);
        if (evaluation === undefined) return;
        this.#inTurn(() => {
          if (!isCaughtUp) catchUp();
          isCaughtUp = true;
          report(evaluation);
        }).catch((error) => {
          problem ??= error;
          pruned.abort();
        });
      },
    });
    await this.#inTurn(() => {});
    if (problem !== undefined) throw problem;
    if (end !== "done") return end;
    await this.#inTurn(catchUp);
    return trial.evaluations.length > index
      ? "done"
      : { code: 1, message: "it was never evaluated" };
  }

  /** Records an evaluation, unless it is known, and prunes the trial if it should stop. */
  #report(
    trial: Trial,
    { index, step, value, environment }: Evaluation & {
      index: number;
      environment: string;
    },
    pruned: AbortController,
  ): void {
    const { plan, record } = this.#options;
    const known = trial.evaluations[index]?.at(-1)?.step ?? -1;
    const score = scoreOf(plan, environment, value);
    if (trial.state !== "running" || step <= known) return;
    if (!Number.isFinite(score)) return;
    record.append({
      op: "report",
      trial: trial.number,
      run: index,
      step,
      value: score,
    });
    this.#prune(trial, pruned);
  }

  #prune(trial: Trial, pruned: AbortController): void {
    const { trials } = this.#options.record;
    if (trial.state !== "running") return;
    if (!isPruned(trial, trials, this.#rule)) return;
    this.#tell(trial, { state: "pruned" });
    pruned.abort();
  }

  /** Records a failed trial. */
  #fail(
    trial: Trial,
    { code, message }: { code: number; message: string },
  ): void {
    const { record } = this.#options;
    const isFirst = record.trials.every(({ state }) => state === "running");
    // The user's own settings cannot be run.
    if (isFirst && trial.number === 0 && code === 2) {
      throw new UsageError(message);
    }
    this.#tell(trial, { state: "failed", message });
    if (this.#failures < MOST_FAILURES) return;
    throw new RunFailure(
      `${MOST_FAILURES} trials failed one after the other, the last one: ${message}`,
    );
  }

  /** Records the end of a trial. */
  #tell(
    trial: Trial,
    end: Pick<Trial, "value" | "message"> & {
      state: "complete" | "pruned" | "failed";
    },
  ): void {
    const { record, onTrial } = this.#options;
    record.append({ op: "tell", trial: trial.number, ...end });
    this.#failures = end.state === "failed" ? this.#failures + 1 : 0;
    onTrial(trial);
  }

  #removeCheckpoints(trial: Trial): void {
    runsOfTrial(this.#options, trial).forEach(({ dir }) =>
      removeCheckpoints(this.#options.dir, dir)
    );
  }

  /** Removes the checkpoints of all trials but the best ones. */
  removeCheckpoints(): void {
    const { record, keepsAll } = this.#options;
    if (keepsAll) return;
    const best = new Set(bestOf(record.trials, KEPT));
    for (const trial of record.trials) {
      if (trial.state === "running" || best.has(trial)) continue;
      this.#removeCheckpoints(trial);
    }
  }
}

/** Number of trials whose checkpoints are kept. */
const KEPT = 5;

/**
 * Returns the best complete trials, best first; ties go to the earlier one.
 *
 * @example
 * ```ts
 * import { bestOf, type Trial } from "@bellman/search";
 * import { assertEquals } from "@std/assert";
 *
 * const trials = [3, 5, 4].map((value, number): Trial => ({
 *   ...{ number, params: {}, state: "complete", value, evaluations: [] },
 * }));
 * assertEquals(bestOf(trials, 2).map(({ number }) => number), [1, 2]);
 * ```
 */
export function bestOf(trials: readonly Trial[], count: number): Trial[] {
  return trials.filter(({ state }) => state === "complete")
    .sort((a, b) => b.value! - a.value! || a.number - b.number)
    .slice(0, count);
}
