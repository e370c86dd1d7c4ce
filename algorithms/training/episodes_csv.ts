import { AppendFile } from "./_append_file.ts";
import type { LoggedEpisode, Logger } from "./logger.ts";

const header = "step,env,return,length,terminated\n";

/**
 * Writes ended episodes to a CSV file with the columns `step`, `env`, `return`,
 * `length` and `terminated` (1 or 0). It holds nothing of the clock, so the
 * file of a resumed run equals that of an uninterrupted one.
 *
 * @example
 * ```ts
 * import { EpisodesCsv } from "@bellman/training";
 * import { assertEquals } from "@std/assert";
 *
 * const path = await Deno.makeTempDir() + "/episodes.csv";
 * const logger = new EpisodesCsv(path);
 * logger.writeEpisode({ step: 64, env: 1, return: 21, length: 21, terminated: true });
 * logger.close();
 * assertEquals(
 *   await Deno.readTextFile(path),
 *   "step,env,return,length,terminated\n64,1,21,21,1\n",
 * );
 * ```
 */
export class EpisodesCsv implements Logger {
  #file: AppendFile;

  /**
   * Opens a file, to begin or to continue it.
   *
   * @param path The file; its folder is made where it is missing.
   */
  constructor(path: string) {
    this.#file = new AppendFile(path);
    if (this.#file.text() === "") this.#file.append(header);
  }

  /** Does nothing: rows of statistics go elsewhere. */
  write(): void {}

  /**
   * Appends an episode.
   *
   * @param episode The episode and the step at which it ended.
   */
  writeEpisode(episode: LoggedEpisode): void {
    const { step, env, length, terminated } = episode;
    this.#file.append(
      `${step},${env},${episode.return},${length},${+terminated}\n`,
    );
  }

  /** Brings the rows to the disk. */
  flush(): void {
    this.#file.flush();
  }

  /**
   * Drops the episodes after a step.
   *
   * @param step The last step to keep.
   */
  truncate(step: number): void {
    const lines = this.#file.text().split("\n").slice(1, -1);
    const kept = lines.filter((line) => Number.parseInt(line) <= step);
    this.#file.replace(header + kept.map((line) => line + "\n").join(""));
  }

  /** Closes the file. */
  close(): void {
    this.#file.close();
  }
}
