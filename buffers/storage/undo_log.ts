/**
 * The log of a file of rows: their bytes at the last flush, written before they
 * are overwritten, so that a process that dies leaves a way back. In little-endian numbers: 8 bytes that
 * name the format, the number of that flush (float64), the checksum of both
 * (uint32); then for each piece its place in the file of rows (float64), its
 * length (uint32), the checksum of both and of its bytes (uint32), and the bytes.
 */
import { builtin } from "@bellman/files";
import { bytesOf, crc32, SyncFile } from "./_sync_file.ts";

const MAGIC = Uint8Array.of(
  0x89,
  ...new TextEncoder().encode("BUND\r\n\x1a"),
);
const START_BYTES = 20;
const PIECE_BYTES = 16;

/** The log beside a file of rows. */
export class UndoLog {
  readonly #path: string;
  #file: SyncFile | undefined;
  #size = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** Keeps bytes of the file of rows as they were at a flush; on the disk when it returns. */
  keep(flush: number, position: number, bytes: Uint8Array): void {
    const file = this.#file ??= new SyncFile(this.#path);
    if (this.#size === 0) {
      file.truncate(0);
      file.write(0, startOf(flush));
      this.#size = START_BYTES;
    }
    const header = new DataView(new ArrayBuffer(PIECE_BYTES));
    header.setFloat64(0, position, true);
    header.setUint32(8, bytes.length, true);
    header.setUint32(12, checksum(header, bytes), true);
    file.write(this.#size, bytesOf(header));
    file.write(this.#size + PIECE_BYTES, bytes);
    file.sync();
    this.#size += PIECE_BYTES + bytes.length;
  }

  /** Puts everything back that was kept since a flush. A piece that was not written to its end was not overwritten yet. */
  undo(flush: number, rows: SyncFile): void {
    if (!builtin("node:fs").existsSync(this.#path)) return;
    const file = this.#file ??= new SyncFile(this.#path);
    const size = file.size;
    const start = new Uint8Array(START_BYTES);
    file.read(0, start);
    const wanted = startOf(flush);
    if (start.some((byte, i) => byte !== wanted[i])) return;
    const header = new DataView(new ArrayBuffer(PIECE_BYTES));
    for (let at = START_BYTES; at + PIECE_BYTES <= size;) {
      file.read(at, bytesOf(header));
      const length = header.getUint32(8, true);
      at += PIECE_BYTES;
      if (at + length > size) break;
      const bytes = new Uint8Array(length);
      file.read(at, bytes);
      if (checksum(header, bytes) !== header.getUint32(12, true)) break;
      rows.write(header.getFloat64(0, true), bytes);
      at += length;
    }
    rows.sync();
  }

  /** Forgets everything. */
  clear(): void {
    this.close();
    builtin("node:fs").rmSync(this.#path, { force: true });
  }

  /** Closes the log, which stays. */
  close(): void {
    this.#file?.close();
    this.#file = undefined;
    this.#size = 0;
  }
}

function startOf(flush: number): Uint8Array {
  const view = new DataView(new ArrayBuffer(START_BYTES));
  const bytes = bytesOf(view);
  bytes.set(MAGIC);
  view.setFloat64(8, flush, true);
  view.setUint32(16, crc32(bytes.subarray(0, 16)), true);
  return bytes;
}

function checksum(header: DataView, bytes: Uint8Array): number {
  return crc32(bytes, crc32(bytesOf(header).subarray(0, 12)));
}
