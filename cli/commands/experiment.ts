import { statSync } from "node:fs";
import { basename } from "node:path";
import { Board, clock, progressLine } from "../experiment/board.ts";
import {
  type CellResult,
  cellsOf,
  chosenCells,
  nameOf,
  parseShard,
  readCell,
  resultsCsv,
} from "../experiment/cells.ts";
import { CellDriver } from "../experiment/driver.ts";
import {
  checkFolder,
  keepPlan,
  lockExperiment,
  PLAN_FILE,
  resultsPath,
} from "../experiment/folder.ts";
import { parsePlan, type Plan } from "../experiment/plan.ts";
import {
  checkUnchanged,
  keyOf,
  type PlanSettings,
  resolveSettings,
  taskOf,
  trainCommandOf,
} from "../experiment/settings.ts";
import {
  formatTable,
  TABLE_FORMATS,
  type TableFormat,
} from "../experiment/report/tables.ts";
import { round } from "../run/evaluation.ts";
import { notices } from "../run/run_setup.ts";
import { TRUST_OPTION } from "../run/saved_run.ts";
import {
  type Command,
  integerOf,
  option,
  type ParsedOptions,
  taskLine,
  valueOf,
} from "../terminal/command.ts";
import { messageOf, UsageError, writeWhole } from "../terminal/errors.ts";
import {
  type CommandIo,
  exitCodeOf,
  interruptSignal,
} from "../terminal/process.ts";
import { readText } from "../terminal/read_text.ts";

/** A plan, and the folder of its experiment. */
export interface PlannedExperiment {
  plan: Plan;
  dir: string;
}

/** Cells from which on the command asks back. */
const MANY_CELLS = 10_000;

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Reads the plan that a command line names: a file, or the folder of an experiment. */
function readPlan(options: ParsedOptions): PlannedExperiment {
  const [given, extra] = options.positionals;
  if (given === undefined || extra !== undefined) {
    throw new UsageError(
      `Cannot run ${options.positionals.length} plans: expected one file, as in 'experiment PLAN.yaml'`,
    );
  }
  const isKept = isFolder(given);
  const path = isKept ? `${given.replace(/\/+$/, "")}/${PLAN_FILE}` : given;
  const name = basename(path).replace(/\.ya?ml$/, "");
  const plan = parsePlan(readText(path, "the plan"), path, name);
  const own = isKept ? given.replace(/\/+$/, "") : `experiments/${plan.name}`;
  return { plan, dir: valueOf(options, "out") ?? own };
}

/** Refuses what is more likely a slip than a plan. */
function checkSize({ seeds, variants }: Plan, options: ParsedOptions): void {
  const pairs = variants.flatMap(({ environments }) => environments);
  const cells = seeds.length * pairs.length;
  if (cells <= MANY_CELLS || options.switches.has("yes")) return;
  throw new UsageError(
    `Cannot run ${
      cells.toLocaleString("en-US")
    } cells unasked: add --yes if the plan is meant to have so many`,
  );
}

/** Describes a cell that has ended in a line. */
function describeCell(cell: CellResult): string {
  const { state, last, best, seconds, message } = cell;
  if (state !== "finished") return `${nameOf(cell)} failed: ${message}`;
  const [end, chosen] = [last!, best!].map(({ meanReturn, step }) =>
    `${round(meanReturn)} (step ${step.toLocaleString("en-US")})`
  );
  return `${nameOf(cell)}: last ${end}, best ${chosen} in ${clock(seconds)}`;
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
  { plan, dir }: PlannedExperiment,
  cells: readonly CellResult[],
  { settings, format, io, signal }: {
    settings: PlanSettings;
    format?: TableFormat;
    io: CommandIo;
    signal?: AbortSignal;
  },
): Promise<string> {
  const { reportOf, tablesOf, writeExperimentReport } = await import(
    "../experiment/report/report.ts"
  );
  const configs = new Map(
    cells.map((it) => [it.environment, settings.get(keyOf(it))!.config]),
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

/**
 * Runs the cells of an experiment that are not finished.
 *
 * @param experiment The experiment.
 * @param options Options of the command, and the command line that resumes it.
 * @param io Streams to print to.
 * @returns The exit code.
 */
export async function runExperiment(
  { plan, dir }: PlannedExperiment,
  options: ParsedOptions,
  { io, command }: { io: CommandIo; command: string },
): Promise<number> {
  const jobs = integerOf(options, "jobs", {
    maximum: 1024,
    fallback: navigator.hardwareConcurrency,
  });
  const shardText = valueOf(options, "shard");
  const shard = shardText === undefined ? undefined : parseShard(shardText);
  checkSize(plan, options);
  const planned = cellsOf(plan, dir);
  const chosen = new Set(
    chosenCells(planned, { only: valueOf(options, "only"), shard }),
  );
  const format = tableFormat(options);
  const isTrusted = options.switches.has("trust");
  const set = options.values.get("set") ?? [];
  const common = { set, isTrusted, isShared: jobs > 1 };
  checkFolder(dir);
  const settings = await resolveSettings(plan, common, notices(io));
  const found = planned.map(readCell);
  checkUnchanged(found, settings, plan);
  if (options.switches.has("print")) {
    const commands = planned.filter((it) => chosen.has(it))
      .map((it) => `${trainCommandOf(it, settings)}\n`);
    io.out(`# ${commands.length} of ${planned.length} cells\n`);
    io.out(commands.join(""));
    return 0;
  }
  if (options.switches.has("report") || format !== undefined) {
    if (found.every(({ state }) => state === "missing")) {
      throw new UsageError(`Cannot report ${dir}: none of its cells has begun`);
    }
    writeResults(dir, found, notices(io));
    const given = { settings, format, io };
    const path = await writeReport({ plan, dir }, found, given);
    if (format === undefined) io.out(`Report: ${path}\n`);
    return 0;
  }
  const lock = lockExperiment(dir, shard);
  const { signal, release } = await interruptSignal(() =>
    io.err("Stopping and saving all cells; a second Ctrl-C ends them at once\n")
  );
  try {
    keepPlan(dir, plan);
    const states = ["missing", "unfinished"];
    if (options.switches.has("retry")) states.push("failed");
    const waiting = found.filter((cell, i) =>
      chosen.has(planned[i]) && states.includes(cell.state)
    );
    const tell = (line: string) => board.print(line, notices(io));
    const driver: CellDriver = new CellDriver(found, waiting, {
      jobs,
      taskOf: (cell) =>
        taskOf(cell, { settings, episodes: plan.episodes, isTrusted }),
      stepsOf: (cell) => settings.get(keyOf(cell))!.config.totalTimesteps,
      onEnd(cell) {
        writeResults(dir, driver.cells, tell);
        if (!io.errIsTerminal) {
          board.print(
            `${describeCell(cell)} (${progressLine(state())})`,
            io.out,
          );
        }
      },
      onNotice: tell,
      signal,
    });
    const state = () => ({
      cells: driver.cells,
      running: driver.running,
      secondsLeft: driver.secondsLeft(),
    });
    const board = new Board(io, state);
    if (waiting.length > 0) {
      io.out(
        `Running ${waiting.length} of ${planned.length} cells, ${
          Math.min(jobs, waiting.length)
        } at a time, in ${dir}\n`,
      );
    }
    try {
      await driver.run();
    } finally {
      board.close();
    }
    writeResults(dir, driver.cells, tell);
    let report: string | undefined;
    try {
      if (!signal.aborted) {
        const given = { settings, io, signal };
        report = await writeReport({ plan, dir }, driver.cells, given);
      }
    } catch (error) {
      // All cells are saved: a report can be made later.
      if (!signal.aborted) tell(messageOf(error));
    }
    return tellEnd(driver.cells, { io, dir, command, signal, report });
  } finally {
    await release();
    lock.release();
  }
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

/** `experiment`: trains and evaluates all variants of a plan, and reports them. */
export const experimentCommand: Command = {
  name: "experiment",
  usage: "PLAN.yaml [OPTIONS]",
  summary:
    "Train and compare the variants of a plan; the same command resumes.",
  options: [
    option("jobs N", "Runs at a time; by default one for each core."),
    option("only PATTERN", "Only runs with such a name, as in 'a2c/*/seed-3'."),
    option("shard K/N", "Only part K of N, for one of several machines."),
    option("print", "Print the runs and the command of each, and run nothing."),
    option(
      "report",
      "Write results and report of what there is, and run nothing.",
    ),
    option(
      "table FORMAT",
      "Print the report's tables, as latex, csv or md, and run nothing.",
    ),
    option("retry", "Run those that failed, too."),
    option("set KEY=VALUE", "Set a configuration key of all runs.", {
      repeat: true,
    }),
    option("out DIR", "Folder; by default experiments/ and the plan's name."),
    option("yes", "Allow a plan of more than 10,000 runs."),
    TRUST_OPTION,
  ],
  run(options, io) {
    const command = taskLine("experiment", options);
    return runExperiment(readPlan(options), options, { io, command });
  },
};
