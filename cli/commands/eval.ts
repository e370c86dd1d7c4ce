import {
  type Command,
  integerOf,
  option,
  valueOf,
} from "../terminal/command.ts";
import {
  actionKind,
  describeEvaluation,
  evaluateSetup,
  evaluationOpponentOf,
  round,
  withAgent,
} from "@bellman/runs/training";
import { notices, UsageError } from "@bellman/runs/program";
import {
  AGENT_OPTIONS,
  agentOf,
  HUMAN,
  MAX_STEPS_OPTION,
  maxStepsOf,
} from "../options/agent.ts";

/** `eval`: plays whole episodes with a trained agent and sums them up. */
export const evalCommand: Command = {
  name: "eval",
  usage: "RUN [OPTIONS]",
  summary: "Evaluate the agent of a run folder.",
  options: [
    option("episodes N", "Episodes to play; by default as many as in the run."),
    MAX_STEPS_OPTION,
    ...AGENT_OPTIONS,
    option("json", "Print one JSON object."),
  ],
  async run(options, io) {
    if (valueOf(options, "against") === HUMAN) {
      throw new UsageError(
        "Cannot evaluate against human: expected random, scripted, minimax:N or a run; 'play' takes human",
      );
    }
    const agent = agentOf(options, "eval");
    const { dir, config, seed, deterministic, checkpoint: { step } } = agent;
    const episodes = integerOf(options, "episodes", {
      fallback: config.evaluationEpisodes,
    });
    const maxSteps = maxStepsOf(options);
    await withAgent(agent, async (setup) => {
      const kind = actionKind(config, deterministic);
      const result = await evaluateSetup(setup, {
        episodes,
        maxSteps,
        deterministic,
        seed,
      });
      const opponent = evaluationOpponentOf(config);
      if (options.switches.has("json")) {
        const evaluation = { run: dir, step, kind, opponent, ...result };
        io.out(`${JSON.stringify(evaluation)}\n`);
        return;
      }
      const against = opponent === undefined ? "" : ` against ${opponent}`;
      const spread = `from ${round(result.minReturn)} to ${
        round(result.maxReturn)
      }, mean length ${round(result.meanLength)}`;
      io.out(
        `${config.algorithm} on ${config.env}${against}, step ${step}, ${kind}: ${
          describeEvaluation(result)
        } (${spread})\n`,
      );
      if (opponent !== undefined) io.out(`${winsOf(result.returns)}\n`);
    }, { episodes, onNotice: notices(io) });
    return 0;
  },
};

/** Describes the games that were won, drawn and lost. */
function winsOf(returns: readonly number[]): string {
  const share = (sign: number) => {
    const count = returns.filter((it) => Math.sign(it) === sign).length;
    return `${(100 * count / returns.length).toFixed(1)} %`;
  };
  return `Games won ${share(1)}, drawn ${share(0)}, lost ${share(-1)}`;
}
