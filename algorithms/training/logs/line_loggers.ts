import { builtin } from "@bellman/files";
import type { InfoStatistic, StateTree } from "@bellman/types";
// @ts-types="@types/d3-dsv"
import { csvFormatRow, csvParseRows } from "d3-dsv";
import { AppendFile } from "./append_file.ts";
import type { LoggedEpisode, Logger, LogRow } from "./logger.ts";

// Looked up on use: browsers have none.
const paths = () => builtin("node:path");

/** Column of the step. */
export const STEP_COLUMN = "time/steps";

/**
 * Logger that writes rows to a CSV file. The first row determines the columns; if a
 * later row has new ones, the file is rewritten (atomically) with them at the end, and
 * missing cells are empty. An existing file is continued.
 *
 * @example
 * ```ts
 * import { CsvLogger } from "@bellman/training";
 * import { assertEquals } from "@std/assert";
 *
 * const path = await Deno.makeTempDir() + "/progress.csv";
 * const logger = new CsvLogger(path);
 * logger.write({ step: 80, statistics: { "train/value_loss": 0.5 } });
 * logger.write({ step: 160, statistics: { "eval/return_mean": 21 } });
 * logger.close();
 * assertEquals(
 *   await Deno.readTextFile(path),
 *   "time/steps,train/value_loss,eval/return_mean\n80,0.5,\n160,,21\n",
 * );
 * ```
 */
export class CsvLogger implements Logger {
  /** Name in checkpoints. */
  readonly name: string;
  #file: AppendFile;
  /** Names of the columns. */
  protected columns: string[];
  /** Name of the step column. */
  protected readonly stepColumn: string = STEP_COLUMN;

  /**
   * Opens a new or existing file.
   *
   * @param path Path of the file; its folder is made if it is missing.
   */
  constructor(path: string) {
    this.name = paths().basename(path);
    this.#file = new AppendFile(path);
    this.columns = cellsOf(this.#file.lines().next().value ?? "");
  }

  /**
   * Appends a row.
   *
   * @param row Step and statistics.
   */
  write(row: LogRow): void {
    const values = { ...row.statistics };
    if (!(STEP_COLUMN in values)) {
      // Comes first, unless the statistics contain it themselves.
      this.#addColumns([STEP_COLUMN]);
    }
    values[STEP_COLUMN] = row.step;
    this.#addColumns(Object.keys(values));
    const cells = this.columns.map((column) => String(values[column] ?? ""));
    this.append(cells);
  }

  /**
   * Appends a line.
   *
   * @param cells Its cells.
   */
  protected append(cells: readonly string[]): void {
    this.#file.append(csvFormatRow(cells as string[]));
  }

  /** Flushes the rows to disk. */
  flush(): void {
    this.#file.flush();
  }

  /** Saves columns, number of rows and hash of the file, for checkpoints. */
  save(): StateTree {
    return this.#file.save(this.#header());
  }

  /**
   * Removes the rows after a step.
   *
   * @param step The last step to keep.
   * @param saved Result of `save` at that step, which restores the file exactly.
   * @returns A warning if the file was damaged.
   */
  truncate(step: number, saved?: StateTree): string | undefined {
    const { header = this.#header() } = (saved ?? {}) as { header?: string };
    const columns = cellsOf(header), now = this.columns.length;
    this.columns = columns;
    return this.#file.truncate(step, {
      saved,
      header,
      stepOf: (line) => {
        const cells = cellsOf(line), at = columns.indexOf(this.stepColumn);
        return cells.length < columns.length ? NaN : stepOfRow(cells, at);
      },
      // Columns that were added later are empty up to here.
      narrow: (line) =>
        now === columns.length
          ? line
          : csvFormatRow(cellsOf(line).slice(0, columns.length)),
    });
  }

  /** Closes the file. */
  close(): void {
    this.#file.close();
  }

  #header(): string {
    return csvFormatRow(this.columns);
  }

  /** Adds columns at the end, empty in existing rows. */
  #addColumns(names: string[]): void {
    const added = names.filter((name) => !this.columns.includes(name));
    if (added.length === 0) return;
    const columns = [...this.columns, ...added], rows = this.#file.lines();
    // The header.
    rows.next();
    const empty = ",".repeat(added.length);
    this.#file.replace(headed(csvFormatRow(columns), rows, empty));
    this.columns = columns;
  }
}

/** Yields a header, and rows with their new cells. */
function* headed(
  header: string,
  rows: Iterable<string>,
  cells: string,
): Generator<string> {
  yield header;
  for (const row of rows) yield row + cells;
}

/** Splits a line of a CSV file. */
export function cellsOf(line: string): string[] {
  return csvParseRows(line)[0] ?? [];
}

/** Columns of every file of episodes. */
export const EPISODE_COLUMNS = [
  "step",
  "env",
  "return",
  "length",
  "terminated",
  "life_returns",
];
/** Numbers of an entry of `info`, each with a separate column. */
const INFO_PARTS = ["sum", "mean", "last"] as const;

/** Lists the entries of `info` among the columns of an episodes file. */
export function infoNames(columns: readonly string[]): string[] {
  return columns.slice(EPISODE_COLUMNS.length)
    .filter((_, i) => i % INFO_PARTS.length === 0)
    .map((column) => column.replace(/_sum$/, ""));
}

/** Lists the numbers of an episode's `info` by column name. */
export function infoNumbers(
  { infoStatistics = {} }: Pick<LoggedEpisode, "infoStatistics">,
): [column: string, value: number][] {
  return Object.entries(infoStatistics).flatMap(([name, numbers]) =>
    INFO_PARTS.map((part): [string, number] => [
      `${name}_${part}`,
      numbers[part],
    ])
  );
}

/** Parses the numbers of `info` entries from their cells, if present. */
export function infoOfCells(
  names: readonly string[],
  cells: readonly string[],
): Pick<LoggedEpisode, "infoStatistics"> {
  const values = cells.slice(EPISODE_COLUMNS.length);
  const known = names.flatMap((name, i): [string, InfoStatistic][] => {
    const numbers = values.slice(INFO_PARTS.length * i);
    const [sum, mean, last] = numbers.map(Number);
    // Empty if no step of the episode reported it.
    return numbers[0] ? [[name, { sum, mean, last }]] : [];
  });
  return known.length === 0
    ? {}
    : { infoStatistics: Object.fromEntries(known) };
}

/** Options of {@link EpisodesCsv}. */
export interface EpisodesCsvOptions {
  /**
   * Entries of `info` whose sum, mean and last value have columns, in a new file.
   *
   * @default []
   */
  infoStatistics?: readonly string[];
}

/**
 * Logger that writes finished episodes to a CSV file with the columns `step`, `env`,
 * `return`, `length`, `terminated` (1 or 0) and `life_returns` (returns of a game's
 * lives, separated by spaces; else empty), and three for each recorded entry of `info`,
 * such as `price_sum`, `price_mean` and `price_last`. It contains no times, so the file
 * of a resumed run equals that of an uninterrupted one.
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
export class EpisodesCsv extends CsvLogger {
  /** Name of the step column. */
  protected override readonly stepColumn: string = "step";

  /**
   * Opens a new or existing file.
   *
   * @param path Path of the file; its folder is made if it is missing.
   * @param options Recorded entries of `info`.
   */
  constructor(path: string, { infoStatistics = [] }: EpisodesCsvOptions = {}) {
    super(path);
    const infoColumns = infoStatistics
      .flatMap((name) => INFO_PARTS.map((part) => `${name}_${part}`));
    const isNew = this.columns.length === 0;
    this.columns = [...EPISODE_COLUMNS, ...infoColumns];
    if (isNew) this.append(this.columns);
  }

  /** Does nothing: this file has no rows of statistics. */
  override write(): void {}

  /**
   * Appends an episode.
   *
   * @param episode The episode and the step at which it ended.
   */
  writeEpisode(episode: LoggedEpisode): void {
    const { step, env, length, terminated, lifeReturns = [] } = episode;
    const infos = Object.fromEntries(infoNumbers(episode));
    const infoCells = this.columns.slice(EPISODE_COLUMNS.length)
      .map((column) => infos[column] ?? "");
    const lives = lifeReturns.join(" ");
    this.append(
      [step, env, episode.return, length, +terminated, lives, ...infoCells]
        .map(String),
    );
  }
}

/** Parses the step of a row; NaN if any cell is neither empty nor numeric. */
function stepOfRow(cells: readonly string[], at: number): number {
  const isNumber = (text: string) =>
    text === "NaN" || !Number.isNaN(Number(text));
  const step = cells[at]?.trim() ? Number(cells[at]) : NaN;
  // Lives have several numbers in a cell.
  const isWhole = cells.every((cell) => cell.split(" ").every(isNumber));
  return isWhole && Number.isSafeInteger(step) ? step : NaN;
}
