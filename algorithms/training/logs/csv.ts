import type { StateTree } from "@bellman/types";
// @ts-types="@types/d3-dsv"
import { csvFormatRow, csvFormatRows, csvParseRows } from "d3-dsv";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { AppendFile, stepOfRow } from "./_append_file.ts";
import type { LoggedEpisode, Logger, LogRow } from "./logger.ts";

/** Options of {@link CsvLogger}. */
export interface CsvLoggerOptions {
  /**
   * The column that holds a row's step.
   *
   * @default "total_timesteps"
   */
  stepColumn?: string;
}

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
 * logger.write({ step: 80, statistics: { value_loss: 0.5 } });
 * logger.write({ step: 160, statistics: { eval_return_mean: 21 } });
 * logger.close();
 * assertEquals(
 *   await Deno.readTextFile(path),
 *   "total_timesteps,value_loss,eval_return_mean\n80,0.5,\n160,,21\n",
 * );
 * ```
 */
export class CsvLogger implements Logger {
  /** Name of the file, for checkpoints. */
  readonly name: string;
  #file: AppendFile;
  #stepColumn: string;
  #columns: string[];

  /**
   * Opens a file, to begin or to continue it.
   *
   * @param path The file; its folder is made where it is missing.
   * @param options Name of the step's column.
   */
  constructor(path: string, options: CsvLoggerOptions = {}) {
    this.#stepColumn = options.stepColumn ?? "total_timesteps";
    this.name = basename(path);
    this.#file = new AppendFile(path);
    this.#columns = csvParseRows(this.#file.text())[0] ?? [];
  }

  /**
   * Appends a row.
   *
   * @param row Step and statistics.
   */
  write(row: LogRow): void {
    const values = { ...row.statistics };
    if (!(this.#stepColumn in values)) {
      // Alone in front, where the statistics do not place it themselves.
      this.#addColumns([this.#stepColumn]);
    }
    values[this.#stepColumn] = row.step;
    this.#addColumns(Object.keys(values));
    const cells = this.#columns.map((column) => format(values[column]));
    this.#file.append(csvFormatRow(cells) + "\n");
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
   * @returns One line that says so, if the file was damaged.
   */
  truncate(step: number, saved?: StateTree): string | undefined {
    const { header = this.#header() } = (saved ?? {}) as { header?: string };
    const columns = csvParseRows(header)[0] ?? [];
    const at = columns.indexOf(this.#stepColumn);
    const cellsOf = (line: string) => csvParseRows(line)[0] ?? [];
    const warning = this.#file.truncate(step, {
      saved,
      header,
      stepOf(line) {
        const cells = cellsOf(line);
        return cells.length < columns.length ? NaN : stepOfRow(cells, at);
      },
      // Columns that came later are empty up to here.
      narrow: (line) => csvFormatRow(cellsOf(line).slice(0, columns.length)),
    });
    this.#columns = columns;
    return warning;
  }

  /** Closes the file. */
  close(): void {
    this.#file.close();
  }

  #header(): string {
    return csvFormatRow(this.#columns);
  }

  #addColumns(names: string[]): void {
    const added = names.filter((name) => !this.#columns.includes(name));
    if (added.length === 0) return;
    const rows = csvParseRows(this.#file.text()).slice(1)
      .map((row) => [...row, ...added.map(() => "")]);
    this.#columns = [...this.#columns, ...added];
    this.#file.replace(csvFormatRows([this.#columns, ...rows]) + "\n");
  }
}

function format(value: number | undefined): string {
  return value === undefined ? "" : String(value);
}

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
   * @param saved State from `save` at that step: the file becomes what it was.
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

/** Reads the rows of a file that may be being written: a line without its end is left out. */
function readWholeRows(path: string): string[][] {
  const text = readFileSync(path, "utf8");
  return csvParseRows(text.slice(0, text.lastIndexOf("\n") + 1));
}
