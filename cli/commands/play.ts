import { EventLoopBreak } from "@bellman/training";
import {
  round,
  type RunSetup,
  type SavedAgent,
  withAgent,
} from "@bellman/runs/training";
import {
  checkWritable,
  type CommandIo,
  exitCodeOf,
  interruptSignal,
  notices,
  UsageError,
} from "@bellman/runs/program";
import { makeWorld, SeededRandom } from "@bellman/envs";
import { actorPlayer } from "@bellman/envs/games";
import type { Env, RenderOptions, RgbImage } from "@bellman/types";
import { existsSync, statSync } from "node:fs";
import { extname } from "node:path";
import {
  type Command,
  integerOf,
  option,
  type ParsedOptions,
  valueOf,
} from "../terminal/command.ts";
import {
  captionOf,
  enlarged,
  frameRateOf,
  GifWriter,
  hasFfmpeg,
  MOST_GIF_FRAMES_PER_SECOND as MOST_GIF,
  Mp4Writer,
  type PictureSink,
  playEpisodes,
  playHuman,
  pngSink,
  terminalSink,
  textWorld,
  withCaption,
} from "@bellman/runs/play";
import {
  AGENT_OPTIONS,
  agentOf,
  HUMAN,
  MAX_STEPS_OPTION,
  maxStepsOf,
} from "../options/agent.ts";
import { outputPath } from "@bellman/runs/settings";
import { checkByHand, playHere } from "../options/by_hand.ts";

/** Checks before anything is played that a video can be written. */
async function checkVideoPath(path: string, ending: string): Promise<void> {
  if (extname(path).toLowerCase() !== ending) {
    throw new UsageError(
      `Cannot write the video to ${path}: expected a file that ends in ${ending}`,
    );
  }
  await checkWritable(path, "the video");
}

/** Kind of output: its highest frame rate, and how it begins. */
interface Output {
  /** Most images a second. */
  most: number;
  /** True where step and return are written on the images. */
  hasCaption: boolean;
  /** Begins to take images. */
  open(framesPerSecond: number): PictureSink;
}

async function outputOf(
  options: ParsedOptions,
  { agent, io }: { agent: SavedAgent; io: CommandIo },
): Promise<Output> {
  const framesPerSecond = integerOf(options, "fps", { fallback: undefined });
  const [gif, mp4, png] = ["gif", "mp4", "png"]
    .map((name) => valueOf(options, name));
  const live = options.switches.has("live");
  const asked = [gif, mp4, png].filter((it) => it !== undefined).length;
  if (asked + Number(live) > 1) {
    throw new UsageError(
      "Cannot use more than one of --gif, --mp4, --png and --live: give one of them",
    );
  }
  if (live && !io.outIsTerminal) {
    throw new UsageError(
      "Cannot play live: standard output is not a terminal; use --gif or --mp4 FILE",
    );
  }
  if (live) {
    const open = (rate: number) => terminalSink(io, rate);
    return { most: MOST_LIVE, hasCaption: false, open };
  }
  if (png !== undefined) {
    if (framesPerSecond !== undefined) {
      throw new UsageError(
        "Cannot use --fps with --png: single pictures have no rate; leave it out",
      );
    }
    if (existsSync(png) && !statSync(png).isDirectory()) {
      throw new UsageError(
        `Cannot write the pictures to ${png}: expected a folder, this is a file`,
      );
    }
    return { most: Infinity, hasCaption: false, open: () => pngSink(png) };
  }
  if (mp4 !== undefined) {
    await checkVideoPath(mp4, ".mp4");
    if (!await hasFfmpeg()) {
      throw new UsageError(
        "Cannot write an MP4: there is no ffmpeg; install it or use --gif FILE",
      );
    }
    const open = (rate: number) => new Mp4Writer(mp4, rate);
    return { most: MOST_MP4, hasCaption: true, open };
  }
  if (framesPerSecond !== undefined && framesPerSecond > MOST_GIF) {
    throw new UsageError(
      `Cannot write a GIF of ${framesPerSecond} pictures a second: expected at most ${MOST_GIF}; use --mp4 FILE, or a lower --fps with --every N, which looks as fast`,
    );
  }
  const path = gif ?? outputPath(agent, "play.gif");
  await checkVideoPath(path, ".gif");
  const open = (rate: number) => new GifWriter(path, rate);
  return { most: MOST_GIF, hasCaption: true, open };
}

/** Most images a second of an MP4, as screens show no more. */
const MOST_MP4 = 60;
/** Most images a second in a terminal, which draws slowly. */
const MOST_LIVE = 30;

/** Frames that are shown: each how manieth, and how many a second. */
interface Pace {
  every: number;
  framesPerSecond: number;
}

/** Chooses frames so that the environment is seen at its own speed, unless the options say otherwise. */
function paceOf(
  options: ParsedOptions,
  { most, rate }: { most: number; rate: number },
): Pace {
  const asked = integerOf(options, "fps", { fallback: undefined });
  const fallback = asked === undefined ? Math.ceil(rate / most) : 1;
  const every = integerOf(options, "every", {
    fallback: Math.max(1, fallback),
  });
  return { every, framesPerSecond: asked ?? Math.min(most, rate / every) };
}

/** Returns a function that draws an environment in the size that the options give, by default in its own. */
function drawerOf(
  options: ParsedOptions,
): (env: Env) => RgbImage {
  const side = { maximum: MOST_PIXELS, fallback: undefined };
  const width = integerOf(options, "width", side);
  const height = integerOf(options, "height", side);
  if (width === undefined && height === undefined) {
    return (env) => enlarged(env.render());
  }
  let size: RenderOptions | undefined;
  return (env) => {
    size ??= sizeOf(env.render(), { width, height });
    return env.render(size);
  };
}

/** Adds the side that was not given, so that shapes stay as they are. */
function sizeOf(
  own: RgbImage,
  { width, height }: RenderOptions,
): RenderOptions {
  const side = (pixels: number) =>
    Math.min(MOST_PIXELS, Math.max(1, Math.round(pixels)));
  return {
    width: width ?? side(own.width * height! / own.height),
    height: height ?? side(own.height * width! / own.width),
  };
}

/** Largest side in pixels: GIFs end at 65,535, and memory before that. */
const MOST_PIXELS = 8192;

/** Lets a person at the terminal play against the agent of a game. */
async function playAtTerminal(
  options: ParsedOptions,
  io: CommandIo,
): Promise<number> {
  const { ask } = io;
  if (ask === undefined) {
    throw new UsageError(
      "Cannot play against human: standard input is not a terminal; expected random, scripted, minimax:N or a run",
    );
  }
  const agent = agentOf(options, "play");
  const { config: { env, envKwargs: kwargs }, deterministic, seed } = agent;
  const games = integerOf(options, "episodes", { fallback: 1 });
  await withAgent(agent, async ({ algorithm }) => {
    const world = textWorld(makeWorld(env, { numEnvs: 1, kwargs }));
    const policy = { frozen: true, deterministic, seed, numEnvs: 1 };
    const { won, drawn, lost } = await playHuman(
      world,
      actorPlayer(algorithm.policy(policy)),
      { games, random: new SeededRandom(seed), ask, say: io.out },
    );
    io.out(`\nYou won ${won}, drew ${drawn} and lost ${lost}\n`);
  }, { onNotice: notices(io) });
  return 0;
}

/** `play`: renders episodes of a trained agent. */
export const playCommand: Command = {
  name: "play",
  usage: "RUN [OPTIONS]\n       bellman play ENV --human [--record DIR]",
  summary:
    "Render episodes of a run's agent, or play an environment yourself (--human).",
  options: [
    option("episodes N", "Episodes to play; 1 by default."),
    option("gif FILE", "Write a GIF; by default play.gif in the run folder."),
    option("mp4 FILE", "Write an MP4 video instead; needs ffmpeg."),
    option("png DIR", "Write a PNG file for each step instead."),
    option("live", "Play in the terminal instead."),
    option("fps N", "Frames per second; by default the environment's own."),
    option(
      "every N",
      "Show every Nth step only; by default 1, or what the file's rate allows.",
    ),
    option(
      "width N",
      "Width in pixels; by default the environment's own, small ones enlarged.",
    ),
    option("height N", "Height in pixels; by default as the width is."),
    option("no-caption", "Leave out the line with step and return."),
    option("human", "Play an environment yourself, in the terminal."),
    option("record DIR", "Write what you play as episodes to learn from."),
    option("append", "Add them to those of a folder that exists."),
    MAX_STEPS_OPTION,
    ...AGENT_OPTIONS,
  ],
  async run(options, io) {
    checkByHand(options);
    if (options.switches.has("human")) return await playHere(options, io);
    if (valueOf(options, "against") === HUMAN) {
      return await playAtTerminal(options, io);
    }
    const episodes = integerOf(options, "episodes", { fallback: 1 });
    const draw = drawerOf(options);
    // A rate that cannot be is refused before anything is made.
    integerOf(options, "every", { fallback: 1 });
    const asked = maxStepsOf(options);
    const agent = agentOf(options, "play");
    const { seed, deterministic } = agent;
    const output = await outputOf(options, { agent, io });
    const isCaptioned = output.hasCaption &&
      !options.switches.has("no-caption");
    let sink: PictureSink | undefined;
    const { signal, release } = await interruptSignal(() =>
      io.err("\nInterrupted\n")
    );
    const turn = new EventLoopBreak();
    const play = async (setup: RunSetup) => {
      const env = setup.environments.single();
      const rate = frameRateOf(env);
      const { every, framesPerSecond } = paceOf(options, { ...output, rate });
      const opened = sink = output.open(framesPerSecond);
      const played = await playEpisodes(setup, {
        env,
        episodes,
        deterministic,
        seed,
        maxSteps: asked ?? setup.config.evaluationMaxSteps ?? undefined,
        show: async (moment) => {
          if (turn.due()) await turn.take();
          signal.throwIfAborted();
          if (moment.step % every !== 0) return;
          const image = draw(env);
          const shown = isCaptioned
            ? withCaption(image, captionOf(moment, episodes))
            : image;
          await opened.show(shown, moment);
        },
      });
      signal.throwIfAborted();
      io.out(`step ${agent.checkpoint.step}\n`);
      played.forEach((episode, i) => {
        const steps = `${episode.length} step${
          episode.length === 1 ? "" : "s"
        }`;
        io.out(
          `episode ${i + 1}: return ${round(episode.return)}, ${steps}${
            episode.isCut ? " (cut)" : ""
          }\n`,
        );
      });
      // A sink that leaves nothing behind may be ended at once.
      if (opened.abort === undefined) await release();
      const written = await opened.finish();
      if (written !== "") io.out(`${written}\n`);
    };
    try {
      await withAgent(agent, play, { onNotice: notices(io) });
    } catch (error) {
      await sink?.abort?.();
      if (signal.aborted) return exitCodeOf(signal);
      throw error;
    } finally {
      await release();
    }
    return signal.aborted ? exitCodeOf(signal) : 0;
  },
};
