import { make } from "@bellman/envs";
import { integerOf, type ParsedOptions, valueOf } from "../args.ts";
import type { Command } from "../command.ts";
import { round } from "../evaluation.ts";
import type { CommandIo } from "../io.ts";
import { encodeGif } from "../play/gif.ts";
import type { Picture } from "../play/picture.ts";
import { encodePng } from "../play/png.ts";
import { cursorUp, toTerminal } from "../play/terminal.ts";
import { type PlayedEpisode, playEpisodes } from "../play/play_episodes.ts";
import {
  loadCheckpoint,
  openRun,
  parseCheckpointChoice,
  restoreSession,
} from "../runs.ts";
import { openSession } from "../session.ts";
import { UsageError } from "../usage_error.ts";
import { runOf } from "./eval.ts";

/** Takes the pictures of episodes as they are played. */
interface PictureSink {
  show(picture: Picture, episode: number, step: number): Promise<void> | void;
  finish(): Promise<string>;
}

function gifSink(path: string, framesPerSecond: number): PictureSink {
  const pictures: Picture[] = [];
  return {
    show: (picture) => void pictures.push(picture),
    finish: async () => {
      await Deno.writeFile(
        path,
        await encodeGif(pictures, { framesPerSecond }),
      );
      return `wrote ${path}`;
    },
  };
}

function pngSink(dir: string): PictureSink {
  let count = 0;
  return {
    show: async (picture, episode, step) => {
      if (count++ === 0) await Deno.mkdir(dir, { recursive: true });
      const name = `episode_${episode}_step_${String(step).padStart(5, "0")}`;
      await Deno.writeFile(`${dir}/${name}.png`, encodePng(picture));
    },
    finish: () => Promise.resolve(`wrote ${count} pictures to ${dir}`),
  };
}

function terminalSink(io: CommandIo, framesPerSecond: number): PictureSink {
  let drawn: string | undefined;
  return {
    show: async (picture) => {
      const { columns, rows } = Deno.consoleSize();
      const up = drawn === undefined ? "" : cursorUp(drawn);
      drawn = toTerminal(picture, { columns, rows: rows - 2 });
      io.out(`${up}${drawn}\n`);
      await new Promise((done) => setTimeout(done, 1000 / framesPerSecond));
    },
    finish: () => Promise.resolve(""),
  };
}

function sinkOf(
  options: ParsedOptions,
  { dir, io, framesPerSecond }: {
    dir: string;
    io: CommandIo;
    framesPerSecond: number;
  },
): PictureSink {
  const gif = valueOf(options, "gif"), png = valueOf(options, "png");
  const live = options.switches.has("live");
  if ([gif !== undefined, png !== undefined, live].filter(Boolean).length > 1) {
    throw new UsageError(
      "Cannot use more than one of --gif, --png and --live: give one of them",
    );
  }
  if (live && !io.outIsTerminal) {
    throw new UsageError(
      "Cannot play live: standard output is not a terminal; use --gif FILE",
    );
  }
  if (live) return terminalSink(io, framesPerSecond);
  if (png !== undefined) return pngSink(png);
  return gifSink(gif ?? `${dir}/play.gif`, framesPerSecond);
}

function describe({ return: sum, length }: PlayedEpisode, i: number): string {
  return `episode ${i + 1}: return ${round(sum)}, ${length} steps\n`;
}

async function playRun(
  options: ParsedOptions,
  io: CommandIo,
): Promise<number> {
  const dir = runOf(options, "play");
  const choice = parseCheckpointChoice(
    valueOf(options, "checkpoint") ?? "best",
  );
  const least = { minimum: 1 };
  const episodes = integerOf(options, "episodes", { ...least, fallback: 1 });
  const framesPerSecond = integerOf(options, "fps", { ...least, fallback: 30 });
  const width = integerOf(options, "width", { ...least, fallback: 300 });
  const height = integerOf(options, "height", { ...least, fallback: 200 });
  const seed = integerOf(options, "seed", { minimum: 0, fallback: 0 });
  const { folder, config } = await openRun(dir);
  const sink = sinkOf(options, { dir, io, framesPerSecond });
  const checkpoint = loadCheckpoint(folder, choice);
  const session = await openSession(config);
  try {
    restoreSession(session, checkpoint);
    const env = make(config.env, {
      maxEpisodeSteps: config.maxEpisodeSteps ?? undefined,
    });
    const deterministic = !options.switches.has("stochastic");
    const played = await playEpisodes(session, {
      env,
      episodes,
      deterministic,
      seed,
      show: (episode, step) =>
        sink.show(env.render({ width, height }), episode, step),
    });
    played.forEach((episode, i) => io.out(describe(episode, i)));
    const written = await sink.finish();
    if (written !== "") io.out(`${written}\n`);
    return 0;
  } finally {
    session.close();
  }
}

/** `play`: renders episodes of a trained agent. */
export const playCommand: Command = {
  name: "play",
  usage: "RUN [OPTIONS]",
  summary: "Render episodes of a run's agent to GIF, PNG or the terminal.",
  options: [
    { name: "episodes", value: "N", help: "Episodes to play; 1 by default." },
    {
      name: "gif",
      value: "FILE",
      help: "Write an animated GIF; play.gif in the run folder by default.",
    },
    { name: "png", value: "DIR", help: "Write a PNG for each step instead." },
    { name: "live", help: "Play in the terminal instead." },
    { name: "fps", value: "N", help: "Pictures a second; 30 by default." },
    { name: "width", value: "N", help: "Pixels in a row; 300 by default." },
    { name: "height", value: "N", help: "Rows of pixels; 200 by default." },
    { name: "seed", value: "N", help: "Seed of the episodes; 0 by default." },
    {
      name: "checkpoint",
      value: "WHICH",
      help: "best (the default), latest, or a step.",
    },
    { name: "stochastic", help: "Sample actions instead of taking the mode." },
  ],
  run: playRun,
};
