import { existsSync } from "node:fs";
import { stringify } from "@std/yaml";
import { createRunFolder } from "@bellman/training";
import { ALGORITHMS } from "../algorithms.ts";
import { type ParsedOptions, valueOf } from "../args.ts";
import type { Command } from "../command.ts";
import { CONFIG_OPTIONS, configFromOptions } from "../config/from_options.ts";
import type { ResolvedConfig } from "../config/resolve.ts";
import { codeOf } from "../environment_modules.ts";
import { runConfigSchema } from "../config/run_config_schema.ts";
import { configHelp } from "../help.ts";
import { interruptSignal } from "../interrupt.ts";
import type { CommandIo } from "../io.ts";
import { plottedAgent } from "../policy_plots.ts";
import { signConfig } from "../run_signature.ts";
import { admitRun, loadCheckpoint, openRun, TRUST_OPTION } from "../runs.ts";
import { notices, openSession, type Session } from "../session.ts";
import { runTraining, type TrainingRun } from "../training_run.ts";
import { UsageError } from "../usage_error.ts";
import { writeWhole } from "../whole_file.ts";

function algorithmOf(options: ParsedOptions): string | undefined {
  const [name, ...rest] = options.positionals;
  if (rest.length > 0) {
    throw new UsageError(
      `Cannot read '${
        rest[0]
      }': expected one algorithm and options, as in 'train a2c --env CartPole-v1'`,
    );
  }
  return name;
}

function defaultFolder({ algorithm, env, seed }: ResolvedConfig): string {
  const time = new Date().toISOString().replace(/[-:]/g, "").slice(0, 15)
    .replace("T", "-");
  // An id may hold what a folder's name should not: ALE/Pong-v5.
  const name = env.replaceAll(/[^\w.-]+/g, "-");
  return `runs/${algorithm}-${name}-seed${seed}-${time}`;
}

function announce(
  { config, engine }: Session,
  { dir, io }: { dir: string; io: CommandIo },
): void {
  io.out(
    `Training ${config.algorithm} on ${config.env}: ${config.totalTimesteps} steps, ${config.numEnvs} copies, seed ${config.seed}
Engine: ${engine}
Run folder: ${dir}
`,
  );
}

type Start = Omit<TrainingRun, "io" | "quiet" | "signal">;

/** What can be trained as the configuration says. */
async function openTraining(
  config: ResolvedConfig,
  io: CommandIo,
): Promise<Session> {
  const session = await openSession(config, notices(io));
  // Before anything is written.
  if (config.policyPlots) plottedAgent(session);
  return session;
}

/** A new run: nothing is written before everything could be put together. */
async function startRun(
  options: ParsedOptions,
  io: CommandIo,
): Promise<Start> {
  if (options.switches.has("trust")) {
    throw new UsageError(
      "Cannot use '--trust' without --resume: a new run imports what its options name",
    );
  }
  const config = await configFromOptions(algorithmOf(options), options);
  const { modules } = codeOf(config);
  if (options.values.has("config") && modules.length > 0) {
    notices(io)(`The run imports ${modules.join(", ")}`);
  }
  const session = await openTraining(config, io);
  try {
    const out = valueOf(options, "out");
    const configText = stringify(session.config);
    const folder = createRunFolder(out ?? defaultFolder(config), {
      configText,
      signatureText: signConfig(configText),
      ifTaken: out === undefined ? "next" : "error",
    });
    return { session, folder };
  } catch (error) {
    session.close();
    throw error;
  }
}

/** A run that goes on from its newest checkpoint. */
async function resumeRun(
  dir: string,
  { options, io }: { options: ParsedOptions; io: CommandIo },
): Promise<Start> {
  const others = [...options.values.keys()].filter((name) => name !== "resume");
  const given = options.positionals[0] ?? others.map((it) => `--${it}`)[0];
  if (given !== undefined) {
    throw new UsageError(
      `Cannot use '${given}' with --resume: a run goes on with the configuration that it was started with`,
    );
  }
  const run = await openRun(dir);
  const { folder, config } = run;
  const isTrusted = options.switches.has("trust");
  const warnings = admitRun(run, { command: "resume", isTrusted });
  const checkpoint = loadCheckpoint(folder, "latest");
  // A run that was stopped in its last evaluation has that still to do.
  const hasReport = existsSync(folder.reportPath);
  if (checkpoint.step >= config.totalTimesteps && hasReport) {
    throw new UsageError(
      `Cannot resume ${dir}: it has run all of its ${config.totalTimesteps} steps`,
    );
  }
  warnings.forEach(notices(io));
  const session = await openTraining(config, io);
  if (!existsSync(folder.configPath)) {
    await writeWhole(folder.configPath, run.configText);
  }
  // That of an interrupted run: it would tell that this one has ended.
  if (hasReport) await Deno.remove(folder.reportPath);
  return { session, folder, resumeFrom: checkpoint.state };
}

async function trainRun(
  options: ParsedOptions,
  io: CommandIo,
): Promise<number> {
  const resumed = valueOf(options, "resume");
  const start = resumed === undefined
    ? await startRun(options, io)
    : await resumeRun(resumed, { options, io });
  const { session, folder } = start;
  const quiet = options.switches.has("quiet");
  if (!quiet) announce(session, { dir: folder.dir, io });
  const { signal, release } = await interruptSignal(() =>
    io.err("\nStopping and saving; a second Ctrl-C ends the run at once\n")
  );
  try {
    return await runTraining({ ...start, io, quiet, signal });
  } finally {
    await release();
    session.close();
  }
}

function details(): string {
  const run = configHelp("Keys of a run:", runConfigSchema);
  const algorithms = Object.entries(ALGORITHMS).map(([name, { schema }]) =>
    configHelp(`Keys of ${name}:`, schema)
  );
  return [run, ...algorithms].join("\n");
}

/** `train`: trains an agent into a new run folder, or goes on with one. */
export const trainCommand: Command = {
  name: "train",
  usage: "[ALGORITHM] [OPTIONS] | train --resume RUN",
  summary: "Train an agent.",
  options: [
    ...CONFIG_OPTIONS,
    { name: "out", value: "DIR", help: "Run folder; a new one under runs/." },
    {
      name: "resume",
      value: "RUN",
      help: "Go on with a run from its newest checkpoint.",
    },
    TRUST_OPTION,
    { name: "quiet", help: "Print the result only." },
  ],
  details,
  run: trainRun,
};
