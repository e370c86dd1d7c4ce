import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { lockFile } from "@bellman/runs";
import { PLAN_FILE, SEARCH_FILE } from "@bellman/experiments";
import {
  fileError,
  messageOf,
  RunFailure,
  UsageError,
  writeWhole,
} from "@bellman/runs/program";
import { checkCarried, ClusterRuns } from "@bellman/runs/ray";
import type { RunCluster } from "@bellman/runs/settings";
import { checkJobs, type RunEvent } from "@bellman/runs/tasks";
import { refuseLinksIn } from "@bellman/runs/training";
import { bestFiles, describeResult } from "./best.ts";
import {
  candidatesOf,
  type Confirmation,
  confirmTrials,
} from "./confirmation.ts";
import { OptunaSampler } from "./optuna.ts";
import {
  changesOf,
  completeScores,
  configOf,
  keptScores,
  type SearchPlan,
} from "./plan.ts";
import { SearchRecord, type Trial } from "./record.ts";
import { searchPage } from "./report.ts";
import { gridSampler, randomSampler, type Sampler } from "./sampler.ts";
import { givenParams, Search, type SearchOptions } from "./search.ts";
import { freshSeeds, type TrialRun } from "./trial_runs.ts";

/** Options of {@linkcode runSearch}. */
export interface RunSearchOptions {
  /**
   * Folder of the search; the same one resumes.
   *
   * @default "searches/NAME"
   */
  dir?: string;
  /**
   * Runs at a time.
   *
   * @default 1, or as many as the cluster has places
   */
  jobs?: number;
  /** Cluster that the runs are made on. */
  cluster?: RunCluster;
  /**
   * Take code and files that the plan names outside of the project.
   *
   * @default false
   */
  isTrusted?: boolean;
  /**
   * Keep the checkpoints of all trials, not of the best ones alone.
   *
   * @default false
   */
  keepsAll?: boolean;
  /** Saves and stops it. */
  signal?: AbortSignal;
  /** Command that it is run by, for the files of the best settings. */
  command?: string;
  /** Takes lines that the user should see. */
  onNotice?: (line: string) => void;
  /** Called when it begins, with the trials that there are. */
  onBegin?: (trials: readonly Trial[], dir: string) => void;
  /** Takes each trial that has ended, and all so far. */
  onTrial?: (trial: Trial, trials: readonly Trial[]) => void;
  /** Takes the progress of a run of a trial. */
  onProgress?: (trial: Trial, run: TrialRun, event: RunEvent) => void;
  /** Called before the best trials are run on fresh seeds, with their numbers and the seeds. */
  onConfirm?: (trials: readonly number[], seeds: readonly number[]) => void;
}

/** What a search has found. */
export interface SearchResult {
  /** Folder of the search. */
  dir: string;
  /** Trials in the order in which they were drawn. */
  trials: readonly Trial[];
  /** Best trials on seeds that no trial used, the best one first. */
  confirmation: Confirmation;
  /** Settings of the best trial that were searched. */
  best: Readonly<Record<string, unknown>>;
  /** Sentences about the best trial. */
  lines: readonly string[];
  /** Paths of the files that were written. */
  files: readonly string[];
}

/** Finds the folder of a search, which may not exist yet. */
function folderOf(plan: SearchPlan, given: string | undefined): string {
  const dir = given ?? `searches/${plan.name}`;
  refuseLinksIn(dir);
  if (!existsSync(dir) || existsSync(`${dir}/${SEARCH_FILE}`)) return dir;
  const refuse = (why: string) =>
    new UsageError(
      `Cannot search in ${dir}: ${why}; name another one with --out`,
    );
  if (existsSync(`${dir}/${PLAN_FILE}`)) {
    throw refuse("it is the folder of an experiment");
  }
  const others = readdirSync(dir).filter((it) => it !== "search.lock");
  if (others.length > 0) {
    throw refuse(`it holds other files, such as ${others[0]}`);
  }
  return dir;
}

/** Starts what draws the trials. */
async function startSampler(plan: SearchPlan): Promise<Sampler> {
  const { sampler, space, seed } = plan;
  if (sampler === "random") return randomSampler(space, seed);
  if (sampler === "grid") return gridSampler(space, seed);
  const study = new OptunaSampler({ space, sampler, seed });
  await study.start();
  return study;
}

/**
 * Begins the record of a search, or checks that it is of this one.
 *
 * @returns The plan, with the scores that it was begun with.
 */
async function begin(
  plan: SearchPlan,
  record: SearchRecord,
  { dir, sampler, ...options }: {
    dir: string;
    sampler: Sampler;
    onNotice: (line: string) => void;
    signal: AbortSignal;
  },
): Promise<SearchPlan> {
  const { begun } = record;
  if (begun === undefined) {
    const scores = await completeScores(plan, dir, options);
    record.append({ op: "begin", plan, sampler: sampler.name, scores });
    return { ...plan, scores };
  }
  const refuse = (why: string) =>
    new UsageError(
      `Cannot resume ${dir}: ${why}; name another folder with --out`,
    );
  const changes = changesOf(plan, begun.plan as SearchPlan);
  if (changes.length > 0) {
    throw refuse(`it was begun with other values of ${changes.join(", ")}`);
  }
  if (begun.sampler === sampler.name) {
    return { ...plan, scores: keptScores(begun.scores, plan, dir) };
  }
  throw refuse(
    `its trials were drawn by ${begun.sampler}, not ${sampler.name}`,
  );
}

/**
 * Writes the trials of a search so far as a journal of Optuna.
 *
 * @param plan The search.
 * @param path The file, which is a new one.
 * @param options Folder, and a function that takes lines that the user should see.
 * @returns The number of trials.
 * @throws {UsageError} If there are no trials, or the file is there already.
 *
 * @example
 * ```ts
 * import { exportJournal, searchPlanOf } from "@bellman/search";
 * import { assertRejects } from "@std/assert";
 *
 * const plan = await searchPlanOf({
 *   ...{ name: "rates", algorithm: "a2c", environment: "CartPole-v1", trials: 2 },
 *   ...{ space: { learningRate: [0.001, 0.01] } },
 * });
 * const dir = await Deno.makeTempDir();
 * const exported = exportJournal(plan, `${dir}/journal.log`, { dir });
 * await assertRejects(() => exported, Error, "it has no trials yet");
 * ```
 */
export async function exportJournal(
  plan: SearchPlan,
  path: string,
  { dir: given, onNotice }: Pick<RunSearchOptions, "dir" | "onNotice"> = {},
): Promise<number> {
  const dir = folderOf(plan, given);
  if (existsSync(path)) {
    throw new UsageError(`Cannot write ${path}: it is there already`);
  }
  if (!existsSync(`${dir}/${SEARCH_FILE}`)) {
    throw new UsageError(`Cannot export ${dir}: it has no trials yet`);
  }
  const { space, seed, name } = plan;
  const record = new SearchRecord(`${dir}/${SEARCH_FILE}`, { isRead: true });
  if (record.damage !== undefined) {
    onNotice?.(`Left out of ${dir}/${SEARCH_FILE}: ${record.damage}`);
  }
  const study = new OptunaSampler({ space, sampler: "tpe", seed });
  try {
    await study.start();
    await study.export(name, path, record.events);
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  } finally {
    record.close();
    await study.close();
  }
  return record.trials.length;
}

/** Confirms the best trials, and writes what was found; nothing where that was stopped. */
async function conclude(
  options: SearchOptions,
  { command, onConfirm, signal }:
    & Pick<
      RunSearchOptions,
      "command" | "onConfirm"
    >
    & { signal: AbortSignal },
): Promise<SearchResult | undefined> {
  const { plan, dir, record, sampler } = options, { trials } = record;
  const numbers = candidatesOf(trials, plan).map((it) => it.number);
  if (numbers.length === 0) {
    throw new RunFailure(
      "no trial was completed, so that there is no best one",
    );
  }
  onConfirm?.(numbers, freshSeeds(plan));
  const confirmation = await confirmTrials(options, signal);
  if (signal.aborted) return undefined;
  if (confirmation.candidates[0].estimate === undefined) {
    throw new RunFailure(
      `None of the best trials could be run on fresh seeds: ${
        confirmation.failures[0].message
      }`,
    );
  }
  const files = bestFiles(plan, confirmation, {
    command,
    sampler: sampler.name,
    trials: trials.length,
  });
  try {
    files["search.html"] = await searchPage(options, { confirmation, files });
  } catch (error) {
    // Whatever cannot be drawn, the best settings are known.
    options.onNotice(`Cannot draw ${dir}/search.html: ${messageOf(error)}`);
  }
  for (const [name, text] of Object.entries(files)) {
    writeWhole(`${dir}/${name}`, text);
  }
  return {
    ...{ dir, trials, confirmation },
    best: givenParams(confirmation.candidates[0].trial),
    lines: describeResult(plan, confirmation),
    files: Object.keys(files).map((it) => `${dir}/${it}`),
  };
}

/**
 * Searches hyperparameters, or goes on where it was: trials, each of some runs, and the
 * best of them once more on fresh seeds.
 *
 * @param plan What is searched.
 * @param given Folder, number of runs at a time, listeners.
 * @returns What was found; undefined where the signal stopped it.
 * @throws {UsageError} If the folder holds something else, or a setting is not valid.
 * @throws {RunFailure} If trials fail one after the other.
 *
 * @example
 * ```ts
 * import { runSearch, searchPlanOf } from "@bellman/search";
 * import { assertEquals } from "@std/assert";
 *
 * const plan = await searchPlanOf({
 *   ...{ name: "rates", algorithm: "a2c", environment: "CartPole-v1", steps: 100 },
 *   ...{ space: { learningRate: [0.001, 0.01] }, sampler: "random", trials: 2 },
 *   confirm: { top: 1, seeds: 1 },
 * });
 * const dir = `${await Deno.makeTempDir()}/rates`;
 * const states: string[] = [];
 * await runSearch(plan, { dir, onTrial: ({ state }) => states.push(state) });
 * assertEquals(states, ["complete", "complete"]);
 * ```
 */
export async function runSearch(
  plan: SearchPlan,
  given: RunSearchOptions = {},
): Promise<SearchResult | undefined> {
  const { cluster, onNotice = () => {}, onProgress = () => {} } = given;
  const { signal = new AbortController().signal, onTrial } = given;
  if (given.jobs !== undefined) checkJobs(given.jobs);
  const dir = folderOf(plan, given.dir), isMade = !existsSync(dir);
  plan.environments.forEach((it) => checkCarried(configOf(plan, it), cluster));
  const sampler = await startSampler(plan);
  let record: SearchRecord | undefined;
  let lock: { release(): void } | undefined;
  let runs: ClusterRuns | undefined;
  try {
    mkdirSync(dir, { recursive: true });
    lock = lockFile(
      `${dir}/search.lock`,
      (holder) => `Cannot search in ${dir}: ${holder} does so at present`,
    );
    const path = `${dir}/${SEARCH_FILE}`;
    const { trials } = record = new SearchRecord(path);
    if (record.damage !== undefined) {
      onNotice(
        `${path} is damaged: ${record.damage}; the search goes on from the line before, and ${path}.damaged is the file as it was`,
      );
    }
    if (cluster !== undefined) {
      runs = await ClusterRuns.open({ ...cluster, onNotice });
    }
    const jobs = given.jobs ?? runs?.places ?? 1;
    const { isTrusted = false, keepsAll = false } = given;
    const options: SearchOptions = {
      plan: await begin(plan, record, { dir, sampler, onNotice, signal }),
      ...{ dir, record, sampler, jobs, isTrusted, keepsAll },
      // Several processes share the cores.
      threads: cluster?.cpusPerRun ?? (jobs > 1 ? 1 : undefined),
      start: runs?.start,
      onNotice,
      onTrial: (trial) => onTrial?.(trial, trials),
      onProgress,
    };
    const search = new Search(options);
    given.onBegin?.(trials, dir);
    await search.run(signal);
    if (signal.aborted) return undefined;
    const result = await conclude(options, { ...given, signal });
    if (result !== undefined) search.removeCheckpoints();
    return result;
  } catch (error) {
    if (signal.aborted && error === signal.reason) return undefined;
    const isNew = record?.trials.every(({ state }) => state === "running");
    // What the user asked for cannot be run at all.
    if (error instanceof UsageError && isMade && isNew) {
      rmSync(dir, { recursive: true, force: true });
    }
    if (record === undefined || error instanceof UsageError) throw error;
    throw new RunFailure(
      `The search in ${dir} failed: ${messageOf(fileError(error) ?? error)}`,
      { cause: error },
    );
  } finally {
    await runs?.close();
    record?.close();
    lock?.release();
    await sampler.close?.();
  }
}
