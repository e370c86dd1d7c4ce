import type { Entry } from "@bellman/runs/settings";
import { statSync } from "node:fs";
import { formatDuration } from "@bellman/training";
import {
  type CellResult,
  Experiment,
  type ExperimentOptions,
  formatTable,
  keyOf,
  nameOf,
  parsePlan,
  type Plan,
  PLAN_FILE,
  type Shard,
  TABLE_FORMATS,
  type TableFormat,
} from "@bellman/experiments";
import {
  type CommandIo,
  exitCodeOf,
  fileError,
  interruptSignal,
  isDiskFull,
  messageOf,
  notices,
  readText,
  RunFailure,
  UsageError,
} from "@bellman/runs/program";
import { round } from "@bellman/runs/training";
import { RUN_CLUSTER_OPTIONS, runClusterOf } from "../options/cluster.ts";
import { parseAssignment, TRUST_OPTION } from "../options/options.ts";
import {
  type Command,
  integerOf,
  option,
  type ParsedOptions,
  taskLine,
  valueOf,
} from "../terminal/command.ts";
import { Board, progressLine } from "../terminal/experiment_board.ts";

/** A plan, and the folder of its experiment. */
export interface PlannedExperiment {
  plan: Plan;
  /** Path of the plan, where it is a file. */
  path?: string;
  dir: string;
}

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
  const plan = parsePlan(readText(path, "the plan"), path);
  const own = isKept ? given.replace(/\/+$/, "") : `experiments/${plan.name}`;
  return { plan, path, dir: valueOf(options, "out") ?? own };
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

/** Parses `2/8`. */
function parseShard(text: string): Shard {
  const [part, of] = /^(\d+)\/(\d+)$/.exec(text)?.slice(1).map(Number) ?? [];
  if (part >= 1 && part <= of) return { part, of };
  throw new UsageError(
    `Cannot use --shard ${text}: expected a part and the number of parts, as in --shard 2/8`,
  );
}

/** Reads what the command line says of an experiment. */
function experimentOptions(
  options: ParsedOptions,
): Omit<ExperimentOptions, "onNotice"> {
  const shard = valueOf(options, "shard");
  return {
    set: (options.values.get("set") ?? []).map(parseAssignment),
    only: valueOf(options, "only"),
    shard: shard === undefined ? undefined : parseShard(shard),
    jobs: integerOf(options, "jobs", { maximum: 1024, fallback: undefined }),
    cluster: runClusterOf(options),
    isTrusted: options.switches.has("trust"),
  };
}

/** Prints the command that trains each chosen cell by hand. */
function printCommands(
  { plan, settings, cells, chosen }: Experiment,
  io: CommandIo,
): void {
  io.out(`# ${chosen.length} of ${cells.length} cells\n`);
  for (const cell of chosen) {
    const { algorithm, preset, config } = plan.variants
      .find(({ name }) => name === cell.variant)!;
    const { entries } = settings.get(keyOf(cell))!;
    const isSteps = ([key, , origin]: Entry) =>
      key === "totalTimesteps" && origin === "steps";
    const set = entries.filter((it) => it[0] !== "env" && !isSteps(it)).map((
      [key, value],
    ) => `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`);
    const steps = entries.find(isSteps)?.[1];
    const values = {
      ...{ env: cell.environment, preset, config, steps },
      ...{ set, seed: cell.seed, out: cell.dir },
    };
    const given = Object.entries(values)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]): [string, string[]] => [
        name,
        [value].flat().map(String),
      ]);
    const words = {
      positionals: [algorithm],
      values: new Map(given),
      switches: new Set(["quiet"]),
    };
    io.out(`${taskLine("train", words)}\n`);
  }
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

/** Reads `--table`. */
function tableFormat(options: ParsedOptions): TableFormat | undefined {
  const given = valueOf(options, "table");
  const format = TABLE_FORMATS.find((it) => it === given);
  if (given === format) return format;
  throw new UsageError(
    `Cannot use --table ${given}: expected one of ${TABLE_FORMATS.join(", ")}`,
  );
}

/** Reports the cells as they are, and runs none. */
async function reportOnly(
  experiment: Experiment,
  format: TableFormat | undefined,
  io: CommandIo,
): Promise<void> {
  const report = await experiment.report();
  if (format !== undefined) {
    const tables = report.sections.flatMap(({ tables }) => tables);
    io.out(tables.map((it) => formatTable(it, format)).join("\n"));
  }
  const path = await experiment.writeReport(report);
  if (format === undefined) io.out(`Report: ${path}\n`);
}

/** Prints how an experiment has ended, and returns the exit code. */
function tellEnd(
  { cells, resultsPath }: Experiment,
  { io, command, signal, report }: {
    io: CommandIo;
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
  io.out(`${line}. Results: ${resultsPath}${reported}\n`);
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

/** Runs an experiment and shows it: in a terminal as a table, elsewhere a line a cell. */
async function runShown(
  experiment: Experiment,
  board: Board,
  { io, command, retry }: { io: CommandIo; command: string; retry: boolean },
): Promise<number> {
  const { signal, release } = await interruptSignal(() =>
    io.err("Stopping and saving all cells; a second Ctrl-C ends them at once\n")
  );
  let report: string | undefined;
  try {
    try {
      await experiment.run({
        retry,
        signal,
        onBegin({ length }, places) {
          io.out(
            `Running ${length} of ${experiment.cells.length} cells, ${places} at a time, in ${experiment.dir}\n`,
          );
          board.begin(() => experiment.progress);
        },
        onCell(cell) {
          if (io.errIsTerminal) return;
          const line = progressLine(experiment.progress);
          board.print(`${describeCell(cell)} (${line})`, io.out);
        },
      });
    } finally {
      board.close();
    }
    try {
      if (!signal.aborted) {
        report = await experiment.writeReport(await experiment.report(signal));
      }
    } catch (error) {
      // All cells are saved: a report can be made later.
      if (!signal.aborted) notices(io)(messageOf(error));
    }
    return tellEnd(experiment, { io, command, signal, report });
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    const message = messageOf(fileError(error) ?? error);
    throw new RunFailure(
      `The experiment in ${experiment.dir} stopped: ${message}; resume it with: ${command}`,
      { cause: error },
    );
  } finally {
    await release();
  }
}

/**
 * Runs the cells of an experiment that are not finished, or prints or reports them.
 *
 * @param planned The experiment.
 * @param options Options of the command.
 * @param output Streams to print to, and the command line that resumes it.
 * @returns The exit code.
 */
export async function carryOutExperiment(
  { plan, path, dir }: PlannedExperiment,
  options: ParsedOptions,
  { io, command }: { io: CommandIo; command: string },
): Promise<number> {
  const format = tableFormat(options);
  const given = experimentOptions(options);
  checkSize(plan, options);
  const board = new Board(io);
  const onNotice = (line: string) => board.print(line, notices(io));
  const experiment = await Experiment.open(plan, {
    ...given,
    ...{ dir, path, onNotice },
  });
  const { switches } = options;
  if (switches.has("print")) {
    printCommands(experiment, io);
    return 0;
  }
  if (switches.has("report") || format !== undefined) {
    await reportOnly(experiment, format, io);
    return 0;
  }
  const retry = switches.has("retry");
  return await runShown(experiment, board, { io, command, retry });
}

/** `experiment`: trains and evaluates all variants of a plan, and reports them. */
export const experimentCommand: Command = {
  name: "experiment",
  usage: "PLAN.yaml [OPTIONS]",
  summary:
    "Train and compare the variants of a plan; the same command resumes.",
  options: [
    option(
      "jobs N",
      "Runs at a time; by default one for each core, or place on the cluster.",
    ),
    ...RUN_CLUSTER_OPTIONS,
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
    return carryOutExperiment(readPlan(options), options, { io, command });
  },
};
