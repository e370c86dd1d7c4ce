import { formatDuration } from "@bellman/training";
import { checkCarried } from "../cluster/carried.ts";
import { ClusterRuns } from "../cluster/cluster_runs.ts";
import { type RunCluster, runClusterOf } from "../config/cluster.ts";
import { notices } from "../run/run_setup.ts";
import { round } from "../run/evaluation.ts";
import { integerOf, type ParsedOptions, valueOf } from "../terminal/command.ts";
import {
  fileError,
  isDiskFull,
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
import { Board, progressLine } from "../experiment/board.ts";
import {
  type CellResult,
  cellsOf,
  chosenCells,
  nameOf,
  parseShard,
  readCell,
  resultsCsv,
  type Shard,
} from "../experiment/cells.ts";
import { CellDriver } from "../experiment/driver.ts";
import {
  checkFolder,
  keepPlan,
  lockExperiment,
  resultsPath,
} from "../experiment/folder.ts";
import type { Plan } from "../experiment/plan.ts";
import {
  formatTable,
  TABLE_FORMATS,
  type TableFormat,
} from "../experiment/report/tables.ts";
import {
  checkFit,
  checkUnchanged,
  keyOf,
  type PlanSettings,
  resolveSettings,
  taskOf,
  trainCommandOf,
} from "../experiment/settings.ts";

/** A plan, and the folder of its experiment. */
export interface PlannedExperiment {
  plan: Plan;
  /** Path of the plan, where it is a file. */
  path?: string;
  dir: string;
}

/** An experiment whose plan was checked, and its cells as they are. */
interface Experiment extends PlannedExperiment {
  /** Cells at a time; by default as many as there is room for. */
  jobs?: number;
  /** Cluster that the cells are run on. */
  cluster?: RunCluster;
  /** Part of the cells that this driver has, if not all. */
  shard?: Shard;
  /** True where code that the plan names may be run. */
  isTrusted: boolean;
  settings: PlanSettings;
  /** All cells. */
  cells: CellResult[];
  /** Those that the command line chooses. */
  chosen: CellResult[];
}

/** Cells from which on the command asks back. */
const MANY_CELLS = 10_000;

/** Refuses what is more likely a slip than a plan. */
function checkSize({ variants }: Plan, options: ParsedOptions): void {
  const cells = variants.reduce(
    (sum, { seeds, environments }) => sum + seeds.length * environments.length,
    0,
  );
  if (cells <= MANY_CELLS || options.switches.has("yes")) return;
  throw new UsageError(
    `Cannot run ${
      cells.toLocaleString("en-US")
    } cells unasked: add --yes if the plan is meant to have so many`,
  );
}

/** Checks a plan and what the command line chooses of it; nothing is written. */
async function openExperiment(
  { plan, path, dir }: PlannedExperiment,
  options: ParsedOptions,
  io: CommandIo,
): Promise<Experiment> {
  const cluster = runClusterOf(options);
  const jobs = integerOf(options, "jobs", {
    maximum: 1024,
    fallback: cluster === undefined ? navigator.hardwareConcurrency : undefined,
  });
  const shardText = valueOf(options, "shard");
  const shard = shardText === undefined ? undefined : parseShard(shardText);
  checkSize(plan, options);
  const only = valueOf(options, "only");
  const planned = cellsOf(plan, dir);
  const chosen = new Set(chosenCells(planned, { only, shard }));
  const isTrusted = options.switches.has("trust");
  const set = options.values.get("set") ?? [];
  checkFolder(dir);
  const wanted = new Set([...chosen].map(keyOf));
  const threads = cluster?.cpusPerRun ?? (jobs! > 1 ? 1 : undefined);
  const common = { set, isTrusted, path, threads, wanted };
  const settings = await resolveSettings(plan, common, notices(io));
  const cells = planned.map(readCell);
  checkUnchanged(cells, settings, plan);
  return {
    plan,
    dir,
    jobs,
    cluster,
    shard,
    isTrusted,
    settings,
    cells,
    chosen: cells.filter((_, i) => chosen.has(planned[i])),
  };
}

/** Prints the command of each chosen cell. */
function printCommands(
  { settings, cells, chosen }: Experiment,
  io: CommandIo,
): void {
  io.out(`# ${chosen.length} of ${cells.length} cells\n`);
  for (const cell of chosen) io.out(`${trainCommandOf(cell, settings)}\n`);
}

/** Describes a cell that has ended in a line. */
function describeCell(cell: CellResult): string {
  const { state, last, best, seconds, message } = cell;
  if (state !== "finished") return `${nameOf(cell)} failed: ${message}`;
  const [end, chosen] = [last!, best!].map(({ meanReturn, step }) =>
    `${round(meanReturn)} (step ${step.toLocaleString("en-US")})`
  );
  return `${nameOf(cell)}: last ${end}, best ${chosen} in ${
    formatDuration(seconds)
  }`;
}

/** Writes the results; a disk that is full harms no cell. */
function writeResults(
  dir: string,
  cells: readonly CellResult[],
  onNotice: (line: string) => void,
): void {
  try {
    writeWhole(resultsPath(dir), resultsCsv(cells));
  } catch (error) {
    onNotice(messageOf(error));
  }
}

/** Reads `--table`. */
function tableFormat(options: ParsedOptions): TableFormat | undefined {
  const given = valueOf(options, "table");
  const format = TABLE_FORMATS.find((it) => it === given);
  if (given === format) return format;
  throw new UsageError(
    `Cannot use --table ${given}: expected one of ${TABLE_FORMATS.join(", ")}`,
  );
}

/** Writes the report of an experiment, prints its tables where that is asked, and returns its path. */
async function writeReport(
  { plan, dir, settings, cells }: Experiment,
  { format, io, signal }: {
    format?: TableFormat;
    io: CommandIo;
    signal?: AbortSignal;
  },
): Promise<string> {
  const { reportOf, tablesOf, writeExperimentReport } = await import(
    "../experiment/report/report.ts"
  );
  const begun = cells.filter(({ state }) => state !== "missing");
  const configs = new Map(
    begun.map((it) => [it.environment, settings.get(keyOf(it))!.config]),
  );
  const onNotice = notices(io);
  const report = await reportOf({ plan, dir, cells }, {
    configs,
    onNotice,
    signal,
  });
  if (format !== undefined) {
    io.out(tablesOf(report).map((it) => formatTable(it, format)).join("\n"));
  }
  return writeExperimentReport(dir, report);
}

/** Reports the cells as they are, and runs none. */
async function reportOnly(
  experiment: Experiment,
  format: TableFormat | undefined,
  io: CommandIo,
): Promise<void> {
  const { dir, cells } = experiment;
  if (cells.every(({ state }) => state === "missing")) {
    throw new UsageError(`Cannot report ${dir}: none of its cells has begun`);
  }
  writeResults(dir, cells, notices(io));
  const path = await writeReport(experiment, { format, io });
  if (format === undefined) io.out(`Report: ${path}\n`);
}

/** Reaches the cluster that cells are run on, where there is one and something to run. */
async function openCluster(
  { cluster }: Experiment,
  waiting: readonly CellResult[],
  onNotice: (line: string) => void,
): Promise<ClusterRuns | undefined> {
  if (cluster === undefined || waiting.length === 0) return undefined;
  return await ClusterRuns.open({ ...cluster, onNotice });
}

/** Runs the cells that wait for it, and returns all as they are then. */
async function runCells(
  { plan, dir, jobs: given, isTrusted, settings, cells }: Experiment,
  waiting: readonly CellResult[],
  { io, signal, runs }: {
    io: CommandIo;
    signal: AbortSignal;
    runs?: ClusterRuns;
  },
): Promise<CellResult[]> {
  const { episodes } = plan;
  const jobs = given ?? runs?.places ?? 1;
  const driver: CellDriver = new CellDriver(cells, waiting, {
    jobs,
    taskOf: (cell) => taskOf(cell, { settings, episodes, isTrusted }),
    stepsOf: (cell) => settings.get(keyOf(cell))!.config.totalTimesteps,
    onEnd(cell) {
      writeResults(dir, driver.cells, onNotice);
      if (io.errIsTerminal) return;
      const line = `${describeCell(cell)} (${progressLine(stateOf())})`;
      board.print(line, io.out);
    },
    onNotice: (line) => onNotice(line),
    signal,
    ...runs === undefined ? {} : { start: runs.start, memory: Infinity },
  });
  const stateOf = () => ({
    cells: driver.cells,
    running: driver.running,
    secondsLeft: driver.secondsLeft(),
  });
  if (waiting.length > 0) {
    const places = Math.min(jobs, waiting.length);
    io.out(
      `Running ${waiting.length} of ${cells.length} cells, ${places} at a time, in ${dir}\n`,
    );
  }
  const board = new Board(io, stateOf);
  const onNotice = (line: string) => board.print(line, notices(io));
  try {
    await driver.run();
  } finally {
    board.close();
  }
  writeResults(dir, driver.cells, notices(io));
  return [...driver.cells];
}

/** Prints how an experiment has ended, and returns the exit code. */
function tellEnd(
  cells: readonly CellResult[],
  { io, dir, command, signal, report }: {
    io: CommandIo;
    dir: string;
    command: string;
    signal: AbortSignal;
    report?: string;
  },
): number {
  const failed = cells.filter(({ state }) => state === "failed");
  const line = progressLine({ cells, running: [] });
  if (signal.aborted) {
    io.out(`${line}; everything is saved. Resume with: ${command}\n`);
    return exitCodeOf(signal);
  }
  const reported = report === undefined ? "" : `, report: ${report}`;
  io.out(`${line}. Results: ${resultsPath(dir)}${reported}\n`);
  for (const cell of failed) io.err(`${describeCell(cell)}\n`);
  if (failed.length === 0) return 0;
  io.err(
    `${
      failed.length === 1
        ? "1 cell failed; run it"
        : `${failed.length} cells failed; run them`
    } again with: ${command} --retry\n`,
  );
  return 1;
}

/**
 * Runs the cells of an experiment that are not finished, or prints or reports them.
 *
 * @param planned The experiment.
 * @param options Options of the command.
 * @param output Streams to print to, and the command line that resumes it.
 * @returns The exit code.
 */
export async function runExperiment(
  planned: PlannedExperiment,
  options: ParsedOptions,
  { io, command }: { io: CommandIo; command: string },
): Promise<number> {
  const format = tableFormat(options);
  const experiment = await openExperiment(planned, options, io);
  if (options.switches.has("print")) {
    printCommands(experiment, io);
    return 0;
  }
  if (options.switches.has("report") || format !== undefined) {
    await reportOnly(experiment, format, io);
    return 0;
  }
  const { dir, plan, shard, settings } = experiment;
  const retried = options.switches.has("retry") ? ["failed"] : [];
  const states = ["missing", "unfinished", ...retried];
  const waiting = experiment.chosen.filter((it) => states.includes(it.state));
  for (const cell of waiting) {
    checkCarried(settings.get(keyOf(cell))!.config, experiment.cluster);
  }
  await checkFit(waiting, settings, notices(io));
  const runs = await openCluster(experiment, waiting, notices(io));
  const lock = lockExperiment(dir, shard);
  const { signal, release } = await interruptSignal(() =>
    io.err("Stopping and saving all cells; a second Ctrl-C ends them at once\n")
  );
  try {
    keepPlan(dir, plan);
    const cells = await runCells(experiment, waiting, { io, signal, runs });
    let report: string | undefined;
    try {
      if (!signal.aborted) {
        report = await writeReport({ ...experiment, cells }, { io, signal });
      }
    } catch (error) {
      // All cells are saved: a report can be made later.
      if (!signal.aborted) notices(io)(messageOf(error));
    }
    return tellEnd(cells, { io, dir, command, signal, report });
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    const message = messageOf(fileError(error) ?? error);
    throw new RunFailure(
      `The experiment in ${dir} stopped: ${message}; resume it with: ${command}`,
      { cause: error },
    );
  } finally {
    await runs?.close();
    await release();
    lock.release();
  }
}
