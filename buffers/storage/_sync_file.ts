import { builtin } from "@bellman/files";

/** A file that is read and written at any position, one call after the other. */
export class SyncFile {
  readonly #fs = builtin("node:fs");
  readonly #file: number;

  /** Opens a file, and makes an empty one where there is none. */
  constructor(path: string) {
    const { O_RDWR, O_CREAT } = this.#fs.constants;
    this.#file = this.#fs.openSync(path, O_RDWR | O_CREAT, 0o644);
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
      start += this.#fs.writeSync(this.#file, bytes, start, rest, at);
    }
  }

  /** Cuts it off, or fills it up with zeros. */
  truncate(length: number): void {
    this.#fs.ftruncateSync(this.#file, length);
  }

  /** Brings it to the disk. */
  sync(): void {
    this.#fs.fsyncSync(this.#file);
  }

  /** Closes it. */
  close(): void {
    this.#fs.closeSync(this.#file);
  }
}

/** Returns a view of an array's bytes. */
export function bytesOf(array: ArrayBufferView): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

/** Returns the CRC-32 of bytes, or continues that of the bytes before them. */
export function crc32(bytes: Uint8Array, previous = 0): number {
  return builtin("node:zlib").crc32(bytes, previous);
}
