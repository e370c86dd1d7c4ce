/**
 * The start of a file of rows, in little-endian numbers:
 *
 * - at 0: 8 bytes that name the format, its version (uint32), the length of the
 *   description (uint32), the checksum of these 16 bytes and of the description
 *   (uint32);
 * - at 512 and at 1024: the last flush and the one before it, in turn: a number
 *   that counts flushes (float64), rows (float64), 1 if a state belongs to it
 *   (uint32), the checksum of these 20 bytes (uint32). The valid one with the
 *   higher number counts, so that one that is torn as it is written does not;
 * - at 4096: the description, JSON `[{"name", "dtype", "size"}]` of the columns;
 * - at the next multiple of 4096: the records of the rows, as `layOut`
 *   lays them out.
 *
 * Checksums are CRC-32.
 */
import {
  builtin,
  openPlainSync,
  saveStateSync,
  TEMPORARY_SUFFIX,
} from "@bellman/files";
import type { StateTree } from "@bellman/types";
import { ARRAYS } from "../fields.ts";
import type { ColumnSpec } from "./storage.ts";

/**
 * A file of rows that can always be brought back to what it was at its last
 * flush: rows of that time are kept in a log before they are overwritten.
 */
export class RowFile {
  readonly path: string;
  readonly #file: SyncFile;
  readonly #undo: UndoLog;
  /** Places of its columns, and last flush; nothing while it is new. */
  header: RowFileHeader | undefined;
  /** Places whose old bytes the log has. */
  readonly #kept = new Set<number>();

  /** Opens a file and brings it back to its last flush. If it is damaged, the error has the reason alone. */
  constructor(path: string) {
    this.path = path;
    this.#undo = new UndoLog(`${path}.undo`);
    this.#file = new SyncFile(path);
    try {
      this.header = readHeader(this.#file);
      if (this.header !== undefined) this.#goBack(this.header);
    } catch (error) {
      this.#file.close();
      throw error;
    }
  }

  #goBack({ layout, flush, dataStart }: RowFileHeader): void {
    const size = dataStart + flush.rows * layout.bytes;
    if (this.#file.size < size) {
      throw new SyntaxError(`it is cut off after ${this.#file.size} bytes`);
    }
    this.#undo.undo(flush.number, this.#file);
    this.#undo.clear();
    this.#file.truncate(size);
    // A flush that was interrupted leaves the state before it, or after it.
    const { rmSync } = builtin("node:fs");
    for (const number of [flush.number - 1, flush.number + 1]) {
      const path = this.#stateOf(number);
      rmSync(path, { force: true });
      rmSync(path + TEMPORARY_SUFFIX, { force: true });
    }
  }

  /** Path of the state of the last flush. */
  get statePath(): string {
    return this.#stateOf(this.header?.flush.number ?? 0);
  }

  /** Begins it, where it is new. */
  begin(columns: readonly ColumnSpec[]): RecordLayout {
    this.header ??= writeHeader(this.#file, columns);
    return this.header.layout;
  }

  /** Fills an array with the records from a row on; those that were never written are zeros. */
  read(row: number, target: Uint8Array): void {
    this.#file.read(this.#positionOf(row), target);
  }

  /** Writes the records from a row on. */
  write(row: number, bytes: Uint8Array): void {
    const { number, rows } = this.header!.flush;
    const position = this.#positionOf(row);
    if (row < rows && !this.#kept.has(position)) {
      const old = new Uint8Array(bytes.length);
      this.#file.read(position, old);
      this.#undo.keep(number, position, old);
      this.#kept.add(position);
    }
    this.#file.write(position, bytes);
  }

  #positionOf(row: number): number {
    const { dataStart, layout } = this.header!;
    return dataStart + row * layout.bytes;
  }

  /** Brings everything to the disk, so many rows at least, and then into force all at once. */
  flush(rows: number, state: StateTree | undefined): void {
    const header = this.header!;
    const old = this.statePath;
    const flush: Flush = {
      number: header.flush.number + 1,
      rows: Math.max(header.flush.rows, rows),
      hasState: state !== undefined,
    };
    this.#file.sync();
    if (state !== undefined) saveStateSync(state, this.#stateOf(flush.number));
    writeFlush(this.#file, flush);
    this.#file.sync();
    this.header = { ...header, flush };
    this.#kept.clear();
    this.#undo.clear();
    builtin("node:fs").rmSync(old, { force: true });
  }

  #stateOf(flush: number): string {
    return `${this.path}.${flush}.state`;
  }

  close(): void {
    this.#undo.close();
    this.#file.close();
  }
}

/** First bytes of a file of rows, and of its log. */
const MAGIC = magicOf("BROW");
const LOG_MAGIC = magicOf("BUND");

/** Version of the format. */
const VERSION = 2;

/** Bytes at the start of a file, and of its log. */
const START_BYTES = 20;
const FLUSH_PLACES = [512, 1024] as const;
const FLUSH_BYTES = 24;
const PAGE_BYTES = 4096;

/** A flush, as the file records it. */
interface Flush {
  /** Number of flushes before it. */
  readonly number: number;
  /** Rows up to the last one that was written. */
  readonly rows: number;
  /** True where a state belongs to it. */
  readonly hasState: boolean;
}

/** Description of a file at its start. */
interface RowFileHeader {
  readonly layout: RecordLayout;
  readonly flush: Flush;
  /** Position of the first record. */
  readonly dataStart: number;
}

/** Begins a file without rows. */
function writeHeader(
  file: SyncFile,
  columns: readonly ColumnSpec[],
): RowFileHeader {
  const list = columns.map(({ name, dtype, size }) => ({ name, dtype, size }));
  const description = new TextEncoder().encode(JSON.stringify(list));
  const header = new Uint8Array(dataStart(description.length));
  const start = new DataView(header.buffer, 0, START_BYTES);
  header.set(MAGIC);
  start.setUint32(8, VERSION, true);
  start.setUint32(12, description.length, true);
  start.setUint32(16, checksum(start, 16, description), true);
  const flush: Flush = { number: 0, rows: 0, hasState: false };
  header.set(encodeFlush(flush), FLUSH_PLACES[0]);
  header.set(description, PAGE_BYTES);
  file.write(0, header);
  file.sync();
  return { layout: layOut(list), flush, dataStart: header.length };
}

/** Brings a flush into force. */
function writeFlush(file: SyncFile, flush: Flush): void {
  file.write(FLUSH_PLACES[flush.number % 2], encodeFlush(flush));
}

function encodeFlush({ number, rows, hasState }: Flush): Uint8Array {
  const view = new DataView(new ArrayBuffer(FLUSH_BYTES));
  view.setFloat64(0, number, true);
  view.setFloat64(8, rows, true);
  view.setUint32(16, hasState ? 1 : 0, true);
  view.setUint32(20, crc32(bytesOf(view).subarray(0, 20)), true);
  return bytesOf(view);
}

/**
 * Reads the start of a file; returns nothing if it is empty. If it is damaged,
 * the error has the reason alone.
 */
function readHeader(file: SyncFile): RowFileHeader | undefined {
  if (file.size === 0) return undefined;
  const start = new DataView(new ArrayBuffer(START_BYTES));
  file.read(0, bytesOf(start));
  const magic = bytesOf(start).subarray(0, MAGIC.length);
  if (magic.some((byte, i) => byte !== MAGIC[i])) {
    throw new SyntaxError("it does not start as a file of rows does");
  }
  const version = start.getUint32(8, true);
  const length = start.getUint32(12, true);
  if (version !== VERSION) {
    throw new RangeError(
      `its format is version ${version}, expected ${VERSION}`,
    );
  }
  if (PAGE_BYTES + length > file.size) {
    throw new SyntaxError(`it is cut off after ${file.size} bytes`);
  }
  const description = new Uint8Array(length);
  file.read(PAGE_BYTES, description);
  if (checksum(start, 16, description) !== start.getUint32(16, true)) {
    throw new SyntaxError("the description of its columns is damaged");
  }
  return {
    layout: layOut(JSON.parse(new TextDecoder().decode(description))),
    flush: readFlush(file),
    dataStart: dataStart(length),
  };
}

function readFlush(file: SyncFile): Flush {
  const flushes = FLUSH_PLACES.flatMap((place) => {
    const view = new DataView(new ArrayBuffer(FLUSH_BYTES));
    file.read(place, bytesOf(view));
    const crc = crc32(bytesOf(view).subarray(0, 20));
    return crc !== view.getUint32(20, true) ? [] : [{
      number: view.getFloat64(0, true),
      rows: view.getFloat64(8, true),
      hasState: view.getUint32(16, true) === 1,
    }];
  });
  flushes.sort((a, b) => b.number - a.number);
  if (flushes.length > 0) return flushes[0];
  throw new SyntaxError("both records of what was flushed are damaged");
}

/** Returns the checksum of what stands before it in a header, and of what follows. */
function checksum(header: DataView, before: number, rest: Uint8Array): number {
  return crc32(rest, crc32(bytesOf(header).subarray(0, before)));
}

function dataStart(descriptionBytes: number): number {
  return PAGE_BYTES + Math.ceil(descriptionBytes / PAGE_BYTES) * PAGE_BYTES;
}

/** Place of a column in the records of rows, in numbers of its own kind. */
export interface RecordColumn extends ColumnSpec {
  /** The number in a record that it begins with. */
  readonly start: number;
  /** Numbers from the start of one record to that of the next. */
  readonly stride: number;
}

/** Places of the columns in the record of a row. */
export interface RecordLayout {
  readonly columns: readonly RecordColumn[];
  /** Bytes of a record. */
  readonly bytes: number;
}

/**
 * Lays all numbers of a row side by side, wide ones first: each then lies at a
 * multiple of its width, in every record of a file.
 */
function layOut(columns: readonly ColumnSpec[]): RecordLayout {
  const widths = columns.map(({ dtype }) => ARRAYS[dtype].BYTES_PER_ELEMENT);
  const order = columns.map((_, i) => i)
    .sort((a, b) => widths[b] - widths[a] || a - b);
  const starts: number[] = [];
  let at = 0;
  for (const i of order) {
    starts[i] = at / widths[i];
    at += columns[i].size * widths[i];
  }
  const widest = Math.max(1, ...widths);
  const bytes = Math.ceil(at / widest) * widest;
  return {
    columns: columns.map((column, i) => (
      { ...column, start: starts[i], stride: bytes / widths[i] }
    )),
    bytes,
  };
}

const PIECE_BYTES = 16;

/**
 * The log beside a file of rows: their bytes at the last flush, written before they
 * are overwritten, so that a process that dies leaves a way back.
 */
class UndoLog {
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
    header.setUint32(12, checksum(header, 12, bytes), true);
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
      if (checksum(header, 12, bytes) !== header.getUint32(12, true)) break;
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

function magicOf(name: string): Uint8Array {
  return Uint8Array.of(0x89, ...new TextEncoder().encode(`${name}\r\n\x1a`));
}

function startOf(flush: number): Uint8Array {
  const view = new DataView(new ArrayBuffer(START_BYTES));
  const bytes = bytesOf(view);
  bytes.set(LOG_MAGIC);
  view.setFloat64(8, flush, true);
  view.setUint32(16, crc32(bytes.subarray(0, 16)), true);
  return bytes;
}

/** A file that is read and written at any position, one call after the other. */
class SyncFile {
  readonly #fs = builtin("node:fs");
  readonly #file: number;

  /** Opens a file, and makes an empty one where there is none. */
  constructor(path: string) {
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
function bytesOf(array: ArrayBufferView): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

/** Returns the CRC-32 of bytes, or continues that of the bytes before them. */
export function crc32(bytes: Uint8Array, previous = 0): number {
  return builtin("node:zlib").crc32(bytes, previous);
}
