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
import { builtin, saveStateSync, TEMPORARY_SUFFIX } from "@bellman/files";
import type { StateTree } from "@bellman/types";
import { bytesPerNumber } from "../fields.ts";
import { bytesOf, crc32, SyncFile } from "./_sync_file.ts";
import type { ColumnSpec } from "./storage.ts";
import { UndoLog } from "./undo_log.ts";

/**
 * A file of rows that can always be brought back to what it was at its last
 * flush: rows of that time are kept in a log before they are overwritten.
 */
export class RowFile {
  readonly path: string;
  readonly #file: SyncFile;
  readonly #undo: UndoLog;
  #header: RowFileHeader | undefined;
  #layout: RecordLayout | undefined;
  /** Places whose old bytes the log has. */
  readonly #kept = new Set<number>();

  /** Opens a file and brings it back to its last flush. If it is damaged, the error has the reason alone. */
  constructor(path: string) {
    this.path = path;
    this.#undo = new UndoLog(`${path}.undo`);
    this.#file = new SyncFile(path);
    try {
      this.#header = readHeader(this.#file);
      if (this.#header !== undefined) this.#goBack(this.#header);
    } catch (error) {
      this.#file.close();
      throw error;
    }
  }

  #goBack({ columns, flush, dataStart }: RowFileHeader): void {
    this.#layout = layOut(columns);
    this.#undo.undo(flush.number, this.#file);
    this.#undo.clear();
    this.#file.truncate(dataStart + flush.rows * this.#layout.bytes);
    // A flush that was interrupted leaves the state before it, or after it.
    const { rmSync } = builtin("node:fs");
    for (const number of [flush.number - 1, flush.number + 1]) {
      const path = this.#stateOf(number);
      rmSync(path, { force: true });
      rmSync(path + TEMPORARY_SUFFIX, { force: true });
    }
  }

  /** Columns of its rows; nothing while it is new. */
  get columns(): readonly ColumnSpec[] | undefined {
    return this.#header?.columns;
  }

  /** The last flush; nothing while it is new. */
  get flushed(): Flush | undefined {
    return this.#header?.flush;
  }

  /** Path of the state of the last flush. */
  get statePath(): string {
    return this.#stateOf(this.#header?.flush.number ?? 0);
  }

  /** Begins it, where it is new. */
  begin(columns: readonly ColumnSpec[]): RecordLayout {
    this.#header ??= writeHeader(this.#file, columns);
    return this.#layout ??= layOut(this.#header.columns);
  }

  /** Fills an array with the records from a row on; those that were never written are zeros. */
  read(row: number, target: Uint8Array): void {
    this.#file.read(this.#positionOf(row), target);
  }

  /** Writes the records from a row on. */
  write(row: number, bytes: Uint8Array): void {
    const { number, rows } = this.#header!.flush;
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
    return this.#header!.dataStart + row * this.#layout!.bytes;
  }

  /** Brings everything to the disk, so many rows at least, and then into force all at once. */
  flush(rows: number, state: StateTree | undefined): void {
    const header = this.#header!;
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
    this.#header = { ...header, flush };
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

/** First bytes of a file. */
const MAGIC = Uint8Array.of(
  0x89,
  ...new TextEncoder().encode("BROW\r\n\x1a"),
);

/** Version of the format. */
const VERSION = 2;

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
  readonly columns: readonly ColumnSpec[];
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
  start.setUint32(16, checksum(start, description), true);
  const flush: Flush = { number: 0, rows: 0, hasState: false };
  header.set(encodeFlush(flush), FLUSH_PLACES[0]);
  header.set(description, PAGE_BYTES);
  file.write(0, header);
  file.sync();
  return { columns: list, flush, dataStart: header.length };
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
  if (checksum(start, description) !== start.getUint32(16, true)) {
    throw new SyntaxError("the description of its columns is damaged");
  }
  return {
    columns: JSON.parse(new TextDecoder().decode(description)),
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

function checksum(start: DataView, description: Uint8Array): number {
  return crc32(description, crc32(bytesOf(start).subarray(0, 16)));
}

function dataStart(descriptionBytes: number): number {
  return PAGE_BYTES + Math.ceil(descriptionBytes / PAGE_BYTES) * PAGE_BYTES;
}

/** Places of the columns in the record of a row. */
export interface RecordLayout {
  readonly columns: readonly ColumnSpec[];
  /** First byte of each column in the record. */
  readonly offsets: readonly number[];
  /** Bytes of a record. */
  readonly bytes: number;
}

/**
 * Lays all numbers of a row side by side, wide ones first: each then lies at a
 * multiple of its width, in every record of a file.
 */
function layOut(columns: readonly ColumnSpec[]): RecordLayout {
  const widths = columns.map(({ dtype }) => bytesPerNumber(dtype));
  const order = columns.map((_, i) => i)
    .sort((a, b) => widths[b] - widths[a] || a - b);
  const offsets: number[] = [];
  let at = 0;
  for (const i of order) {
    offsets[i] = at;
    at += columns[i].size * widths[i];
  }
  const widest = Math.max(1, ...widths);
  return { columns, offsets, bytes: Math.ceil(at / widest) * widest };
}
