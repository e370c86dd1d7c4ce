import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { checkDeno } from "@bellman/files";
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
   * Folder of the search; the same one resumes it.
   *
   * @default "searches/NAME"
   */
  dir?: string;
  /**
   * Number of runs at a time.
   *
   * @default 1, or the number of the cluster's places
   */
  jobs?: number;
  /** Cluster to make the runs on. */
  cluster?: RunCluster;
  /**
   * Accept code and files from outside of the project that the plan names.
   *
   * @default false
   */
  isTrusted?: boolean;
  /**
   * Keep the checkpoints of all trials, not only of the best.
   *
   * @default false
   */
  keepsAll?: boolean;
  /** Saves and stops the search. */
  signal?: AbortSignal;
  /** Command of the search, for the files of the best settings. */
  command?: string;
  /** Receives lines for the user. */
  onNotice?: (line: string) => void;
  /** Called at the start, with the existing trials. */
  onBegin?: (trials: readonly Trial[], dir: string) => void;
  /** Receives each trial that has ended, with all trials so far. */
  onTrial?: (trial: Trial, trials: readonly Trial[]) => void;
  /** Receives the progress of a trial's run. */
  onProgress?: (trial: Trial, run: TrialRun, event: RunEvent) => void;
  /**
   * Called before the confirmation, with the numbers of the best trials and the fresh
   * seeds.
   */
  onConfirm?: (trials: readonly number[], seeds: readonly number[]) => void;
}

/** Result of a search. */
export interface SearchResult {
  /** Folder of the search. */
  dir: string;
  /** Trials in the order in which they were sampled. */
  trials: readonly Trial[];
  /** Best trials on fresh seeds, best first. */
  confirmation: Confirmation;
  /** Searched settings of the best trial. */
  best: Readonly<Record<string, unknown>>;
  /** Description of the best trial. */
  lines: readonly string[];
  /** Paths of the written files. */
  files: readonly string[];
}

/** Returns the folder of a search, which may not exist yet. */
function folderOf(plan: SearchPlan, requested: string | undefined): string {
  const dir = requested ?? `searches/${plan.name}`;
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

/** Starts the sampler of trials. */
async function startSampler(plan: SearchPlan): Promise<Sampler> {
  const { sampler, space, seed } = plan;
  if (sampler === "random") return randomSampler(space, seed);
  if (sampler === "grid") return gridSampler(space, seed);
  const study = new OptunaSampler({ space, sampler, seed });
  await study.start();
  return study;
}

/**
 * Starts the record of a search, or checks that it belongs to this one.
 *
 * @returns The plan, with the score scales at its start.
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
 * Writes the trials of a search so far as an Optuna journal.
 *
 * @param plan The search.
 * @param path Path of a new file.
 * @param options Folder, and receiver of lines for the user.
 * @returns The number of trials.
 * @throws {UsageError} If there are no trials, or the file already exists.
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
  { dir: requested, onNotice }: Pick<RunSearchOptions, "dir" | "onNotice"> = {},
): Promise<number> {
  const dir = folderOf(plan, requested);
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

/** Confirms the best trials and writes the results; nothing if that is stopped. */
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
    // The best settings are known, even if a plot fails.
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
 * Searches hyperparameters, or resumes a search: trials of several runs each, and the
 * best of them again on fresh seeds.
 *
 * @param plan Plan of the search.
 * @param options Folder, number of runs at a time, receivers.
 * @returns The result; undefined if the signal stopped it.
 * @throws {UsageError} If the folder contains something else, or a setting is not
 * valid.
 * @throws {RunFailure} If many trials in a row fail.
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
  options: RunSearchOptions = {},
): Promise<SearchResult | undefined> {
  const { cluster, onNotice = () => {}, onProgress = () => {} } = options;
  const { signal = new AbortController().signal, onTrial } = options;
  checkDeno("search hyperparameters");
  if (options.jobs !== undefined) checkJobs(options.jobs);
  const dir = folderOf(plan, options.dir), isMade = !existsSync(dir);
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
    const jobs = options.jobs ?? runs?.places ?? 1;
    const { isTrusted = false, keepsAll = false } = options;
    const searchOptions: SearchOptions = {
      plan: await begin(plan, record, { dir, sampler, onNotice, signal }),
      ...{ dir, record, sampler, jobs, isTrusted, keepsAll },
      // Several processes share the cores.
      threads: cluster?.cpusPerRun ?? (jobs > 1 ? 1 : undefined),
      start: runs?.start,
      onNotice,
      onTrial: (trial) => onTrial?.(trial, trials),
      onProgress,
    };
    const search = new Search(searchOptions);
    options.onBegin?.(trials, dir);
    await search.run(signal);
    if (signal.aborted) return undefined;
    const result = await conclude(searchOptions, { ...options, signal });
    if (result !== undefined) search.removeCheckpoints();
    return result;
  } catch (error) {
    if (signal.aborted && error === signal.reason) return undefined;
    const isNew = record?.trials.every(({ state }) => state === "running");
    // The user's own settings cannot be run.
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
