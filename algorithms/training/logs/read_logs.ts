import { builtin, openPlainSync } from "@bellman/files";
import type { Statistics } from "@bellman/types";
import { countLines, linesOf } from "./append_file.ts";
import {
  cellsOf,
  EPISODE_COLUMNS,
  infoNames,
  infoOfCells,
  STEP_COLUMN,
} from "./line_loggers.ts";
import type { LoggedEpisode, LogRow } from "./logger.ts";

// Looked up on use: browsers have none.
const fs = () => builtin("node:fs");

/**
 * Reads the rows of a {@link CsvLogger}, line by line.
 *
 * @param path Path of the file.
 * @param options Number of rows.
 * @returns The rows, without empty cells; none for an empty file.
 * @throws {SyntaxError} If the file has no column `time/steps`.
 *
 * @example
 * ```ts
 * import { CsvLogger, readProgress } from "@bellman/training";
 * import { assertEquals } from "@std/assert";
 *
 * const path = await Deno.makeTempDir() + "/progress.csv";
 * const logger = new CsvLogger(path);
 * logger.write({ step: 80, statistics: { "train/value_loss": 0.5 } });
 * logger.write({ step: 160, statistics: { "train/value_loss": 0.25 } });
 * logger.close();
 * assertEquals(readProgress(path)[0], {
 *   step: 80,
 *   statistics: { "time/steps": 80, "train/value_loss": 0.5 },
 * });
 * assertEquals(readProgress(path, { maxRows: 1 }), [
 *   { step: 120, statistics: { "time/steps": 120, "train/value_loss": 0.375 } },
 * ]);
 * ```
 */
export function readProgress(
  path: string,
  { maxRows = Infinity }: {
    /**
     * Largest number of rows. Of longer files, consecutive rows are averaged.
     *
     * @default Infinity
     */
    maxRows?: number;
  } = {},
): LogRow[] {
  const columns = headerOf(path);
  // A run that ends before its first update logs nothing.
  if (columns === undefined) return [];
  if (!columns.includes(STEP_COLUMN)) {
    throw new SyntaxError(
      `Cannot read progress from ${path}: it has no column ${STEP_COLUMN}`,
    );
  }
  const rows = rowsIn(path).map((line) => rowOf(columns, cellsOf(line)));
  if (maxRows === Infinity) return rows.toArray();
  const count = countRows(path), windows = Math.min(count, maxRows);
  const means: LogRow[] = [];
  let window: LogRow[] = [], at = 0;
  for (const row of rows) {
    // Rows written meanwhile are ignored.
    if (at === count) break;
    window.push(row);
    at++;
    if (Math.floor(at * windows / count) === means.length) continue;
    means.push(meanOf(window));
    window = [];
  }
  return means;
}

function rowOf(columns: readonly string[], cells: readonly string[]): LogRow {
  const statistics = Object.fromEntries(
    columns.map((name, i) => [name, cells[i]])
      .filter(([, cell]) => cell !== "" && cell !== undefined)
      .map(([name, cell]) => [name, Number(cell)]),
  );
  return { step: statistics[STEP_COLUMN], statistics };
}

/** Averages rows, each statistic over the rows that have it. */
function meanOf(rows: readonly LogRow[]): LogRow {
  if (rows.length === 1) return rows[0];
  const names = new Set(rows.flatMap((row) => Object.keys(row.statistics)));
  const meanOfOne = (name: string) => {
    const values = rows.map((row) => row.statistics[name])
      .filter(Number.isFinite);
    return values.reduce((sum, it) => sum + it, 0) / values.length;
  };
  const statistics: Statistics = Object.fromEntries(
    [...names].map((name) => [name, meanOfOne(name)]),
  );
  return { step: statistics[STEP_COLUMN], statistics };
}

/**
 * Reads the episodes of an {@link EpisodesCsv}, line by line.
 *
 * @param path Path of the file.
 * @param options Number of episodes.
 * @returns The episodes, in the order of their ends.
 * @throws {SyntaxError} If the file has other columns.
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
 * logger.writeEpisode({ ...episode, step: 85 });
 * logger.close();
 * assertEquals(readEpisodes(path), [episode, { ...episode, step: 85 }]);
 * assertEquals(readEpisodes(path, { maxEpisodes: 1 }), [episode]);
 * ```
 */
export function readEpisodes(
  path: string,
  { maxEpisodes = Infinity }: {
    /**
     * Largest number of episodes. Of longer files, every second or every nth is returned.
     *
     * @default Infinity
     */
    maxEpisodes?: number;
  } = {},
): LoggedEpisode[] {
  const every = maxEpisodes === Infinity
    ? 1
    : Math.ceil(countRows(path) / maxEpisodes);
  const kept: LoggedEpisode[] = [];
  const names = infoNames(headerOf(path) ?? []);
  let at = 0;
  for (const line of episodesIn(path)) {
    if (at++ % every === 0) kept.push(episodeOf(line, names));
  }
  return kept;
}

/**
 * Reads the steps at which episodes ended, one by one, since all need not fit into
 * memory.
 *
 * @param path File of an {@link EpisodesCsv}.
 * @returns The steps, in the order in which the episodes ended.
 * @throws {SyntaxError} If the file has other columns.
 *
 * @example
 * ```ts
 * import { episodeSteps, EpisodesCsv } from "@bellman/training";
 * import { assertEquals } from "@std/assert";
 *
 * const path = await Deno.makeTempDir() + "/episodes.csv";
 * const logger = new EpisodesCsv(path);
 * logger.writeEpisode({ step: 64, env: 1, return: 9, length: 9, terminated: true });
 * logger.close();
 * assertEquals([...episodeSteps(path)], [64]);
 * ```
 */
export function* episodeSteps(path: string): Generator<number> {
  for (const line of episodesIn(path)) {
    yield Number(line.slice(0, line.indexOf(",")));
  }
}

function episodesIn(path: string): Iterable<string> {
  const header = headerOf(path), wanted = EPISODE_COLUMNS.join();
  const actual = header?.slice(0, EPISODE_COLUMNS.length).join();
  if (actual === wanted) return rowsIn(path);
  throw new SyntaxError(
    `Cannot read episodes from ${path}: its columns are ${
      header?.join() ?? "missing"
    }, wanted ${wanted}`,
  );
}

function episodeOf(line: string, names: readonly string[]): LoggedEpisode {
  const cells = line.split(",");
  const [step, env, total, length, terminated] = cells.map(Number);
  const lives = cells[5];
  return {
    step,
    env,
    return: total,
    length,
    terminated: terminated === 1,
    ...(lives !== "" && { lifeReturns: lives.split(" ").map(Number) }),
    ...infoOfCells(names, cells),
  };
}

/** Yields the lines of a file that another process may be writing. */
function* linesIn(path: string): Generator<string> {
  const file = openPlainSync(path, "read");
  try {
    yield* linesOf(file);
  } finally {
    fs().closeSync(file);
  }
}

function headerOf(path: string): string[] | undefined {
  for (const line of linesIn(path)) return cellsOf(line);
}

/** Yields the lines after the header. */
function* rowsIn(path: string): Generator<string> {
  let isHeader = true;
  for (const line of linesIn(path)) {
    if (!isHeader) yield line;
    isHeader = false;
  }
}

function countRows(path: string): number {
  const file = openPlainSync(path, "read");
  try {
    return countLines(file) - 1;
  } finally {
    fs().closeSync(file);
  }
}
