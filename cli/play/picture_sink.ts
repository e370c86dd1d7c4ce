import type { CommandIo } from "../io.ts";
import { GifWriter } from "./gif.ts";
import { Mp4Writer } from "./mp4.ts";
import type { Picture } from "./picture.ts";
import { encodePng } from "./png.ts";
import { cursorUp, toTerminal } from "./terminal.ts";

/** Takes the pictures of episodes as they are played. */
export interface PictureSink {
  /** Takes a picture; `step` counts from 0 in each episode. */
  show(picture: Picture, episode: number, step: number): Promise<void> | void;
  /** Ends, and says what was written; nothing for a terminal. */
  finish(): Promise<string>;
  /** Gives up what is not finished. */
  abort?(): Promise<void>;
}

/** Pictures become an animated GIF. */
export function gifSink(path: string, framesPerSecond: number): PictureSink {
  return fileSink(path, new GifWriter(path, framesPerSecond));
}

/** Pictures become a video. */
export function mp4Sink(path: string, framesPerSecond: number): PictureSink {
  return fileSink(path, new Mp4Writer(path, framesPerSecond));
}

/** Pictures go to one file, which is there when the last one is in it. */
function fileSink(path: string, file: GifWriter | Mp4Writer): PictureSink {
  return {
    show: (picture) => file.add(picture),
    finish: async () => {
      await file.finish();
      return `wrote ${path}`;
    },
    abort: () => file.abort(),
  };
}

/** Each picture becomes a PNG in a folder, which the first one makes. */
export function pngSink(dir: string): PictureSink {
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

/** Pictures are drawn over each other in the terminal. */
export function terminalSink(
  io: CommandIo,
  framesPerSecond: number,
): PictureSink {
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
