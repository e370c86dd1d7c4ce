import { openPlainSync } from "@bellman/files";
import type { GifEncoder } from "@bellman/training/plots";
import type { RgbImage } from "@bellman/types";
import { closeSync, writeFileSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { fileError } from "../program/errors.ts";
import type { PictureSink } from "./pictures.ts";

/** Highest frame rate of a GIF: viewers slow down shorter delays. */
export const MOST_GIF_FRAMES_PER_SECOND = 50;

/**
 * Writer of a looping animated GIF, image by image.
 *
 * @example
 * ```ts
 * import { GifWriter } from "@bellman/runs/play";
 * import { assertEquals } from "@std/assert";
 *
 * const path = `${await Deno.makeTempDir()}/play.gif`;
 * const gif = new GifWriter(path, 50);
 * await gif.show({ width: 2, height: 2, data: new Uint8Array(12) });
 * assertEquals(await gif.finish(), `wrote ${path}`);
 * ```
 */
export class GifWriter implements PictureSink {
  readonly #path: string;
  readonly #framesPerSecond: number;
  #encoder: GifEncoder | undefined;
  #file: number | undefined;

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

  /**
   * Adds an image; all must have the same size.
   *
   * @throws {UsageError} If it cannot be written; no file is left then.
   */
  async show(image: RgbImage): Promise<void> {
    // Loads the plot library only if a GIF is made.
    const { GifEncoder } = await import("@bellman/training/plots");
    this.#encoder ??= new GifEncoder(this.#framesPerSecond);
    await this.#write(this.#encoder.add(image));
  }

  /**
   * Completes the file.
   *
   * @throws {UsageError} If it cannot be written; no file is left then.
   */
  async finish(): Promise<string> {
    await this.#write(this.#encoder!.finish());
    await this.#orGiveUp(async () => {
      this.#close();
      await rename(this.#unfinished, this.#path);
    });
    return `wrote ${this.#path}`;
  }

  /** Removes the unfinished file. */
  async abort(): Promise<void> {
    if (this.#encoder === undefined) return;
    this.#close();
    await rm(this.#unfinished).catch(() => {});
  }

  /** Writes encoded bytes to the file. */
  async #write(bytes: Uint8Array): Promise<void> {
    await this.#orGiveUp(() => {
      this.#file ??= openPlainSync(this.#unfinished, "create");
      writeFileSync(this.#file, bytes);
    });
  }

  async #orGiveUp(write: () => void | Promise<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      await this.abort();
      throw fileError(error, this.#path) ?? error;
    }
  }

  #close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  /** Path of the unfinished GIF. */
  get #unfinished(): string {
    return `${this.#path}.tmp`;
  }
}
