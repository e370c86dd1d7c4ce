import { statSync } from "node:fs";
import { RUN_CLUSTER_OPTIONS } from "../config/cluster.ts";
import { PLAN_FILE } from "../experiment/folder.ts";
import { parsePlan } from "../experiment/plan.ts";
import { type PlannedExperiment, runExperiment } from "./run_experiment.ts";
import { TRUST_OPTION } from "../run/saved_run.ts";
import {
  type Command,
  option,
  type ParsedOptions,
  taskLine,
  valueOf,
} from "../terminal/command.ts";
import { UsageError } from "../terminal/errors.ts";
import { readText } from "../terminal/read_text.ts";

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
    return runExperiment(readPlan(options), options, { io, command });
  },
};
