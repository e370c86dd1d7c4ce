// @ts-types="@types/d3-dsv"
import { csvFormatRow, csvFormatRows, csvParseRows } from "d3-dsv";
import { basename } from "node:path";
import { AppendFile, stepOfRow } from "./_append_file.ts";
import type { Logger, LogRow } from "./logger.ts";
import type { StateTree } from "@bellman/types";

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
   * @param saved What `save` gave at that step: the file becomes what it was.
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
