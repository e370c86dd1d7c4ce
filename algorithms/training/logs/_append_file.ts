import { createHash, type Hash } from "node:crypto";
import {
  closeSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { replaceFileSync } from "@bellman/files";
import type { StateTree } from "@bellman/types";

/** Options of {@link AppendFile.truncate}. */
export interface TruncateOptions {
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
export class AppendFile {
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

  /** The whole content, also where somebody has removed the file meanwhile. */
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

  /** Header, number of lines and hash of the content, for checkpoints. */
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
export function stepOfRow(cells: readonly string[], at: number): number {
  const isNumber = (cell: string) =>
    cell === "NaN" || !Number.isNaN(Number(cell));
  const step = cells[at]?.trim() === "" ? NaN : Number(cells[at]);
  return cells.every(isNumber) && Number.isSafeInteger(step) ? step : NaN;
}
