// @ts-types="@types/d3-dsv"
import { csvParseRows } from "d3-dsv";
import { readFileSync } from "node:fs";
import type { LoggedEpisode, LogRow } from "./logger.ts";

/**
 * Reads the rows that {@link CsvLogger} wrote.
 *
 * @param path The file.
 * @returns The rows; empty cells are left out of their statistics. A file that is
 * empty has none.
 * @throws {SyntaxError} When the file has no column `total_timesteps`.
 *
 * @example
 * ```ts
 * import { CsvLogger, readProgress } from "@bellman/training";
 * import { assertEquals } from "@std/assert";
 *
 * const path = await Deno.makeTempDir() + "/progress.csv";
 * const logger = new CsvLogger(path);
 * logger.write({ step: 80, statistics: { value_loss: 0.5 } });
 * logger.close();
 * assertEquals(readProgress(path), [
 *   { step: 80, statistics: { total_timesteps: 80, value_loss: 0.5 } },
 * ]);
 * ```
 */
export function readProgress(path: string): LogRow[] {
  const [header, ...rows] = readWholeRows(path);
  // A run that is shorter than its first update logs nothing.
  if (header === undefined) return [];
  if (!header.includes("total_timesteps")) {
    throw new SyntaxError(
      `Cannot read progress from ${path}: it has no column total_timesteps`,
    );
  }
  return rows.map((row) => {
    const statistics = Object.fromEntries(
      header.map((name, i) => [name, row[i]])
        .filter(([, cell]) => cell !== "" && cell !== undefined)
        .map(([name, cell]) => [name, Number(cell)]),
    );
    return { step: statistics.total_timesteps, statistics };
  });
}

/**
 * Reads the episodes that {@link EpisodesCsv} wrote.
 *
 * @param path The file.
 * @returns The episodes, in the order in which they ended.
 * @throws {SyntaxError} When the file has other columns.
 *
 * @example
 * ```ts
 * import { EpisodesCsv, readEpisodes } from "@bellman/training";
 * import { assertEquals } from "@std/assert";
 *
 * const path = await Deno.makeTempDir() + "/episodes.csv";
 * const episode = { step: 64, env: 1, return: 21, length: 21, terminated: true };
 * const logger = new EpisodesCsv(path);
 * logger.writeEpisode(episode);
 * logger.close();
 * assertEquals(readEpisodes(path), [episode]);
 * ```
 */
export function readEpisodes(path: string): LoggedEpisode[] {
  const [header, ...rows] = readWholeRows(path);
  const wanted = "step,env,return,length,terminated";
  if (header?.slice(0, 5).join() !== wanted) {
    throw new SyntaxError(
      `Cannot read episodes from ${path}: its columns are ${
        header?.join() ?? "missing"
      }, wanted ${wanted}`,
    );
  }
  return rows.map((row) => {
    const [step, env, total, length, terminated] = row.map(Number);
    const lives = row[5] ?? "";
    return {
      step,
      env,
      return: total,
      length,
      terminated: terminated === 1,
      ...(lives !== "" && { lifeReturns: lives.split(" ").map(Number) }),
    };
  });
}

/** The rows of a file that may be being written: a line without its end is left out. */
function readWholeRows(path: string): string[][] {
  const text = readFileSync(path, "utf8");
  return csvParseRows(text.slice(0, text.lastIndexOf("\n") + 1));
}
