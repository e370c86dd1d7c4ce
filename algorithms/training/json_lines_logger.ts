import { AppendFile } from "./_append_file.ts";
import type { Logger, LogRow } from "./logger.ts";

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
 * logger.write({ step: 80, statistics: { value_loss: 0.5, eprewmean: NaN } });
 * logger.close();
 * assertEquals(
 *   await Deno.readTextFile(path),
 *   '{"step":80,"value_loss":0.5,"eprewmean":null}\n',
 * );
 * ```
 */
export class JsonLinesLogger implements Logger {
  #file: AppendFile;

  /**
   * Opens a file, to begin or to continue it.
   *
   * @param path The file; its folder is made where it is missing.
   */
  constructor(path: string) {
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

  /**
   * Drops the rows after a step.
   *
   * @param step The last step to keep.
   */
  truncate(step: number): void {
    const lines = this.#file.text().split("\n").slice(0, -1);
    const kept = lines.filter((line) => JSON.parse(line).step <= step);
    this.#file.replace(kept.map((line) => line + "\n").join(""));
  }

  /** Closes the file. */
  close(): void {
    this.#file.close();
  }
}
