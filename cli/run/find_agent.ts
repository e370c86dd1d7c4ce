import { checkSpace } from "@bellman/envs";
import type { RunFolder } from "@bellman/runs";
import { type Checkpoint, evaluationSeeds } from "@bellman/training";
import {
  integerOf,
  option,
  type OptionSpec,
  type ParsedOptions,
  valueOf,
} from "../terminal/command.ts";
import { findAlgorithm } from "../config/algorithms.ts";
import type { ResolvedConfig } from "../config/resolve.ts";
import type { CommandIo } from "../terminal/process.ts";
import {
  admitRun,
  loadCheckpoint,
  openRun,
  parseCheckpointChoice,
  restoreSetup,
  TRUST_OPTION,
} from "./saved_run.ts";
import type { EnvironmentSpaces } from "./environments.ts";
import {
  notices,
  onAnyEngine,
  type RunSetup,
  setUpRun,
  withEngine,
} from "./run_setup.ts";
import { runDirOf } from "../config/zoo_agents.ts";
import { UsageError } from "../terminal/errors.ts";
import { parseYaml } from "../config/yaml.ts";

/** The option that names the engine of an agent that was trained before. */
export const ENGINE_OPTION: OptionSpec = option(
  "engine NAME",
  "Engine to take instead of the run's: auto, onnx, xla or eager.",
);

/** Returns the engine that a command line names, if any. */
export function engineOf(
  options: ParsedOptions,
): ResolvedConfig["engine"] | undefined {
  // Another name is refused when the engine is looked for.
  return valueOf(options, "engine") as ResolvedConfig["engine"] | undefined;
}

/** Options of commands that act with a trained agent. */
export const AGENT_OPTIONS: readonly OptionSpec[] = [
  option(
    "seed N",
    "Seed of the episodes; by default 30000, which neither training nor its evaluations use.",
  ),
  option(
    "checkpoint WHICH",
    "Checkpoint: best (the default), latest or a step.",
  ),
  option("stochastic", "Sample actions."),
  option(
    "deterministic",
    "Take the most likely actions; by default as the run's evaluations did.",
  ),
  ENGINE_OPTION,
  TRUST_OPTION,
];

/** Option that bounds the episodes of a trained agent. */
export const MAX_STEPS_OPTION: OptionSpec = option(
  "max-steps N",
  "Steps after which an episode is cut; by default as in the run's evaluations.",
);

/** Returns the bound of episodes that a command line gives, if any. */
export function maxStepsOf(options: ParsedOptions): number | undefined {
  return integerOf(options, "max-steps", { fallback: undefined });
}

/** A trained agent as a command line names it. */
export interface SavedAgent {
  /** The run folder, as it was given, or that of the zoo's agent. */
  dir: string;
  folder: RunFolder;
  config: ResolvedConfig;
  checkpoint: Checkpoint;
  seed: number;
  deterministic: boolean;
  /** True where sampled actions were requested. */
  samples: boolean;
  /** Lines that the user should see before the agent is made. */
  warnings: string[];
  /** Spaces that replace the environment, where it is not needed. */
  spaces?: EnvironmentSpaces;
}

function runOf({ positionals }: ParsedOptions, command: string): string {
  if (positionals.length === 1) return runDirOf(positionals[0]);
  throw new UsageError(
    `Cannot ${command} ${positionals.length} runs: expected one run folder, as in '${command} runs/a2c-CartPole-v1-seed0'`,
  );
}

/** Returns the spaces that a checkpoint holds, if they are sound. */
function savedSpaces({ notes }: Checkpoint): EnvironmentSpaces | undefined {
  try {
    const spaces = parseYaml(String(notes.spaces)) as EnvironmentSpaces;
    const { observationSpace, actionSpace, stackedFrames = 1 } = spaces;
    checkSpace(observationSpace);
    checkSpace(actionSpace);
    return Number.isSafeInteger(stackedFrames) ? spaces : undefined;
  } catch {
    // Those of the environment are taken.
    return undefined;
  }
}

/**
 * Finds the agent that a command line names, without making it.
 *
 * @param options The command line.
 * @param command Name of the command.
 * @param needs With `environment: false`, no code that the run names is executed.
 */
export function findAgent(
  options: ParsedOptions,
  command: string,
  { environment = true }: { environment?: boolean } = {},
): SavedAgent {
  const dir = runOf(options, command);
  const choice = parseCheckpointChoice(
    valueOf(options, "checkpoint") ?? "best",
  );
  const asked = integerOf(options, "seed", { minimum: 0, fallback: undefined });
  const isTrusted = options.switches.has("trust");
  const run = openRun(dir, { isTrusted });
  const { folder } = run;
  const engine = engineOf(options);
  const config = engine === undefined
    ? onAnyEngine(run.config)
    : withEngine(run.config, engine);
  const admit = (environment: boolean) =>
    admitRun(run, { command, isTrusted, environment });
  // Before anything is read that takes long.
  const admitted = admit(environment);
  const seed = asked ?? evaluationSeeds(config.seed).later;
  const checkpoint = loadCheckpoint(run, choice);
  const spaces = environment ? undefined : savedSpaces(checkpoint);
  const warnings = spaces === undefined ? admit(true) : admitted;
  warnings.push(...checkpoint.warnings);
  const [mode, sample] = ["deterministic", "stochastic"]
    .map((it) => options.switches.has(it));
  if (mode && sample) {
    throw new UsageError(
      "Cannot use both --deterministic and --stochastic: give one of them",
    );
  }
  // By default as in the run's evaluations.
  const deterministic = mode || config.evaluationDeterministic && !sample;
  const common = { dir, folder, config, checkpoint, samples: sample };
  return { ...common, seed, deterministic, warnings, spaces };
}

/**
 * Makes an agent for as long as `use` needs it.
 *
 * @param agent The agent.
 * @param io Streams to print to.
 * @param use Function that uses the agent.
 * @param evaluationEnvs Number of environments that it is evaluated in, if it is.
 */
export async function withAgent(
  agent: SavedAgent,
  io: CommandIo,
  use: (setup: RunSetup) => void | Promise<void>,
  evaluationEnvs = 0,
): Promise<void> {
  const notice = notices(io);
  agent.warnings.forEach(notice);
  // Without an environment nothing is computed.
  const config: ResolvedConfig = agent.spaces === undefined
    ? agent.config
    : { ...agent.config, engine: "eager", backend: "cpu", plugin: null };
  const setup = await setUpRun(config, notice, {
    isForEvaluation: true,
    evaluationEnvs,
    spaces: agent.spaces,
  });
  // A module of the run's may have brought the algorithm.
  if (agent.samples && findAlgorithm(config.algorithm)!.isGreedy) {
    notice(
      `--stochastic does nothing here: ${config.algorithm} has nothing to sample, and takes the best action`,
    );
  }
  try {
    restoreSetup(setup, agent.checkpoint);
    await use(setup);
  } finally {
    setup.close();
  }
}
