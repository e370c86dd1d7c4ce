import { builtin, namingFile, openPlainSync } from "@bellman/files";

/** A file that is read and written at any position, one call after the other. */
export class SyncFile {
  readonly path: string;
  readonly #fs = builtin("node:fs");
  readonly #file: number;

  /** Opens a file, and makes an empty one where there is none. */
  constructor(path: string) {
    this.path = path;
    this.#file = openPlainSync(path, "update");
  }

  /** Its length in bytes. */
  get size(): number {
    return this.#fs.fstatSync(this.#file).size;
  }

  /** Fills an array with what lies from a position on, and with zeros where the file has ended. */
  read(position: number, target: Uint8Array): void {
    for (let start = 0; start < target.length;) {
      const rest = target.length - start, at = position + start;
      const length = this.#fs.readSync(this.#file, target, start, rest, at);
      if (length === 0) {
        target.fill(0, start);
        return;
      }
      start += length;
    }
  }

  /** Writes all bytes. */
  write(position: number, bytes: Uint8Array): void {
    for (let start = 0; start < bytes.length;) {
      const rest = bytes.length - start, at = position + start;
      start += namingFile(
        this.path,
        () => this.#fs.writeSync(this.#file, bytes, start, rest, at),
      );
    }
  }

  /** Brings it to the disk. */
  sync(): void {
    namingFile(this.path, () => this.#fs.fsyncSync(this.#file));
  }

  /** Closes it. */
  close(): void {
    this.#fs.closeSync(this.#file);
  }
}
