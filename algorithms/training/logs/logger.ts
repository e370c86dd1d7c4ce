import type { EpisodeStatistics, StateTree, Statistics } from "@bellman/types";

/** One row of a log. */
export interface LogRow {
  /** Environment steps so far, of all environments. */
  readonly step: number;
  /** The numbers to log, in the order in which to show them. */
  readonly statistics: Statistics;
}

/** Ended episode with the step at which it ended. */
export interface LoggedEpisode extends EpisodeStatistics {
  /** Environment steps when the episode ended, of all environments. */
  readonly step: number;
}

/**
 * Log of statistics. All methods are synchronous, so that what was
 * logged before a checkpoint is in the file before the checkpoint is.
 */
export interface Logger {
  /** Logs one row. */
  write(row: LogRow): void;
  /** Logs one ended episode. */
  writeEpisode?(episode: LoggedEpisode): void;
  /** Brings what was written to the disk. Called before each checkpoint. */
  flush?(): void;
  /** Names the logger in checkpoints; two of one name are told apart by their order. */
  readonly name?: string;
  /** State of what was written so far, for the checkpoint that is made now. */
  save?(): StateTree;
  /**
   * Drops what was logged after `step`. Called when a run is resumed from there, with what `save` gave then.
   *
   * @returns One line for people, if what was logged before is no longer there as it was.
   */
  truncate?(step: number, saved?: StateTree): string | void;
  /** Flushes and releases the file. Closing twice is allowed. */
  close(): void;
}

/** Options of {@link TableLogger}. */
export interface TableLoggerOptions {
  /** Takes the text of a table, for example `(text) => Deno.stdout.writeSync(encode(text))`. */
  write: (text: string) => void;
}

/**
 * Writes each row as a small table, a line per statistic.
 *
 * @example
 * ```ts
 * import { TableLogger } from "@bellman/training";
 * import { assertEquals } from "@std/assert";
 *
 * let text = "";
 * const logger = new TableLogger({ write: (more) => text += more });
 * logger.write({ step: 80, statistics: { nupdates: 1000, value_loss: 0.51234 } });
 * assertEquals(
 *   text,
 *   "-----------------------\n" +
 *     "| nupdates   |  1,000 |\n" +
 *     "| value_loss | 0.5123 |\n" +
 *     "-----------------------\n",
 * );
 * ```
 */
export class TableLogger implements Logger {
  #write: (text: string) => void;

  /**
   * Makes a logger that writes text.
   *
   * @param options Output.
   */
  constructor(options: TableLoggerOptions) {
    this.#write = options.write;
  }

  /**
   * Writes a row's table.
   *
   * @param row Step and statistics.
   */
  write(row: LogRow): void {
    const cells = Object.entries(row.statistics)
      .map(([name, value]) => [name, format(value)]);
    const [names, values] = [0, 1].map((column) =>
      Math.max(0, ...cells.map((cell) => cell[column].length))
    );
    const line = "-".repeat(names + values + 7);
    const body = cells.map(([name, value]) =>
      `| ${name.padEnd(names)} | ${value.padStart(values)} |`
    );
    this.#write([line, ...body, line, ""].join("\n"));
  }

  /** Does nothing: the writer is its owner's. */
  close(): void {}
}

function format(value: number): string {
  if (Number.isInteger(value)) return value.toLocaleString("en-US");
  if (!Number.isFinite(value)) return String(value).toLowerCase();
  const size = Math.abs(value);
  if (size >= 1e7 || size < 1e-4) return value.toExponential(3);
  return String(
    Number(value.toPrecision(Math.max(4, Math.floor(Math.log10(size)) + 1))),
  );
}
