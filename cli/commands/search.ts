import {
  type CommandIo,
  exitCodeOf,
  interruptSignal,
  RunFailure,
  UsageError,
} from "@bellman/runs/program";
import {
  exportJournal,
  readPlan,
  runSearch,
  type SearchPlan,
} from "@bellman/search";
import { RUN_CLUSTER_OPTIONS, runClusterOf } from "../options/cluster.ts";
import {
  type Command,
  integerOf,
  option,
  type ParsedOptions,
  taskLine,
  valueOf,
} from "../terminal/command.ts";
import { progressOn } from "../terminal/search_progress.ts";

/** Runs a search, or what is left of one, and shows it. */
async function search(
  plan: SearchPlan,
  options: ParsedOptions,
  io: CommandIo,
): Promise<number> {
  const command = taskLine("search", options);
  const cluster = runClusterOf(options);
  const jobs = integerOf(options, "jobs", {
    fallback: undefined,
    maximum: 1024,
  });
  const { signal, release } = await interruptSignal(() =>
    io.err("Stopping and saving; a second Ctrl-C ends the search at once\n")
  );
  const progress = progressOn(io, plan), { out } = progress.io;
  try {
    const found = await runSearch(plan, {
      ...{ dir: valueOf(options, "out"), jobs, cluster, signal, command },
      isTrusted: options.switches.has("trust"),
      keepsAll: valueOf(options, "keep") === "all",
      onNotice: (line) => progress.print(`${line}\n`),
      onBegin: progress.begin,
      onTrial: progress.tell,
      onProgress: progress.show,
      onConfirm: (trials, seeds) =>
        out(
          `Confirming trials ${trials.join(", ")} with the seeds ${
            [...new Set([seeds[0], seeds.at(-1)])].join(" to ")
          }\n`,
        ),
    });
    if (found === undefined) {
      out(`Interrupted; everything is saved. Resume with: ${command}\n`);
      return exitCodeOf(signal);
    }
    const lines = [...found.lines, `Wrote ${found.files.join(", ")}`];
    out(lines.map((line) => `${line}\n`).join(""));
    return 0;
  } catch (error) {
    if (!(error instanceof RunFailure)) throw error;
    throw Object.assign(error, { hint: `resume it with: ${command}` });
  } finally {
    progress.end();
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
    if (journal === undefined) return await search(plan, options, io);
    const trials = await exportJournal(plan, journal, {
      dir: valueOf(options, "out"),
      onNotice: (line) => io.err(`${line}\n`),
    });
    io.out(`Wrote ${journal}: ${trials} trials\n`);
    return 0;
  },
};
