import {
  type Checkpoint,
  evaluationSeeds,
  type RunFolder,
} from "@bellman/training";
import {
  integerOf,
  type OptionSpec,
  type ParsedOptions,
  valueOf,
} from "../args.ts";
import type { ResolvedConfig } from "../config/resolve.ts";
import type { CommandIo } from "../io.ts";
import {
  admitRun,
  loadCheckpoint,
  openRun,
  parseCheckpointChoice,
  restoreSession,
  TRUST_OPTION,
} from "../runs.ts";
import { notices, openSession, type Session } from "../session.ts";
import { UsageError } from "../usage_error.ts";

/** The options of commands that act with a trained agent. */
export const AGENT_OPTIONS: readonly OptionSpec[] = [
  {
    name: "seed",
    value: "N",
    help:
      "Seed of the episodes; by default 30000, which neither training nor its evaluations took.",
  },
  {
    name: "checkpoint",
    value: "WHICH",
    help: "best (the default), latest, or a step.",
  },
  { name: "stochastic", help: "Sample actions." },
  {
    name: "deterministic",
    help: "Take the mode; without either, as the run's evaluations did.",
  },
  TRUST_OPTION,
];

/** How actions are chosen: as the run was evaluated unless said otherwise. */
function isDeterministic(
  { switches }: ParsedOptions,
  { evaluationDeterministic }: ResolvedConfig,
): boolean {
  const [mode, sample] = ["deterministic", "stochastic"]
    .map((it) => switches.has(it));
  if (mode && sample) {
    throw new UsageError(
      "Cannot use both --deterministic and --stochastic: give one of them",
    );
  }
  return mode || evaluationDeterministic && !sample;
}

/** What a command line says of a trained agent. */
export interface SavedAgent {
  /** The run folder, as it was given. */
  dir: string;
  folder: RunFolder;
  config: ResolvedConfig;
  checkpoint: Checkpoint;
  seed: number;
  deterministic: boolean;
  /** Lines that the user should see before it is put together. */
  warnings: string[];
}

function runOf({ positionals }: ParsedOptions, command: string): string {
  if (positionals.length === 1) return positionals[0];
  throw new UsageError(
    `Cannot ${command} ${positionals.length} runs: expected one run folder, as in '${command} runs/a2c-CartPole-v1-seed0'`,
  );
}

/** Finds the agent that a command line names; nothing is put together yet. */
export async function findAgent(
  options: ParsedOptions,
  command: string,
): Promise<SavedAgent> {
  const dir = runOf(options, command);
  const choice = parseCheckpointChoice(
    valueOf(options, "checkpoint") ?? "best",
  );
  const asked = integerOf(options, "seed", { minimum: 0, fallback: undefined });
  const run = await openRun(dir);
  const isTrusted = options.switches.has("trust");
  const warnings = admitRun(run, { command, isTrusted });
  const { folder, config } = run;
  const seed = asked ?? evaluationSeeds(config.seed).later;
  const checkpoint = loadCheckpoint(folder, choice);
  warnings.push(...checkpoint.warnings);
  const deterministic = isDeterministic(options, config);
  return { dir, folder, config, checkpoint, seed, deterministic, warnings };
}

/** Acting is the same wherever it runs: a compiled agent may act eagerly. */
function asAvailable(config: ResolvedConfig): ResolvedConfig {
  if (config.engine !== "onnx") return config;
  return { ...config, engine: "auto", backend: "auto" };
}

/**
 * Puts a found agent together for as long as `use` needs it.
 *
 * @param agent The agent.
 * @param io Where to print.
 * @param use What is done with it.
 * @param evaluationCopies How many copies it is evaluated in, if it is.
 */
export async function withAgent(
  { config, checkpoint, warnings }: SavedAgent,
  io: CommandIo,
  use: (session: Session) => Promise<void>,
  evaluationCopies = 0,
): Promise<void> {
  const notice = notices(io);
  warnings.forEach(notice);
  const session = await openSession(asAvailable(config), notice, {
    isForJudging: true,
    evaluationCopies,
  });
  try {
    restoreSession(session, checkpoint);
    await use(session);
  } finally {
    session.close();
  }
}
