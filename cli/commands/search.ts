import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import {
  type Command,
  integerOf,
  option,
  type ParsedOptions,
  taskLine,
  valueOf,
} from "../terminal/command.ts";
import {
  fileError,
  messageOf,
  RunFailure,
  UsageError,
  writeWhole,
} from "../terminal/errors.ts";
import {
  type CommandIo,
  exitCodeOf,
  interruptSignal,
} from "../terminal/process.ts";
import { PLAN_FILE, SEARCH_FILE } from "../experiment/folder.ts";
import { checkCarried } from "../cluster/carried.ts";
import { ClusterRuns } from "../cluster/cluster_runs.ts";
import { RUN_CLUSTER_OPTIONS, runClusterOf } from "../config/cluster.ts";
import { lockFile } from "@bellman/runs";
import { refuseLinksIn } from "../run/run_entries.ts";
import { bestFiles, describeResult, rangeOf } from "../search/best.ts";
import { candidatesOf, confirmTrials } from "../search/confirmation.ts";
import { freshSeeds } from "../search/trial_runs.ts";
import { OptunaSampler } from "../search/optuna.ts";
import {
  changesOf,
  completeScores,
  configOf,
  keptScores,
  readPlan,
  type SearchPlan,
} from "../search/plan.ts";
import { SearchRecord } from "../search/record.ts";
import { searchPage } from "../search/report.ts";
import { gridSampler, randomSampler, type Sampler } from "../search/sampler.ts";
import { Search, type SearchOptions } from "../search/search.ts";
import { progressOn } from "../search/progress.ts";

/** Finds the folder of a search, which may not exist yet. */
function folderOf(plan: SearchPlan, options: ParsedOptions): string {
  const dir = valueOf(options, "out") ?? `searches/${plan.name}`;
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

/** Writes the trials so far as a journal of Optuna. */
async function exportJournal(
  plan: SearchPlan,
  options: ParsedOptions,
  { path, io }: { path: string; io: CommandIo },
): Promise<string> {
  const dir = folderOf(plan, options);
  if (existsSync(path)) {
    throw new UsageError(`Cannot write ${path}: it is there already`);
  }
  if (!existsSync(`${dir}/${SEARCH_FILE}`)) {
    throw new UsageError(`Cannot export ${dir}: it has no trials yet`);
  }
  const { space, seed, name } = plan;
  const record = new SearchRecord(`${dir}/${SEARCH_FILE}`, { isRead: true });
  if (record.damage !== undefined) {
    io.err(`Left out of ${dir}/${SEARCH_FILE}: ${record.damage}\n`);
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
  return `Wrote ${path}: ${record.trials.length} trials`;
}

/** Writes what was found. */
async function conclude(
  options: SearchOptions,
  { io, command, signal }: {
    io: CommandIo;
    command: string;
    signal: AbortSignal;
  },
): Promise<void> {
  const { plan, dir, record, sampler } = options;
  const numbers = candidatesOf(record.trials, plan).map((it) => it.number);
  if (numbers.length === 0) {
    throw new RunFailure(
      "no trial was completed, so that there is no best one",
    );
  }
  io.out(
    `Confirming trials ${numbers.join(", ")} with the seeds ${
      rangeOf(freshSeeds(plan))
    }\n`,
  );
  const confirmation = await confirmTrials(options, signal);
  if (signal.aborted) return;
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
    trials: record.trials.length,
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
  const lines = [
    ...describeResult(plan, confirmation),
    `Wrote ${Object.keys(files).map((it) => `${dir}/${it}`).join(", ")}`,
  ];
  io.out(lines.map((line) => `${line}\n`).join(""));
}

/** Runs a search, or what is left of one. */
async function runSearch(
  plan: SearchPlan,
  options: ParsedOptions,
  io: CommandIo,
): Promise<number> {
  const dir = folderOf(plan, options);
  const cluster = runClusterOf(options);
  const given = integerOf(options, "jobs", {
    fallback: cluster === undefined ? 1 : undefined,
    maximum: 1024,
  });
  plan.environments.forEach((it) => checkCarried(configOf(plan, it), cluster));
  const isMade = !existsSync(dir), command = taskLine("search", options);
  const sampler = await startSampler(plan);
  const { signal, release } = await interruptSignal(() =>
    io.err("Stopping and saving; a second Ctrl-C ends the search at once\n")
  );
  const progress = progressOn(io, plan);
  const interrupted = () => {
    io.out(`Interrupted; everything is saved. Resume with: ${command}\n`);
    return exitCodeOf(signal);
  };
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
    record = new SearchRecord(path);
    const onNotice = (line: string) => progress.print(`${line}\n`);
    if (record.damage !== undefined) {
      onNotice(
        `${path} is damaged: ${record.damage}; the search goes on from the line before, and ${path}.damaged is the file as it was`,
      );
    }
    const begun = { dir, sampler, onNotice, signal };
    if (cluster !== undefined) {
      runs = await ClusterRuns.open({ ...cluster, onNotice });
    }
    const jobs = given ?? runs!.places;
    const all: SearchOptions = {
      plan: await begin(plan, record, begun),
      dir,
      record,
      sampler,
      jobs,
      // Several processes share the cores.
      threads: cluster?.cpusPerRun ?? (jobs > 1 ? 1 : undefined),
      start: runs?.start,
      isTrusted: options.switches.has("trust"),
      keepsAll: valueOf(options, "keep") === "all",
      onNotice,
      onTrial: (trial) => progress.tell(trial, record!.trials),
      onProgress: progress.show,
    };
    const search = new Search(all);
    progress.begin(record.trials, dir);
    await search.run(signal);
    if (!signal.aborted) {
      await conclude(all, { io: progress.io, command, signal });
    }
    if (signal.aborted) return interrupted();
    search.removeCheckpoints();
    return 0;
  } catch (error) {
    if (signal.aborted && error === signal.reason) return interrupted();
    const isNew = record?.trials.every(({ state }) => state === "running");
    // What the user asked for cannot be run at all.
    if (error instanceof UsageError && isMade && isNew) {
      rmSync(dir, { recursive: true, force: true });
    }
    if (record === undefined || error instanceof UsageError) throw error;
    throw new RunFailure(
      `The search in ${dir} failed: ${
        messageOf(fileError(error) ?? error)
      }; resume it with: ${command}`,
      { cause: error },
    );
  } finally {
    progress.end();
    await runs?.close();
    record?.close();
    lock?.release();
    await sampler.close?.();
    await release();
  }
}

/** `search`: searches hyperparameters. */
export const searchCommand: Command = {
  name: "search",
  usage: "SPACE.yaml [OPTIONS]",
  summary: "Search hyperparameters, and confirm the best on fresh seeds.",
  options: [
    option("trials N", "Number of trials in all, instead of the file's."),
    option(
      "jobs N",
      "Runs at a time; 1 by default, or one for each place on the cluster.",
    ),
    ...RUN_CLUSTER_OPTIONS,
    option(
      "out DIR",
      "Folder; searches/NAME by default. The same one resumes.",
    ),
    option(
      "keep all",
      "Keep the checkpoints of all trials, not of the best five alone.",
    ),
    option(
      "export-optuna FILE",
      "Write the trials so far as a journal for optuna-dashboard, and run none.",
    ),
    option("trust", "Allow the code and files that SPACE.yaml names."),
  ],
  async run(options, io) {
    const [path, extra] = options.positionals;
    if (path === undefined || extra !== undefined) {
      throw new UsageError(
        `Cannot search ${
          extra === undefined ? "without a file" : `'${extra}', too`
        }: expected one file, as in 'search lunar.yaml'`,
      );
    }
    const keep = valueOf(options, "keep");
    if (keep !== undefined && keep !== "all") {
      throw new UsageError(`Cannot use --keep ${keep}: expected all`);
    }
    const plan = await readPlan(path, {
      trials: integerOf(options, "trials", {
        maximum: 1_000_000,
        fallback: undefined,
      }),
      isTrusted: options.switches.has("trust"),
    });
    const journal = valueOf(options, "export-optuna");
    if (journal === undefined) return await runSearch(plan, options, io);
    io.out(`${await exportJournal(plan, options, { path: journal, io })}\n`);
    return 0;
  },
};
