import type { Spaces } from "@bellman/buffers/datasets";
import type { Episode } from "@bellman/types";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { lockFile, type RunLock } from "../folder/lock.ts";
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
 * const writer = await EpisodeWriter.open(dir, env);
 * env.reset({ seed: 0 });
 * while (!env.step(0).terminated);
 * writer.take(env.episodes);
 * await writer.save();
 * writer.close();
 * assertEquals((await openDataset(dir, { holdout: 0 })).meanReturn, writer.meanReturn);
 * ```
 */
export class EpisodeWriter {
  /** Episodes that were taken. */
  episodes = 0;
  /** Steps in them. */
  steps = 0;
  readonly #write: (episodes: Episode[], append: boolean) => Promise<void>;
  readonly #everySeconds: number;
  #sum = 0;
  #kept: Episode[] = [];
  #savedAt = performance.now();

  private constructor(
    /** Folder of the data set. */
    readonly dir: string,
    /** Episodes that the folder had before. */
    readonly before: number,
    { observationSpace, actionSpace }: Spaces,
    /** Lock against others that record to the folder. */
    private readonly lock: RunLock,
    { everySeconds = 60 }: EpisodeWriterOptions,
  ) {
    this.#everySeconds = everySeconds;
    this.#write = async (episodes, append) => {
      const { writeMinari } = await import("@bellman/buffers/datasets");
      const options = { observationSpace, actionSpace, append };
      await writeMinari(dir, episodes, options);
    };
  }

  /**
   * Prepares to write: checks that the folder can be written, and reads what it has.
   * Nobody else may record to it until `close`.
   *
   * @param dir Folder of a data set.
   * @param spaces Spaces of the episodes, such as those of their environment.
   * @param options What to do with a folder that exists, and when to write.
   * @returns The writer; nothing is written yet.
   * @throws {UsageError} If the folder exists and may not, it cannot be written, another
   * process records to it, or its episodes are of other spaces.
   */
  static async open(
    dir: string,
    spaces: Spaces,
    options: EpisodeWriterOptions = {},
  ): Promise<EpisodeWriter> {
    await mkdir(dirname(resolve(dir)), { recursive: true });
    if (!existsSync(dir)) await checkWritable(dir, "the episodes");
    const lock = lockFile(
      `${resolve(dir)}.lock`,
      (holder) => `Cannot record to ${dir}: ${holder} does at present`,
    );
    try {
      const before = await countBefore(dir, spaces, options);
      return new EpisodeWriter(dir, before, spaces, lock, options);
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  /** Lets others record to the folder. */
  close(): void {
    this.lock.release();
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
    } steps, mean return ${Number(meanReturn.toPrecision(6))} to ${this.dir}`;
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
      this.#sum += Array.from(rewards).reduce((sum, it) => sum + it);
      this.#kept.push(episode);
    }
  }

  /** Writes the episodes if it is time to. */
  async saveIfDue(): Promise<void> {
    const seconds = (performance.now() - this.#savedAt) / 1000;
    if (seconds >= this.#everySeconds) await this.save();
  }

  /** Writes the episodes that were taken since the last time; nothing if there are none. */
  async save(): Promise<void> {
    this.#savedAt = performance.now();
    const kept = this.#kept;
    if (kept.length === 0) return;
    this.#kept = [];
    await this.#write(kept, this.before + this.episodes > kept.length);
  }
}

/** Counts the episodes of a folder that may be added to. */
async function countBefore(
  dir: string,
  { observationSpace, actionSpace }: Spaces,
  { append }: EpisodeWriterOptions,
): Promise<number> {
  if (!existsSync(dir)) return 0;
  if (append !== true) {
    throw new UsageError(
      `Cannot record to ${dir}: it exists, expected a new folder, or --append to add to its episodes`,
    );
  }
  const { openDataset } = await import("@bellman/buffers/datasets");
  const own = { observationSpace, actionSpace, holdout: 0 };
  try {
    return (await openDataset(dir, own)).numEpisodes;
  } catch (error) {
    throw new UsageError(`Cannot append to ${dir}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
