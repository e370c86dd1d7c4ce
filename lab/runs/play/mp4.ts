import { openPlainSync } from "@bellman/files";
import { closeSync } from "node:fs";
import { UsageError } from "../program/errors.ts";
import type { RgbImage } from "@bellman/types";
import type { PictureSink } from "./pictures.ts";

/** Video program, which the user installs. */
const PROGRAM = "ffmpeg";

/** Returns the arguments that make an MP4 for any player, of images on standard input. */
function argumentsOf(
  { width, height }: RgbImage,
  { framesPerSecond, path }: { framesPerSecond: number; path: string },
): string[] {
  return [
    ...["-loglevel", "error", "-y"],
    ...["-f", "rawvideo", "-pix_fmt", "rgb24"],
    ...["-s", `${width}x${height}`, "-r", String(framesPerSecond), "-i", "-"],
    // Players want four pixels to share a colour, which takes even sides.
    ...["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p"],
    ...["-f", "mp4", path],
  ];
}

/**
 * Returns true if the video program is installed.
 *
 * @throws {UsageError} If it may not be run.
 *
 * @example
 * ```ts
 * import { hasFfmpeg } from "@bellman/runs/play";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(typeof await hasFfmpeg(), "boolean");
 * ```
 */
export async function hasFfmpeg(): Promise<boolean> {
  try {
    const { success } = await new Deno.Command(PROGRAM, {
      args: ["-version"],
      stdout: "null",
      stderr: "null",
    }).output();
    return success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw new UsageError(
      `Cannot write an MP4: ${PROGRAM} may not be run (${
        (error as Error).message.split("\n")[0]
      }); use --gif FILE`,
    );
  }
}

/**
 * MP4 video that is written image by image.
 *
 * @example
 * ```ts
 * import { hasFfmpeg, Mp4Writer } from "@bellman/runs/play";
 * import { assertEquals } from "@std/assert";
 *
 * const path = `${await Deno.makeTempDir()}/play.mp4`;
 * if (await hasFfmpeg()) {
 *   const video = new Mp4Writer(path, 30);
 *   await video.show({ width: 4, height: 4, data: new Uint8Array(48) });
 *   assertEquals(await video.finish(), `wrote ${path}`);
 * }
 * ```
 */
export class Mp4Writer implements PictureSink {
  readonly #path: string;
  readonly #framesPerSecond: number;
  #child: Deno.ChildProcess | undefined;
  #writer: WritableStreamDefaultWriter<Uint8Array> | undefined;
  /** Output of the program, read from the start so that it never waits. */
  #said: Promise<string> | undefined;

  /**
   * Names the file: the first image begins it.
   *
   * @param path Path of the file.
   * @param framesPerSecond Frame rate.
   */
  constructor(path: string, framesPerSecond: number) {
    this.#path = path;
    this.#framesPerSecond = framesPerSecond;
  }

  /** Adds an image; all have one size. */
  async show(image: RgbImage): Promise<void> {
    if (this.#child === undefined) {
      // The program would follow a link that is there.
      closeSync(openPlainSync(this.#unfinished, "create"));
      this.#child = new Deno.Command(PROGRAM, {
        args: argumentsOf(image, {
          framesPerSecond: this.#framesPerSecond,
          path: this.#unfinished,
        }),
        stdin: "piped",
        stdout: "null",
        stderr: "piped",
      }).spawn();
      this.#writer = this.#child.stdin.getWriter();
      this.#said = new Response(this.#child.stderr).text();
    }
    try {
      await this.#writer!.write(image.data.slice());
    } catch {
      // It ended early: `finish` reports its output.
    }
  }

  /**
   * Completes the file.
   *
   * @throws {UsageError} If the program failed; no file is left then.
   */
  async finish(): Promise<string> {
    await this.#writer!.close().catch(() => {});
    const { success } = await this.#child!.status;
    if (success) {
      await Deno.rename(this.#unfinished, this.#path);
      return `wrote ${this.#path}`;
    }
    await Deno.remove(this.#unfinished).catch(() => {});
    const lines = (await this.#said!).trim().split("\n");
    throw new UsageError(
      `Cannot write ${this.#path}: ${PROGRAM} says '${lines.at(-1)}'`,
    );
  }

  /** Ends the program and removes what was written. */
  async abort(): Promise<void> {
    if (this.#child === undefined) return;
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // It has ended.
    }
    await this.#writer!.abort().catch(() => {});
    await Promise.all([this.#child.status, this.#said]);
    await Deno.remove(this.#unfinished).catch(() => {});
  }

  /** Path until the video is complete. */
  get #unfinished(): string {
    return `${this.#path}.tmp`;
  }
}
