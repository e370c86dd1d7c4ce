import { checkDeno, openPlainSync } from "@bellman/files";
import { closeSync } from "node:fs";
import { UsageError } from "../program/errors.ts";
import type { RgbImage } from "@bellman/types";
import type { PictureSink } from "./pictures.ts";

/** Video encoder, which the user installs. */
const PROGRAM = "ffmpeg";

/** Returns the arguments to encode images from standard input as an MP4 for any player. */
function argumentsOf(
  { width, height }: RgbImage,
  { framesPerSecond, path }: { framesPerSecond: number; path: string },
): string[] {
  return [
    ...["-loglevel", "error", "-y"],
    ...["-f", "rawvideo", "-pix_fmt", "rgb24"],
    ...["-s", `${width}x${height}`, "-r", String(framesPerSecond), "-i", "-"],
    // Players need even sides, as four pixels share a colour.
    ...["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p"],
    ...["-f", "mp4", path],
  ];
}

/**
 * Returns true if the video encoder is installed.
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
  checkDeno("write an MP4");
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
 * Writer of an MP4 video, image by image.
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
  /** Output of the encoder, read from the start so that it never blocks. */
  #said: Promise<string> | undefined;

  /**
   * Creates a writer; the first image opens the file.
   *
   * @param path Path of the file.
   * @param framesPerSecond Frame rate.
   */
  constructor(path: string, framesPerSecond: number) {
    this.#path = path;
    this.#framesPerSecond = framesPerSecond;
  }

  /** Adds an image; all must have the same size. */
  async show(image: RgbImage): Promise<void> {
    if (this.#child === undefined) {
      // The encoder would follow an existing link.
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
   * @throws {UsageError} If the encoder failed; no file is left then.
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

  /** Ends the encoder and removes the unfinished file. */
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

  /** Path of the unfinished video. */
  get #unfinished(): string {
    return `${this.#path}.tmp`;
  }
}
