/** Options of a command line that name a trained agent. */
import {
  type CheckpointChoice,
  findAgent,
  type SavedAgent,
} from "@bellman/runs/training";
import { findAlgorithm, type ResolvedConfig } from "@bellman/runs/settings";
import { UsageError } from "@bellman/runs/program";
import {
  integerOf,
  option,
  type OptionSpec,
  type ParsedOptions,
  valueOf,
} from "../terminal/command.ts";
import { TRUST_OPTION } from "./options.ts";

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

/** Opponent that is a person at the terminal. */
export const HUMAN = "human";

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
  option(
    "against PLAYER",
    "Opponent in games: random, scripted, minimax:N or a run, and of play human; by default that of the run's evaluations.",
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

/** Parses `best`, `latest` or a step. */
export function parseCheckpointChoice(text: string): CheckpointChoice {
  if (text === "best" || text === "latest") return text;
  const step = Number(text);
  if (text.trim() !== "" && Number.isSafeInteger(step) && step >= 0) {
    return step;
  }
  throw new UsageError(
    `Cannot use --checkpoint ${text}: expected best, latest or a step`,
  );
}

function runOf({ positionals }: ParsedOptions, command: string): string {
  if (positionals.length === 1) return positionals[0];
  throw new UsageError(
    `Cannot ${command} ${positionals.length} runs: expected one run folder, as in '${command} runs/a2c-CartPole-v1-seed0'`,
  );
}

/**
 * Finds the agent that a command line names, without making it.
 *
 * @param options The command line.
 * @param command Name of the command.
 * @param needs With `environment: false`, no code that the run names is executed.
 */
export function agentOf(
  options: ParsedOptions,
  command: string,
  { environment = true }: { environment?: boolean } = {},
): SavedAgent {
  const dir = runOf(options, command);
  const checkpoint = parseCheckpointChoice(
    valueOf(options, "checkpoint") ?? "best",
  );
  const seed = integerOf(options, "seed", { minimum: 0, fallback: undefined });
  const isTrusted = options.switches.has("trust");
  const [mode, sample] = ["deterministic", "stochastic"]
    .map((it) => options.switches.has(it));
  const engine = engineOf(options);
  const agent = findAgent(dir, {
    ...{ command, checkpoint, seed, isTrusted, engine, environment },
    deterministic: mode ? true : sample ? false : undefined,
  });
  if (mode && sample) {
    throw new UsageError(
      "Cannot use both --deterministic and --stochastic: give one of them",
    );
  }
  const { algorithm } = agent.config;
  if (sample && findAlgorithm(algorithm)?.meta.isGreedy) {
    agent.warnings.push(
      `--stochastic does nothing here: ${algorithm} has nothing to sample, and takes the best action`,
    );
  }
  const evaluationOpponent = valueOf(options, "against");
  return evaluationOpponent === undefined || evaluationOpponent === HUMAN
    ? agent
    : { ...agent, config: { ...agent.config, evaluationOpponent } };
}
