import { UsageError } from "../terminal/errors.ts";
import type { RgbImage } from "@bellman/types";

/** The video program, which is the user's own. */
const PROGRAM = "ffmpeg";

/** Arguments that make an MP4 for any player of pictures on standard input. */
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
 * Whether there is a program to make videos with.
 *
 * @throws {UsageError} If it may not be run.
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

/** A video that is written picture by picture. */
export class Mp4Writer {
  readonly #path: string;
  readonly #framesPerSecond: number;
  #child: Deno.ChildProcess | undefined;
  #writer: WritableStreamDefaultWriter<Uint8Array> | undefined;
  /** What the program says, read from the start so that it never waits. */
  #said: Promise<string> | undefined;

  /**
   * @param path Where to.
   * @param framesPerSecond Pictures a second.
   */
  constructor(path: string, framesPerSecond: number) {
    this.#path = path;
    this.#framesPerSecond = framesPerSecond;
  }

  /** Adds a picture; all are of one size. */
  async add(picture: RgbImage): Promise<void> {
    if (this.#child === undefined) {
      this.#child = new Deno.Command(PROGRAM, {
        args: argumentsOf(picture, {
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
      await this.#writer!.write(picture.data.slice());
    } catch {
      // It ended early; what it said is told at the end.
    }
  }

  /**
   * Ends the video.
   *
   * @throws {UsageError} If the program failed; no file is left then.
   */
  async finish(): Promise<void> {
    await this.#writer!.close().catch(() => {});
    const { success } = await this.#child!.status;
    if (success) return await Deno.rename(this.#unfinished, this.#path);
    await Deno.remove(this.#unfinished).catch(() => {});
    const lines = (await this.#said!).trim().split("\n");
    throw new UsageError(
      `Cannot write ${this.#path}: ${PROGRAM} says '${lines.at(-1)}'`,
    );
  }

  /** Gives the video up: nothing is left of it. */
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

  /** A video is there only when it is whole. */
  get #unfinished(): string {
    return `${this.#path}.tmp`;
  }
}
