import { EventLoopBreak } from "@bellman/training";
import type {
  Batch,
  Env,
  EpisodeStatistics,
  RenderOptions,
} from "@bellman/types";
import type { Session } from "../run/session.ts";
import { existsSync, statSync } from "node:fs";
import { extname, join } from "node:path";
import {
  type Command,
  integerOf,
  option,
  type ParsedOptions,
  valueOf,
} from "../terminal/command.ts";
import { round } from "../run/agent.ts";
import { type CommandIo, interruptSignal } from "../terminal/process.ts";
import { GifWriter, MOST_GIF_FRAMES_PER_SECOND } from "../play/gif.ts";
import { hasFfmpeg, Mp4Writer } from "../play/mp4.ts";
import { type PictureSink, pngSink, terminalSink } from "../play/pictures.ts";
import { checkWritable, UsageError } from "../terminal/errors.ts";
import { AGENT_OPTIONS, findAgent, withAgent } from "./saved_agent.ts";

/** Settings of playing. */
interface PlayOptions {
  /** Environment to play in, which the caller renders. */
  env: Env;
  episodes: number;
  deterministic: boolean;
  seed: number;
  /**
   * Called with each state of an episode but the last, whose step starts the
   * next episode.
   */
  show(episode: number, step: number): Promise<void> | void;
}

/** Plays whole episodes with the session's agent in one environment. */
async function playEpisodes(
  { algorithm, environments }: Session,
  { env, episodes, deterministic, seed, show }: PlayOptions,
): Promise<EpisodeStatistics[]> {
  const vec = environments.around(env);
  const actor = algorithm.policy({ deterministic, numEnvs: 1, seed });
  const played: EpisodeStatistics[] = [];
  try {
    let observations = vec.reset({ seed });
    let stepsShown = 0;
    await show(1, 0);
    while (played.length < episodes) {
      const step = vec.step(await actor.act(observations) as Batch);
      actor.observe?.(step);
      observations = step.observations;
      stepsShown++;
      for (const episode of step.episodes ?? []) {
        played.push(episode);
        stepsShown = 0;
      }
      if (played.length < episodes) await show(played.length + 1, stepsShown);
    }
    return played;
  } finally {
    actor.close?.();
    vec.close();
  }
}

/** Checks before anything is played that a video can be written. */
async function checkVideoPath(path: string, ending: string): Promise<void> {
  if (extname(path).toLowerCase() !== ending) {
    throw new UsageError(
      `Cannot write the video to ${path}: expected a file that ends in ${ending}`,
    );
  }
  await checkWritable(path, "the video");
}

async function sinkOf(
  options: ParsedOptions,
  { dir, io }: { dir: string; io: CommandIo },
): Promise<PictureSink> {
  const framesPerSecond = integerOf(options, "fps", { fallback: 30 });
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
  if (live) return terminalSink(io, framesPerSecond);
  if (png !== undefined) {
    if (options.values.has("fps")) {
      throw new UsageError(
        "Cannot use --fps with --png: single pictures have no rate; leave it out",
      );
    }
    if (existsSync(png) && !statSync(png).isDirectory()) {
      throw new UsageError(
        `Cannot write the pictures to ${png}: expected a folder, this is a file`,
      );
    }
    return pngSink(png);
  }
  if (mp4 !== undefined) {
    await checkVideoPath(mp4, ".mp4");
    if (!await hasFfmpeg()) {
      throw new UsageError(
        "Cannot write an MP4: there is no ffmpeg; install it or use --gif FILE",
      );
    }
    return new Mp4Writer(mp4, framesPerSecond);
  }
  if (framesPerSecond > MOST_GIF_FRAMES_PER_SECOND) {
    throw new UsageError(
      `Cannot write a GIF of ${framesPerSecond} pictures a second: expected at most ${MOST_GIF_FRAMES_PER_SECOND}; use --mp4 FILE, or a lower --fps with --every N, which looks as fast`,
    );
  }
  const path = gif ?? join(dir, "play.gif");
  await checkVideoPath(path, ".gif");
  return new GifWriter(path, framesPerSecond);
}

/** Largest side in pixels: GIFs end at 65,535, and memory before that. */
const MOST_PIXELS = 8192;

/** `play`: renders episodes of a trained agent. */
export const playCommand: Command = {
  name: "play",
  usage: "RUN [OPTIONS]",
  summary: "Render episodes of a run's agent to GIF, MP4, PNG or the terminal.",
  options: [
    option("episodes N", "Episodes to play; 1 by default."),
    option("gif FILE", "Write a GIF; by default play.gif in the run folder."),
    option("mp4 FILE", "Write an MP4 video instead; needs ffmpeg."),
    option("png DIR", "Write a PNG file for each step instead."),
    option("live", "Play in the terminal instead."),
    option("fps N", "Frames per second; 30 by default."),
    option("every N", "Show every Nth step only; 1 by default."),
    option(
      "width N",
      "Width in pixels; by default half of the environment's own.",
    ),
    option(
      "height N",
      "Height in pixels; by default half of the environment's own.",
    ),
    ...AGENT_OPTIONS,
  ],
  async run(options, io) {
    const episodes = integerOf(options, "episodes", { fallback: 1 });
    const every = integerOf(options, "every", { fallback: 1 });
    const side = { maximum: MOST_PIXELS, fallback: undefined };
    const width = integerOf(options, "width", side);
    const height = integerOf(options, "height", side);
    const agent = await findAgent(options, "play");
    const { dir, seed, deterministic } = agent;
    const sink = await sinkOf(options, { dir, io });
    const { signal, release } = await interruptSignal(() =>
      io.err("\nInterrupted\n")
    );
    const turn = new EventLoopBreak();
    const sizeFor = (env: Env) => {
      const own = env.render();
      return {
        width: width ?? Math.ceil(own.width / 2),
        height: height ?? Math.ceil(own.height / 2),
      };
    };
    const play = async (session: Session) => {
      const env = session.environments.single();
      let size: RenderOptions | undefined;
      const played = await playEpisodes(session, {
        env,
        episodes,
        deterministic,
        seed,
        show: async (episode, step) => {
          if (turn.due()) await turn.take();
          signal.throwIfAborted();
          size ??= sizeFor(env);
          if (step % every !== 0) return;
          await sink.show(env.render(size), episode, step);
        },
      });
      signal.throwIfAborted();
      io.out(`step ${agent.checkpoint.step}\n`);
      played.forEach((episode, i) =>
        io.out(
          `episode ${i + 1}: return ${
            round(episode.return)
          }, ${episode.length} steps\n`,
        )
      );
      // A sink that leaves nothing behind may be ended at once.
      if (sink.abort === undefined) await release();
      const written = await sink.finish();
      if (written !== "") io.out(`${written}\n`);
    };
    try {
      await withAgent(agent, io, play);
    } catch (error) {
      await sink.abort?.();
      if (signal.aborted) return 130;
      throw error;
    } finally {
      await release();
    }
    return signal.aborted ? 130 : 0;
  },
};
