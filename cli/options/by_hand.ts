/** Environments that a person plays at the terminal. */
import { make, Recorder, TimeLimit } from "@bellman/envs";
import {
  enlarged,
  EpisodeWriter,
  playByHand,
  terminalSink,
} from "@bellman/runs/play";
import { type CommandIo, UsageError } from "@bellman/runs/program";
import { resolveConfig } from "@bellman/runs/settings";
import { loadEnvironment, round } from "@bellman/runs/training";
import { integerOf, type ParsedOptions, valueOf } from "../terminal/command.ts";
import { maxStepsOf } from "./agent.ts";

/** Options that `--human` takes. */
const TAKEN: readonly string[] = [
  ...["human", "record", "append", "episodes", "seed", "max-steps", "debug"],
];

/** Checks that `--human` and the other options go together. */
export function checkByHand({ switches, values }: ParsedOptions): void {
  const given = [...switches, ...values.keys()];
  const isByHand = switches.has("human");
  const wrong = given.find((it) =>
    isByHand ? !TAKEN.includes(it) : ["record", "append"].includes(it)
  );
  if (wrong === undefined) return;
  throw new UsageError(
    isByHand
      ? `Cannot use --${wrong} with --human: expected --record, --append, --episodes, --seed or --max-steps`
      : `Cannot use --${wrong} without --human: expected 'record', which records agents`,
  );
}

/** Moves the cursor to the line before, and clears from there on. */
const REDRAW = "\x1b[1A\x1b[J";

/** Lets a person at the terminal play an environment. */
export async function playHere(
  options: ParsedOptions,
  io: CommandIo,
): Promise<number> {
  const { ask, raw = io } = io, { positionals: [id, ...more] } = options;
  if (ask === undefined || !io.outIsTerminal) {
    throw new UsageError(
      "Cannot play by hand: standard input or output is not a terminal",
    );
  }
  if (id === undefined || more.length > 0) {
    throw new UsageError(
      `Cannot play ${options.positionals.length} environments: expected one, as in 'play CartPole-v1 --human'`,
    );
  }
  const episodes = integerOf(options, "episodes", { fallback: 1 });
  const seed = integerOf(options, "seed", { minimum: 0, fallback: 0 });
  const maxSteps = maxStepsOf(options) ?? Infinity;
  const config = resolveConfig(undefined, { entries: [["env", id]] });
  await loadEnvironment(config);
  const inner = make(id, { kwargs: config.envKwargs });
  const env = new Recorder(new TimeLimit(inner, maxSteps));
  let writer: EpisodeWriter | undefined;
  try {
    const out = valueOf(options, "record");
    const append = options.switches.has("append");
    if (out !== undefined) {
      writer = await EpisodeWriter.open(out, env, { append });
    }
    io.out("Enter repeats your action, Ctrl-C ends the game\n");
    let sink = terminalSink(io, Infinity);
    await playByHand(env, {
      episodes,
      seed: seed + (writer?.before ?? 0),
      show: (moment) => sink.show(enlarged(env.render()), moment),
      async ask(question) {
        const line = await ask(question);
        raw.out(line === undefined ? "\n" : REDRAW);
        return line;
      },
      async onEpisode(sum) {
        io.out(`Return ${round(sum)}\n`);
        sink = terminalSink(io, Infinity);
        writer?.take(env.episodes);
        await writer?.save();
      },
    });
    if (writer) io.out(`Recorded ${writer.summary}\n`);
    return 0;
  } finally {
    writer?.close();
    env.close();
  }
}
