import { builtin } from "./_files.ts";
import { layOut, type RecordLayout } from "./_record_layout.ts";
import type { RecordFile } from "./_record_store.ts";
import {
  type Flush,
  readHeader,
  type RowFileHeader,
  writeFlush,
  writeHeader,
} from "./_row_file_header.ts";
import { stateChunks } from "./_state_chunks.ts";
import { SyncFile } from "./_sync_file.ts";
import { UndoLog } from "./_undo_log.ts";
import type { PlainState } from "./plain_state.ts";
import type { ColumnSpec } from "./storage.ts";

/**
 * A file of rows that can always be brought back to what it was at its last
 * flush: rows of that time are kept in a log before they are overwritten.
 */
export class RowFile implements RecordFile {
  readonly path: string;
  readonly #file: SyncFile;
  readonly #undo: UndoLog;
  #header: RowFileHeader | undefined;
  #layout: RecordLayout | undefined;
  /** Places whose old bytes the log has. */
  readonly #kept = new Set<number>();

  /** Opens a file and brings it back to its last flush. Throws an error with the reason alone where it is damaged. */
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
    this.#undo.restore(flush.number, this.#file);
    this.#undo.clear();
    this.#file.truncate(dataStart + flush.rows * this.#layout.bytes);
    // A flush that was interrupted leaves the state before it, or after it.
    const { rmSync } = builtin("node:fs");
    for (const number of [flush.number - 1, flush.number + 1]) {
      rmSync(this.#stateOf(number), { force: true });
    }
  }

  /** Columns of its rows; nothing while it is new. */
  get columns(): readonly ColumnSpec[] | undefined {
    return this.#header?.columns;
  }

  /** What was flushed; nothing while it is new. */
  get flushed(): Flush | undefined {
    return this.#header?.flush;
  }

  /** Where the state of the last flush is. */
  get statePath(): string {
    return this.#stateOf(this.#header?.flush.number ?? 0);
  }

  /** Begins it, where it is new. */
  begin(columns: readonly ColumnSpec[]): RecordLayout {
    this.#header ??= writeHeader(this.#file, columns);
    return this.#layout ??= layOut(this.#header.columns);
  }

  read(row: number, target: Uint8Array): void {
    this.#file.read(this.#positionOf(row), target);
  }

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
  flush(rows: number, state: PlainState | undefined): void {
    const header = this.#header!;
    const old = this.statePath;
    const flush: Flush = {
      number: header.flush.number + 1,
      rows: Math.max(header.flush.rows, rows),
      hasState: state !== undefined,
    };
    this.#file.sync();
    if (state !== undefined) writeState(this.#stateOf(flush.number), state);
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

function writeState(path: string, state: PlainState): void {
  const file = new SyncFile(path);
  try {
    file.truncate(0);
    let position = 0;
    for (const chunk of stateChunks(state)) {
      for (const piece of chunk) {
        file.write(position, piece);
        position += piece.length;
      }
    }
    file.sync();
  } finally {
    file.close();
  }
}
