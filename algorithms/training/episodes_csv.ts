import { basename } from "node:path";
import { AppendFile, stepOfRow } from "./_append_file.ts";
import type { LoggedEpisode, Logger } from "./logger.ts";
import type { StateTree } from "@bellman/types";

const HEADER = "step,env,return,length,terminated,life_returns";

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
  /** Name of the file, for checkpoints. */
  readonly name: string;
  #file: AppendFile;

  /**
   * Opens a file, to begin or to continue it.
   *
   * @param path The file; its folder is made where it is missing.
   */
  constructor(path: string) {
    this.name = basename(path);
    this.#file = new AppendFile(path);
    if (this.#file.text() === "") this.#file.append(`${HEADER}\n`);
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
    const lives = lifeReturns.join(" ");
    this.#file.append(
      `${step},${env},${episode.return},${length},${+terminated},${lives}\n`,
    );
  }

  /** Brings the rows to the disk. */
  flush(): void {
    this.#file.flush();
  }

  /** Number of rows and hash of the file, for checkpoints. */
  save(): StateTree {
    return this.#file.save(HEADER);
  }

  /**
   * Drops the episodes after a step.
   *
   * @param step The last step to keep.
   * @param saved What `save` gave at that step: the file becomes what it was.
   * @returns One line that says so, if the file was damaged.
   */
  truncate(step: number, saved?: StateTree): string | undefined {
    return this.#file.truncate(step, {
      saved,
      header: HEADER,
      stepOf(line) {
        const [lives = "", ...cells] = line.split(",").reverse();
        const numbers = [...cells.reverse(), ...lives.split(" ")];
        return cells.length === 5 ? stepOfRow(numbers, 0) : NaN;
      },
    });
  }

  /** Closes the file. */
  close(): void {
    this.#file.close();
  }
}
