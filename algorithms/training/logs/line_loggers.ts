import { builtin } from "@bellman/files";
import type { InfoStatistic, StateTree } from "@bellman/types";
// @ts-types="@types/d3-dsv"
import { csvFormatRow, csvParseRows } from "d3-dsv";
import { AppendFile } from "./append_file.ts";
import type { LoggedEpisode, Logger, LogRow } from "./logger.ts";

// Looked up where they are used: pages have none.
const paths = () => builtin("node:path");

/** Column of a row's step. */
export const STEP_COLUMN = "time/steps";

/**
 * Writes rows to a CSV file. The first row fixes the columns; when a later row
 * has new ones, the file is rewritten (atomically) with them at the end, and
 * rows that lack a column leave it empty. A file that exists is continued.
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
  /** Name of the file, for checkpoints. */
  readonly name: string;
  #file: AppendFile;
  /** Names of the columns. */
  protected columns: string[];
  /** Name of the column of steps. */
  protected readonly stepColumn: string = STEP_COLUMN;

  /**
   * Opens a file, to begin or to continue it.
   *
   * @param path The file; its folder is made where it is missing.
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
      // Alone in front, where the statistics do not place it themselves.
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

  /** Brings the rows to the disk. */
  flush(): void {
    this.#file.flush();
  }

  /** Columns, number of rows and hash of the file, for checkpoints. */
  save(): StateTree {
    return this.#file.save(this.#header());
  }

  /**
   * Drops the rows after a step.
   *
   * @param step The last step to keep.
   * @param saved State from `save` at that step: the file becomes what it was.
   * @returns A warning, if the file was damaged.
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
      // Columns that came later are empty up to here.
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

  /** Adds columns at the end, which are empty in the rows that there are. */
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

/** Yields a header and rows, with their new cells. */
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

/** Lists the entries of `info` among the columns of a file of episodes. */
export function infoNames(columns: readonly string[]): string[] {
  return columns.slice(EPISODE_COLUMNS.length)
    .filter((_, i) => i % INFO_PARTS.length === 0)
    .map((column) => column.replace(/_sum$/, ""));
}

/** Lists the numbers of an episode's `info`, by the names of their columns. */
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

/** Reads the numbers of entries of `info` from their cells, if they are known. */
export function infoOfCells(
  names: readonly string[],
  cells: readonly string[],
): Pick<LoggedEpisode, "infoStatistics"> {
  const values = cells.slice(EPISODE_COLUMNS.length);
  const known = names.flatMap((name, i): [string, InfoStatistic][] => {
    const own = values.slice(INFO_PARTS.length * i);
    const [sum, mean, last] = own.map(Number);
    // Empty where no step of the episode told it.
    return own[0] ? [[name, { sum, mean, last }]] : [];
  });
  return known.length === 0
    ? {}
    : { infoStatistics: Object.fromEntries(known) };
}

/** Options of {@link EpisodesCsv}. */
export interface EpisodesCsvOptions {
  /**
   * Entries of `info` whose sum, mean and last have columns, in a file that begins.
   *
   * @default []
   */
  infoStatistics?: readonly string[];
}

/**
 * Writes ended episodes to a CSV file with the columns `step`, `env`, `return`,
 * `length`, `terminated` (1 or 0) and `life_returns` (the returns of a game's
 * lives with spaces in between; empty without lives), and three for each entry of
 * `info` that is recorded, such as `price_sum`, `price_mean` and `price_last`. It
 * holds nothing of the clock, so the file of a resumed run equals that of an uninterrupted one.
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
  /** Name of the column of steps. */
  protected override readonly stepColumn: string = "step";

  /**
   * Opens a file, to begin or to continue it.
   *
   * @param path The file; its folder is made where it is missing.
   * @param options Entries of `info` that have columns.
   */
  constructor(path: string, { infoStatistics = [] }: EpisodesCsvOptions = {}) {
    super(path);
    const own = infoStatistics
      .flatMap((name) => INFO_PARTS.map((part) => `${name}_${part}`));
    const isNew = this.columns.length === 0;
    this.columns = [...EPISODE_COLUMNS, ...own];
    if (isNew) this.append(this.columns);
  }

  /** Does nothing: rows of statistics go elsewhere. */
  override write(): void {}

  /**
   * Appends an episode.
   *
   * @param episode The episode and the step at which it ended.
   */
  writeEpisode(episode: LoggedEpisode): void {
    const { step, env, length, terminated, lifeReturns = [] } = episode;
    const infos = Object.fromEntries(infoNumbers(episode));
    const own = this.columns.slice(EPISODE_COLUMNS.length)
      .map((column) => infos[column] ?? "");
    const lives = lifeReturns.join(" ");
    this.append(
      [step, env, episode.return, length, +terminated, lives, ...own]
        .map(String),
    );
  }
}

/** Reads the step in a row; NaN where a cell is neither empty nor of numbers. */
function stepOfRow(cells: readonly string[], at: number): number {
  const isNumber = (text: string) =>
    text === "NaN" || !Number.isNaN(Number(text));
  const step = cells[at]?.trim() ? Number(cells[at]) : NaN;
  // Lives have several in a cell.
  const isWhole = cells.every((cell) => cell.split(" ").every(isNumber));
  return isWhole && Number.isSafeInteger(step) ? step : NaN;
}
