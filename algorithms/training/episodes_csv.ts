import { AppendFile } from "./_append_file.ts";
import type { LoggedEpisode, Logger } from "./logger.ts";

const COLUMNS = "step,env,return,length,terminated";
/** The column of games that have lives. */
const LIVES = ",life_returns";

/**
 * Writes ended episodes to a CSV file with the columns `step`, `env`, `return`,
 * `length`, `terminated` (1 or 0) and `life_returns` (the returns of a game's
 * lives with spaces in between; empty without lives). It holds nothing of the
 * clock, so the file of a resumed run equals that of an uninterrupted one.
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
 *   "step,env,return,length,terminated,life_returns\n64,1,21,21,1,\n",
 * );
 * ```
 */
export class EpisodesCsv implements Logger {
  #file: AppendFile;
  #header: string;

  /**
   * Opens a file, to begin or to continue it.
   *
   * @param path The file; its folder is made where it is missing.
   */
  constructor(path: string) {
    this.#file = new AppendFile(path);
    const [first] = this.#file.text().split("\n");
    this.#header = first === "" ? COLUMNS + LIVES : first;
    if (first === "") this.#file.append(`${this.#header}\n`);
  }

  /** Does nothing: rows of statistics go elsewhere. */
  write(): void {}

  /**
   * Appends an episode.
   *
   * @param episode The episode and the step at which it ended.
   */
  writeEpisode(episode: LoggedEpisode): void {
    const { step, env, length, terminated, lifeReturns = [] } = episode;
    // A file of before that column goes on without it.
    const lives = this.#header.endsWith(LIVES)
      ? `,${lifeReturns.join(" ")}`
      : "";
    this.#file.append(
      `${step},${env},${episode.return},${length},${+terminated}${lives}\n`,
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
    const header = `${this.#header}\n`;
    this.#file.replace(header + kept.map((line) => line + "\n").join(""));
  }

  /** Closes the file. */
  close(): void {
    this.#file.close();
  }
}
