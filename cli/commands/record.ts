import {
  recordPeople,
  recordRuns,
  type RecordRunsOptions,
} from "@bellman/runs/training";
import {
  exitCodeOf,
  interruptSignal,
  notices,
  UsageError,
} from "@bellman/runs/program";
import {
  type Command,
  integerOf,
  option,
  valueOf,
} from "../terminal/command.ts";
import { displayOn } from "../terminal/display.ts";
import {
  AGENT_OPTIONS,
  agentOf,
  HUMAN,
  MAX_STEPS_OPTION,
  maxStepsOf,
} from "../options/agent.ts";

/** Options that people have, too. */
const OF_PEOPLE = ["out", "episodes", "append", "env", "seed", "debug"];

/** `record`: writes episodes of trained agents as data to learn from. */
export const recordCommand: Command = {
  name: "record",
  usage: "RUN... --out DIR [OPTIONS] | --env page:URL --out DIR",
  summary:
    "Record episodes of runs' agents, or of people in a page, as data to learn from.",
  options: [
    option("out DIR", "New folder of the episodes, in Minari's form."),
    option(
      "episodes N",
      "Episodes in all, in equal parts of several runs; 20 by default.",
    ),
    option("append", "Add them to those of a folder that exists."),
    option(
      "env ID",
      "Another environment, of the same spaces; by default the run's. Without RUN a game in a page, which people play.",
    ),
    MAX_STEPS_OPTION,
    ...AGENT_OPTIONS,
  ],
  async run(options, io) {
    const { positionals: runs, switches } = options;
    const out = valueOf(options, "out"), env = valueOf(options, "env");
    const isByPeople = runs.length === 0 && env !== undefined;
    if (runs.length === 0 && !isByPeople || out === undefined) {
      throw new UsageError(
        `Cannot record ${
          out === undefined ? "without --out" : "no runs"
        }: expected run folders and a new folder, as in 'record runs/a runs/b --out demo'`,
      );
    }
    if (valueOf(options, "against") === HUMAN) {
      throw new UsageError(
        "Cannot record against human: expected random, scripted, minimax:N or a run",
      );
    }
    const named = [...options.values.keys(), ...switches];
    const idle = named.find((it) => isByPeople && !OF_PEOPLE.includes(it));
    if (idle !== undefined) {
      throw new UsageError(
        `Cannot record people with --${idle}, which is for agents: expected the folder of a run`,
      );
    }
    const episodes = integerOf(options, "episodes", { fallback: 20 });
    const maxSteps = maxStepsOf(options);
    const agents = runs.map((run) => {
      const agent = agentOf({ ...options, positionals: [run] }, "record");
      return env === undefined
        ? agent
        : { ...agent, config: { ...agent.config, env } };
    });
    const seed = integerOf(options, "seed", {
      minimum: 0,
      fallback: undefined,
    });
    const record = (given: RecordRunsOptions) =>
      isByPeople
        ? recordPeople(env, { ...given, seed })
        : recordRuns(agents, given);
    const shown = displayOn(io, { quiet: true, speed: () => "" });
    const { signal, release } = await interruptSignal(() =>
      shown.io.err("\nInterrupted\n")
    );
    try {
      const { summary } = await record({
        ...{ out, episodes, maxSteps, signal },
        append: switches.has("append"),
        onNotice: notices(shown.io),
        onStep({ episodes: whole, steps, meanReturn }, step) {
          // Episodes to come are taken to be as long as those before.
          const length = whole === 0 ? step : steps / whole;
          shown.progress?.update({
            ...{ step, meanReturn, startStep: 0 },
            totalTimesteps: Math.max(1, step, Math.round(length * episodes)),
          });
        },
      });
      shown.progress?.clear();
      io.out(`Recorded ${summary}\n`);
      return signal.aborted ? exitCodeOf(signal) : 0;
    } finally {
      shown.progress?.clear();
      await release();
    }
  },
};
