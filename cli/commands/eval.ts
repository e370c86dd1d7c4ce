import { integerOf, type ParsedOptions, valueOf } from "../args.ts";
import type { Command } from "../command.ts";
import { describeEvaluation, evaluateSession, round } from "../evaluation.ts";
import type { CommandIo } from "../io.ts";
import {
  loadCheckpoint,
  openRun,
  parseCheckpointChoice,
  restoreSession,
} from "../runs.ts";
import { openSession } from "../session.ts";
import { UsageError } from "../usage_error.ts";

/** The one run folder that a command line names. */
export function runOf({ positionals }: ParsedOptions, command: string): string {
  if (positionals.length === 1) return positionals[0];
  throw new UsageError(
    `Cannot ${command} ${positionals.length} runs: expected one run folder, as in '${command} runs/a2c-CartPole-v1-seed0'`,
  );
}

async function evalRun(
  options: ParsedOptions,
  io: CommandIo,
): Promise<number> {
  const dir = runOf(options, "eval");
  const choice = parseCheckpointChoice(
    valueOf(options, "checkpoint") ?? "best",
  );
  const { folder, config } = await openRun(dir);
  const episodes = integerOf(options, "episodes", {
    minimum: 1,
    fallback: config.evaluationEpisodes,
  });
  const seed = integerOf(options, "seed", { minimum: 0, fallback: 0 });
  const deterministic = !options.switches.has("stochastic");
  const checkpoint = loadCheckpoint(folder, choice);
  const session = await openSession(config);
  try {
    restoreSession(session, checkpoint);
    const result = await evaluateSession(session, {
      episodes,
      deterministic,
      seed,
    });
    const kind = deterministic ? "deterministic" : "stochastic";
    io.out(
      options.switches.has("json")
        ? `${
          JSON.stringify({ run: dir, step: checkpoint.step, kind, ...result })
        }\n`
        : `${config.algorithm} on ${config.env}, step ${checkpoint.step}, ${kind}: ${
          describeEvaluation(result)
        } (from ${round(result.minReturn)} to ${
          round(result.maxReturn)
        }, mean length ${round(result.meanLength)})\n`,
    );
    return 0;
  } finally {
    session.close();
  }
}

/** `eval`: plays whole episodes with a trained agent and sums them up. */
export const evalCommand: Command = {
  name: "eval",
  usage: "RUN [OPTIONS]",
  summary: "Evaluate the agent of a run folder.",
  options: [
    { name: "episodes", value: "N", help: "Episodes to play." },
    { name: "seed", value: "N", help: "Seed of the episodes; 0 by default." },
    {
      name: "checkpoint",
      value: "WHICH",
      help: "best (the default), latest, or a step.",
    },
    { name: "stochastic", help: "Sample actions instead of taking the mode." },
    { name: "json", help: "Print one JSON object." },
  ],
  run: evalRun,
};
