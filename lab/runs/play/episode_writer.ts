import type { Spaces } from "@bellman/buffers/datasets";
import type { Episode } from "@bellman/types";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { checkWritable, messageOf, UsageError } from "../program/errors.ts";

/** Options of {@linkcode EpisodeWriter}. */
export interface EpisodeWriterOptions {
  /**
   * Add to the episodes of a folder that exists, instead of refusing it.
   *
   * @default false
   */
  append?: boolean;
  /**
   * Seconds from one writing to the next, if there are new episodes.
   *
   * @default 60
   */
  everySeconds?: number;
}

/**
 * Throws where episodes may not be written, before anything is played.
 *
 * @param dir Folder of a data set.
 * @param options With `append`, it may exist.
 * @throws {UsageError} If it exists and may not.
 *
 * @example
 * ```ts
 * import { refuseTaken } from "@bellman/runs/play";
 * import { assertThrows } from "@std/assert";
 *
 * const dir = await Deno.makeTempDir();
 * assertThrows(() => refuseTaken(dir), Error, "it exists");
 * refuseTaken(dir, { append: true });
 * ```
 */
export function refuseTaken(
  dir: string,
  { append = false }: Pick<EpisodeWriterOptions, "append"> = {},
): void {
  if (append || !existsSync(dir)) return;
  throw new UsageError(
    `Cannot record to ${dir}: it exists, expected a new folder, or --append to add to its episodes`,
  );
}

/**
 * Writes episodes to a folder of Minari while they are played: after a minute those that
 * ended are there, whatever happens next.
 *
 * @example
 * ```ts
 * import { openDataset } from "@bellman/buffers/datasets";
 * import { make, Recorder } from "@bellman/envs";
 * import { EpisodeWriter } from "@bellman/runs/play";
 * import { assertEquals } from "@std/assert";
 *
 * const dir = `${await Deno.makeTempDir()}/demo`;
 * const env = new Recorder(make("CartPole-v1"));
 * const writer = new EpisodeWriter(dir, env);
 * await writer.open();
 * env.reset({ seed: 0 });
 * while (!env.step(0).terminated);
 * writer.take(env.episodes);
 * await writer.save();
 * assertEquals((await openDataset(dir, { holdout: 0 })).meanReturn, writer.meanReturn);
 * ```
 */
export class EpisodeWriter {
  /** Episodes that the folder had before. */
  before = 0;
  /** Episodes that were taken. */
  episodes = 0;
  /** Steps in them. */
  steps = 0;
  readonly #dir: string;
  readonly #spaces: Spaces;
  readonly #options: EpisodeWriterOptions;
  #sum = 0;
  #kept: Episode[] = [];
  #savedAt = performance.now();
  #isThere = false;

  /**
   * Prepares to write; nothing is written.
   *
   * @param dir Folder of a data set.
   * @param spaces Spaces of the episodes, such as those of their environment.
   * @param options What to do with a folder that exists, and when to write.
   * @throws {UsageError} If the folder exists and may not.
   */
  constructor(dir: string, spaces: Spaces, options: EpisodeWriterOptions = {}) {
    refuseTaken(dir, options);
    this.#dir = dir;
    const { observationSpace, actionSpace } = spaces;
    this.#spaces = { observationSpace, actionSpace };
    this.#options = options;
  }

  /** Mean return of the episodes that were taken; NaN if there are none. */
  get meanReturn(): number {
    return this.#sum / this.episodes;
  }

  /** Describes what was recorded: `20 episodes, 10,000 steps, mean return 500 to demo`. */
  get summary(): string {
    const { episodes, steps, meanReturn } = this;
    if (episodes === 0) return "nothing, as no episode has ended";
    const count = (it: number) => it.toLocaleString("en-US");
    return `${count(episodes)} episode${episodes === 1 ? "" : "s"}, ${
      count(steps)
    } steps, mean return ${Number(meanReturn.toPrecision(6))} to ${this.#dir}`;
  }

  /**
   * Checks that the folder can be written, and reads what it has.
   *
   * @throws {UsageError} If it cannot, or its episodes are of other spaces.
   */
  async open(): Promise<void> {
    const dir = this.#dir, spaces = this.#spaces;
    this.#isThere = existsSync(dir);
    if (!this.#isThere) {
      await mkdir(dirname(resolve(dir)), { recursive: true });
      return await checkWritable(dir, "the episodes");
    }
    const { openDataset } = await import("@bellman/buffers/datasets");
    try {
      const data = await openDataset(dir, { ...spaces, holdout: 0 });
      this.before = data.numEpisodes;
    } catch (error) {
      throw new UsageError(`Cannot append to ${dir}: ${messageOf(error)}`, {
        cause: error,
      });
    }
  }

  /**
   * Takes episodes out of a list, to be written with the next ones.
   *
   * @param episodes List, which is empty afterwards.
   */
  take(episodes: Episode[]): void {
    for (const episode of episodes.splice(0)) {
      const { rewards } = episode;
      this.episodes++;
      this.steps += rewards.length;
      for (let step = 0; step < rewards.length; step++) {
        this.#sum += rewards[step];
      }
      this.#kept.push(episode);
    }
  }

  /** Writes the episodes if it is time to. */
  async saveIfDue(): Promise<void> {
    const { everySeconds = 60 } = this.#options;
    const seconds = (performance.now() - this.#savedAt) / 1000;
    if (seconds >= everySeconds) await this.save();
  }

  /** Writes the episodes that were taken since the last time; nothing if there are none. */
  async save(): Promise<void> {
    this.#savedAt = performance.now();
    const kept = this.#kept;
    if (kept.length === 0) return;
    this.#kept = [];
    const { writeMinari } = await import("@bellman/buffers/datasets");
    const append = this.#isThere;
    await writeMinari(this.#dir, kept, { ...this.#spaces, append });
    this.#isThere = true;
  }
}
