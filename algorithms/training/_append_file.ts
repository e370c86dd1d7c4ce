import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { writeAtomically, writeFully } from "./_atomic_file.ts";

/**
 * A text file of lines that grows at its end. A process that died while writing
 * may have left a part of a line: it is cut off on opening.
 */
export class AppendFile {
  #path: string;
  #file: number | undefined;

  constructor(path: string) {
    this.#path = path;
    mkdirSync(dirname(path), { recursive: true });
    const text = existsSync(path) ? readFileSync(path, "utf8") : "";
    const whole = text.slice(0, text.lastIndexOf("\n") + 1);
    if (whole !== text) writeAtomically(path, whole);
    this.#file = openSync(path, "a");
  }

  /** Appends text, which must end with a newline. */
  append(text: string): void {
    writeFully(this.#opened(), new TextEncoder().encode(text));
  }

  /** The whole content. */
  text(): string {
    return readFileSync(this.#path, "utf8");
  }

  /** Replaces the whole content: at any moment the file has the old or the new one. */
  replace(text: string): void {
    closeSync(this.#opened());
    this.#file = undefined;
    writeAtomically(this.#path, text);
    this.#file = openSync(this.#path, "a");
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

  #opened(): number {
    if (this.#file === undefined) {
      throw new TypeError(`Cannot write to ${this.#path}: it is closed`);
    }
    return this.#file;
  }
}
