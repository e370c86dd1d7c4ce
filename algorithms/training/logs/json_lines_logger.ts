import type { StateTree } from "@bellman/types";
import { basename } from "node:path";
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

  /** Number of rows and hash of the file, for checkpoints. */
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
