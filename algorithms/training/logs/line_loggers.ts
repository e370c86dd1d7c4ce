import { replaceFileSync } from "@bellman/files";
import type { StateTree } from "@bellman/types";
// @ts-types="@types/d3-dsv"
import { csvFormatRow, csvFormatRows, csvParseRows } from "d3-dsv";
import { createHash, type Hash } from "node:crypto";
import {
  closeSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname } from "node:path";
import type { LoggedEpisode, Logger, LogRow } from "./logger.ts";
import { groupedName, statisticName } from "./statistics.ts";

/** Column of a row's step. */
const STEP_COLUMN = "time/steps";
/** Its name in files of before statistics had groups. */
const FORMER_STEP_COLUMN = "total_timesteps";

/** Gives the columns of a file their present names. */
function presentColumns(columns: readonly string[]): string[] {
  const isFormer = columns.includes(FORMER_STEP_COLUMN);
  return isFormer
    ? columns.map((it) => groupedName(statisticName(it)))
    : [...columns];
}

/**
 * Writes rows to a CSV file. The first row fixes the columns; when a later row
 * has new ones, the file is rewritten (atomically) with them at the end, and
 * rows that lack a column leave it empty. A file that exists is continued; where
 * its columns have the names of an original implementation (`total_timesteps`,
 * `eprewmean`), under those of {@link STATISTICS}.
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
  #columns: string[];

  /**
   * Opens a file, to begin or to continue it.
   *
   * @param path The file; its folder is made where it is missing.
   */
  constructor(path: string) {
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
    this.#updateColumns();
    const values = { ...row.statistics };
    if (!(STEP_COLUMN in values)) {
      // Alone in front, where the statistics do not place it themselves.
      this.#addColumns([STEP_COLUMN]);
    }
    values[STEP_COLUMN] = row.step;
    this.#addColumns(Object.keys(values));
    const cells = this.#columns.map((column) => String(values[column] ?? ""));
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
    const at = presentColumns(columns).indexOf(STEP_COLUMN);
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

  /** Not when a file is opened: checkpoints have a hash of what it is then. */
  #updateColumns(): void {
    if (!this.#columns.includes(FORMER_STEP_COLUMN)) return;
    const rows = csvParseRows(this.#file.text()).slice(1);
    this.#columns = presentColumns(this.#columns);
    this.#file.replace(csvFormatRows([this.#columns, ...rows]) + "\n");
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

  /** Saves number of rows and hash of the file, for checkpoints. */
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
 * @returns The rows, by the names of {@link STATISTICS} also where the file has those of
 * an original implementation; empty cells are left out. A file that is empty has none.
 * @throws {SyntaxError} When the file has no column `time/steps`.
 *
 * @example
 * ```ts
 * import { CsvLogger, readProgress } from "@bellman/training";
 * import { assertEquals } from "@std/assert";
 *
 * const path = await Deno.makeTempDir() + "/progress.csv";
 * const logger = new CsvLogger(path);
 * logger.write({ step: 80, statistics: { "train/value_loss": 0.5 } });
 * logger.close();
 * assertEquals(readProgress(path), [
 *   { step: 80, statistics: { "time/steps": 80, "train/value_loss": 0.5 } },
 * ]);
 * ```
 */
export function readProgress(path: string): LogRow[] {
  const [columns, ...rows] = readWholeRows(path);
  // A run that is shorter than its first update logs nothing.
  if (columns === undefined) return [];
  const header = presentColumns(columns);
  if (!header.includes(STEP_COLUMN)) {
    throw new SyntaxError(
      `Cannot read progress from ${path}: it has no column ${STEP_COLUMN}`,
    );
  }
  return rows.map((row) => {
    const statistics = Object.fromEntries(
      header.map((name, i) => [name, row[i]])
        .filter(([, cell]) => cell !== "" && cell !== undefined)
        .map(([name, cell]) => [name, Number(cell)]),
    );
    return { step: statistics[STEP_COLUMN], statistics };
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

/**
 * Writes rows to a file with one JSON record a line: `step`, then the
 * statistics. JSON has no NaN and no infinities: they are written as `null`.
 *
 * @example
 * ```ts
 * import { JsonLinesLogger } from "@bellman/training";
 * import { assertEquals } from "@std/assert";
 *
 * const path = await Deno.makeTempDir() + "/progress.jsonl";
 * const logger = new JsonLinesLogger(path);
 * logger.write({ step: 80, statistics: { "train/loss": 0.5, "rollout/return_mean": NaN } });
 * logger.close();
 * assertEquals(
 *   await Deno.readTextFile(path),
 *   '{"step":80,"train/loss":0.5,"rollout/return_mean":null}\n',
 * );
 * ```
 */
export class JsonLinesLogger implements Logger {
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
  }

  /**
   * Appends a row.
   *
   * @param row Step and statistics.
   */
  write(row: LogRow): void {
    const { step, statistics } = row;
    this.#file.append(JSON.stringify({ step, ...statistics }) + "\n");
  }

  /** Brings the rows to the disk. */
  flush(): void {
    this.#file.flush();
  }

  /** Saves number of rows and hash of the file, for checkpoints. */
  save(): StateTree {
    return this.#file.save("");
  }

  /**
   * Drops the rows after a step.
   *
   * @param step The last step to keep.
   * @param saved State from `save` at that step: the file becomes what it was.
   * @returns One line that says so, if the file was damaged.
   */
  truncate(step: number, saved?: StateTree): string | undefined {
    return this.#file.truncate(step, { saved, header: "", stepOf });
  }

  /** Closes the file. */
  close(): void {
    this.#file.close();
  }
}

function stepOf(line: string): number {
  try {
    return Number(JSON.parse(line)?.step);
  } catch {
    return NaN;
  }
}

/** Options of {@link AppendFile.truncate}. */
interface TruncateOptions {
  /** State from {@link AppendFile.save} at the checkpoint. */
  saved?: StateTree;
  /** Header where none was saved; "" for files without. */
  header: string;
  /** Step of a line; NaN where the line is damaged. */
  stepOf: (line: string) => number;
  /** A line as it was under the header that was saved. */
  narrow?: (line: string) => string;
}

/**
 * Text file of lines that grows at its end. A process that died while writing
 * may have left a part of a line: it is cut off on opening.
 */
class AppendFile {
  #path: string;
  #file: number | undefined;
  #hash!: Hash;
  #lines!: number;

  constructor(path: string) {
    this.#path = path;
    mkdirSync(dirname(path), { recursive: true });
    this.#file = openSync(path, "a+");
    const text = this.text();
    const whole = text.slice(0, text.lastIndexOf("\n") + 1);
    if (whole !== text) this.replace(whole);
    else this.#begin(text);
  }

  /** Appends text, which must end with a newline. */
  append(text: string): void {
    writeFileSync(this.#opened(), new TextEncoder().encode(text));
    this.#hash.update(text);
    this.#lines += linesOf(text).length;
  }

  /** Returns the whole content, also where somebody has removed the file meanwhile. */
  text(): string {
    const file = this.#opened();
    const bytes = new Uint8Array(fstatSync(file).size);
    let length = 0;
    for (;;) {
      const read = readSync(file, bytes, length, bytes.length - length, length);
      if (read === 0) break;
      length += read;
    }
    return new TextDecoder().decode(bytes.subarray(0, length));
  }

  /** Replaces the whole content: at any moment the file has the old or the new one. */
  replace(text: string): void {
    closeSync(this.#opened());
    this.#file = undefined;
    replaceFileSync(this.#path, text);
    this.#file = openSync(this.#path, "a+");
    this.#begin(text);
  }

  /** Saves header, number of lines and hash of the content, for checkpoints. */
  save(header: string): StateTree {
    return {
      header,
      lines: this.#lines,
      sha256: this.#hash.copy().digest("hex"),
    };
  }

  /**
   * Drops the lines after a step. With what was saved there, the file becomes
   * what it was; where that is not possible, the lines that can be read are
   * kept, and one line that says so is returned.
   */
  truncate(step: number, options: TruncateOptions): string | undefined {
    const { saved, stepOf, narrow = (line) => line } = options;
    const { header = options.header, lines: count, sha256 } = (saved ?? {}) as {
      header?: string;
      lines?: number;
      sha256?: string;
    };
    const head = header === "" ? [] : [header];
    const found = linesOf(this.text());
    const textOf = (lines: string[]) =>
      [...head, ...lines].map((line) => line + "\n").join("");
    if (count !== undefined) {
      const then = textOf(found.slice(head.length, count).map(narrow));
      if (createHash("sha256").update(then).digest("hex") === sha256) {
        this.replace(then);
        return undefined;
      }
    }
    // Copies of a row, such as of a file that was put together, are one.
    const kept = [...new Set(found)].filter((line) => stepOf(line) <= step)
      .map(narrow);
    this.replace(textOf(kept));
    if (count === undefined) return undefined;
    return kept.length === 0 && found.length <= head.length
      ? `${this.#path} is gone or empty: it begins anew after step ${step}`
      : `${this.#path} is damaged: up to step ${step}, ${kept.length} of its ${
        count - head.length
      } rows can be read and are kept`;
  }

  flush(): void {
    fsyncSync(this.#opened());
  }

  close(): void {
    if (this.#file === undefined) return;
    this.flush();
    closeSync(this.#file);
    this.#file = undefined;
  }

  #begin(text: string): void {
    this.#hash = createHash("sha256").update(text);
    this.#lines = linesOf(text).length;
  }

  #opened(): number {
    if (this.#file === undefined) {
      throw new TypeError(`Cannot write to ${this.#path}: it is closed`);
    }
    return this.#file;
  }
}

/** Splits a text that ends with a newline. */
function linesOf(text: string): string[] {
  return text.split("\n").slice(0, -1);
}

/** Reads the step in a row of numbers; NaN where a cell is neither empty nor a number. */
function stepOfRow(cells: readonly string[], at: number): number {
  const isNumber = (cell: string) =>
    cell === "NaN" || !Number.isNaN(Number(cell));
  const step = cells[at]?.trim() === "" ? NaN : Number(cells[at]);
  return cells.every(isNumber) && Number.isSafeInteger(step) ? step : NaN;
}
