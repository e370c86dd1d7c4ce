import { unusedLines } from "@bellman/agent";
import type { RunRecord } from "@bellman/runs";
import {
  findAlgorithm,
  presetFor,
  type ResolvedConfig,
  resolveWithModules,
  runConfigSchema,
  runDirOf,
  writeYaml,
} from "@bellman/runs/settings";
import {
  type Command,
  commandLine,
  integerOf,
  option,
  type OptionSpec,
  type ParsedOptions,
  taskLine,
  valueOf,
} from "../terminal/command.ts";
import {
  CLUSTER_OPTIONS,
  clusterOf,
  clusterWords,
  CPUS_OPTION,
  onCluster,
  trainTask,
} from "../options/cluster.ts";
import {
  CONFIG_OPTIONS,
  folderWords,
  importAlgorithms,
  sourcesOf,
  TRUST_OPTION,
} from "../options/options.ts";
import {
  beginRun,
  codeOf,
  loadEnvironment,
  openSavedRun,
  type Output,
  resumeRun,
  weightsOfRun,
} from "@bellman/runs/training";
import { trainHelp, trainSchemas } from "../options/help.ts";
import {
  type CommandIo,
  exitCodeOf,
  interruptSignal,
  notices,
  shellWord,
  UsageError,
} from "@bellman/runs/program";
import { displayOn } from "../terminal/display.ts";
import { engineOf } from "../options/agent.ts";
import { isOfSeeds, trainSeeds } from "./train_seeds.ts";

function algorithmOf({ positionals }: ParsedOptions): string | undefined {
  const [name, extra] = positionals;
  if (extra === undefined) return name;
  throw new UsageError(
    `Cannot read '${extra}': expected one algorithm and options, as in 'train a2c --env CartPole-v1'`,
  );
}

/** Names the settings that a run starts from, before those of the command line. */
function settingsOf(
  { algorithm, env }: ResolvedConfig,
  options: ParsedOptions,
): string {
  const file = valueOf(options, "config");
  if (file !== undefined) return file;
  const preset = valueOf(options, "preset");
  const name = presetFor(findAlgorithm(algorithm)!, { preset, env });
  if (name !== undefined) return `preset ${name}`;
  const why = preset === undefined ? `, which has no preset for ${env}` : "";
  return `defaults of ${algorithm}${why}; --print-config prints them`;
}

/** A run as the command shows it. */
interface ShownRun extends Output {
  io: CommandIo;
  signal: AbortSignal;
  onNotice: (line: string) => void;
}

/** Returns the exit code of a run that has come to an end. */
function codeOfRun({ state }: RunRecord, { signal }: ShownRun): number {
  return state === "stopped" ? exitCodeOf(signal) : 0;
}

/** Prints all settings as a file of `--config`, and where they are from. */
async function printConfig(
  config: ResolvedConfig,
  options: ParsedOptions,
  { io, onNotice }: ShownRun,
): Promise<number> {
  // Without the environment, its name may be wrong.
  await loadEnvironment(config);
  const [source] = settingsOf(config, options).split(";");
  io.out(`# ${config.algorithm} on ${config.env}: ${source}\n`);
  io.out(writeYaml(config));
  // The spaces are not known.
  unusedLines(findAlgorithm(config.algorithm)!.meta, config).forEach(onNotice);
  return 0;
}

/** Returns the algorithm of the run whose weights are taken, unless a file names one. */
function algorithmFrom(options: ParsedOptions): string | undefined {
  const from = valueOf(options, "init-from");
  if (from === undefined || options.values.has("config")) return undefined;
  const isTrusted = options.switches.has("trust");
  return openSavedRun(runDirOf(from), { isTrusted }).config.algorithm;
}

/** Trains a new run; writes nothing before the setup is open. */
async function startRun(
  given: ParsedOptions,
  output: ShownRun,
): Promise<number> {
  const options = onCluster(algorithmOf(given), given);
  const from = valueOf(options, "init-from"), name = folderWords(options);
  if (options.switches.has("trust") && from === undefined) {
    throw new UsageError(
      "Cannot use '--trust' without --resume or --init-from: a new run imports what its options name",
    );
  }
  const resolved = await resolveWithModules(
    algorithmOf(options) ?? algorithmFrom(options),
    sourcesOf(options),
    {
      admit(config) {
        const { modules } = codeOf(config);
        if (modules.length === 0 || !options.values.has("config")) return;
        output.onNotice(`The run imports ${modules.join(", ")}`);
      },
      onNotice: output.onNotice,
    },
  );
  // An engine that is named takes any plugin.
  const config = options.values.has("engine")
    ? { ...resolved, plugin: null }
    : resolved;
  if (options.switches.has("print-config")) {
    return await printConfig(config, options, output);
  }
  // Before the setup, whose engine and backend stay chosen.
  const weights = from === undefined ? undefined : await weightsOfRun(from, {
    isTrusted: options.switches.has("trust"),
    onNotice: output.onNotice,
  });
  const record = await beginRun(config, output, {
    out: valueOf(options, "out"),
    name,
    command: taskLine(trainTask(options.values.has("cluster")), options),
    settings: settingsOf(config, options),
    weights,
    isUnchecked: options.switches.has("unchecked"),
  });
  return codeOfRun(record, output);
}

/** Resumes a run as the command line says. */
async function resume(
  dir: string,
  options: ParsedOptions,
  output: ShownRun,
): Promise<number> {
  const clusters = CLUSTER_OPTIONS.map(({ name }) => name);
  const allowed = ["resume", "engine", "steps", ...clusters];
  const others = [...options.values.keys()]
    .filter((name) => !allowed.includes(name));
  const switches = ["print-config", "unchecked"]
    .filter((name) => options.switches.has(name));
  const given = options.positionals[0] ??
    [...others, ...switches].map((it) => `--${it}`)[0];
  if (given !== undefined) {
    throw new UsageError(
      `Cannot use '${given}' with --resume: a run resumes with the configuration that it was started with`,
    );
  }
  const record = await resumeRun(dir, output, {
    isTrusted: options.switches.has("trust"),
    steps: integerOf(options, "steps", {
      maximum: runConfigSchema.properties.totalTimesteps.maximum,
      fallback: undefined,
    }),
    engine: engineOf(options),
  });
  return codeOfRun(record, output);
}

async function details(options: ParsedOptions): Promise<string> {
  await importAlgorithms(options);
  return trainHelp(options.positionals);
}

/** Puts options under a heading of the help. */
function under(group: string, specs: readonly OptionSpec[]): OptionSpec[] {
  return specs.map((spec) => ({ ...spec, group }));
}

/** Options that set where a run is computed. */
const PLACES: readonly string[] = ["workers", "engine", "backend"];

/** `train`: trains an agent into a new run folder, or resumes one. */
export const trainCommand: Command = {
  name: "train",
  usage: "[ALGORITHM] [OPTIONS] | train --resume RUN",
  summary: "Train an agent.",
  options: [
    ...under("What to train", [
      ...CONFIG_OPTIONS.filter(({ name }) => !PLACES.includes(name)),
      option(
        "seeds N",
        "Train with N seeds, from --seed on: an experiment of one variant.",
      ),
      option("print-config", "Print all settings instead of training."),
    ]),
    ...under(
      "Where it runs",
      [
        ...CONFIG_OPTIONS.filter(({ name }) => PLACES.includes(name)),
        option(
          "jobs N",
          "Runs at a time with --seeds; by default one for each core.",
        ),
        ...CLUSTER_OPTIONS,
        {
          ...CPUS_OPTION,
          help: "CPUs of each run with --seeds, 1 by default.",
        },
      ],
    ),
    ...under("Run folders", [
      option("out DIR", "Run folder; by default a new one under runs/."),
      option("name TEXT", "Prefix of the new folder's name under runs/."),
      option(
        "resume RUN",
        "Resume a run; --steps prolongs it, --engine takes another engine.",
      ),
      option(
        "init-from RUN",
        "Start a new run from the weights of another one's best agent.",
      ),
      TRUST_OPTION,
      option("unchecked", "Train on an environment of your own unchecked."),
    ]),
    option("quiet", "Show only the progress bar and the result."),
    option("json", "With --help: options and settings as JSON schemas."),
  ],
  details,
  async data(options) {
    await importAlgorithms(options);
    return trainSchemas(options.positionals);
  },
  async run(options, io) {
    if (options.switches.has("json")) {
      throw new UsageError("Cannot use '--json' without --help");
    }
    if (isOfSeeds(options)) {
      return await trainSeeds(algorithmOf(options), options, io);
    }
    const quiet = options.switches.has("quiet");
    const shown = displayOn(io, {
      quiet,
      speed: () => output.speed?.() ?? "",
    });
    const { signal, release } = await interruptSignal(() =>
      shown.io.err(
        "Stopping and saving; a second Ctrl-C ends the run at once\n",
      )
    );
    const cluster = clusterOf(options);
    const output: ShownRun = {
      ...{ ...shown, signal, cluster },
      onLine: (line) => shown.io.out(`${line}\n`),
      onNotice: notices(shown.io),
      resumeCommand(dir, needsTrust) {
        const path = dir.startsWith("-") ? `./${dir}` : dir;
        return commandLine(
          trainTask(cluster !== undefined),
          `--resume ${shellWord(path)}${needsTrust ? " --trust" : ""}${
            clusterWords(cluster)
          }`,
        );
      },
    };
    const resumed = valueOf(options, "resume");
    try {
      return resumed === undefined
        ? await startRun(options, output)
        : await resume(runDirOf(resumed), options, output);
    } finally {
      await release();
    }
  },
};
