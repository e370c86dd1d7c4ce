import { refuseUnknown } from "@bellman/files/options";
import { toPath } from "@bellman/files";
import type { StateTree } from "@bellman/types";
import { copyNumbers } from "../copy.ts";
import {
  ARRAYS,
  checkWhole,
  type FieldArray,
  foreignState,
} from "../fields.ts";
import { BlockFile, type BlockTable } from "./block_file.ts";
import { layOut, type RecordLayout } from "./records.ts";
import type { Column, ColumnSpec, Storage } from "./storage.ts";
import { SyncFile } from "./sync_file.ts";

/** Options of a {@linkcode FileStorage}. */
export interface FileStorageOptions {
  /**
   * Bytes of the cache of read and unwritten rows: at least those of a batch, so that
   * each row is read once for all fields. The system's file cache comes in addition.
   *
   * @default 16777216
   */
  readonly cacheBytes?: number;
  /**
   * Bytes of a block: as many whole rows as fit in, at least one, that are read,
   * checked and written together.
   *
   * @default 4096
   */
  readonly blockBytes?: number;
  /**
   * Number of latest saves whose rows are kept, besides those that
   * {@link FileStorage.keep} names: the last one, and one that may still be being
   * written.
   *
   * @default 2
   */
  readonly saves?: number;
}

/**
 * Error if a file no longer has all rows of a saved state: they are damaged, or were
 * overwritten.
 *
 * @example
 * ```ts
 * import { FileStorage, LostRowsError } from "@bellman/buffers/storage";
 * import { assertThrows } from "@std/assert";
 *
 * const folder = await Deno.makeTempDir();
 * const storage = FileStorage.open(`${folder}/x.rows`);
 * storage.allocate({ name: "x", dtype: "float32", size: 1 }, 9).write(0, [7]);
 * const state = storage.save();
 * await Deno.truncate(`${folder}/x.rows`, 4097);
 * assertThrows(() => storage.check(state), LostRowsError, "Cannot read rows 0 to");
 * storage.close();
 * await Deno.remove(folder, { recursive: true });
 * ```
 */
export class LostRowsError extends SyntaxError {
  /** Its name, as errors print it. */
  override readonly name = "LostRowsError";
}

/** Saved state of a {@linkcode FileStorage}: positions and checksums of its rows. */
export type FileStorageState = {
  /** Name, dtype and size of each column. */
  columns: string;
  /** Rows of a block. */
  blockRows: number;
  /** Place of each block in the file; -1 of one that was never written. */
  places: Int32Array;
  /** CRC-32 of the bytes of each block. */
  checksums: Int32Array;
};

/**
 * Storage of rows in a file, which may be larger than memory. All fields of a row are
 * in one record, and consecutive rows in a block with a checksum.
 *
 * A buffer's `save()` flushes its rows to disk and saves their positions: `saveBuffer`
 * and `loadBuffer` work as with rows in memory. Rows of a save are not overwritten
 * while its state may be loaded: changes go elsewhere, and the file grows. Blocks are
 * checked whenever they are read, and all of them when a state is loaded: damaged or
 * overwritten rows are an error.
 *
 * Only one process at a time may have the file open. Deno needs permission to read and
 * write its folder.
 *
 * @example
 * ```ts
 * import { loadBuffer, ReplayBuffer, saveBuffer } from "@bellman/buffers";
 * import { FileStorage } from "@bellman/buffers/storage";
 * import { assertEquals } from "@std/assert";
 *
 * const folder = await Deno.makeTempDir();
 * const open = () => {
 *   const storage = FileStorage.open(`${folder}/pool.rows`);
 *   const fields = { x: { shape: [2], dtype: "float32" } } as const;
 *   return new ReplayBuffer({ capacity: 1000, fields, storage });
 * };
 * const buffer = open();
 * buffer.addBatch({ x: [1, 2, 3, 4] }, 2);
 * await saveBuffer(buffer, `${folder}/pool`); // All but the rows: the file has them.
 * buffer.addBatch({ x: [5, 6] }, 1);
 * buffer.close(); // As good as a crash: the last row was not saved.
 *
 * const again = open();
 * await loadBuffer(again, `${folder}/pool`);
 * assertEquals(again.length, 2);
 * assertEquals(again.gather([1]).x, Float32Array.of(3, 4));
 * again.close();
 * await Deno.remove(folder, { recursive: true });
 * ```
 */
export class FileStorage implements Storage {
  readonly #file: SyncFile;
  readonly #sizes: Required<FileStorageOptions>;
  readonly #columns: ColumnSpec[] = [];
  #blocks: BlockCache | undefined;
  /** Saves whose rows stay. */
  #kept: readonly FileStorageState[] = [];
  /** The latest ones, the last one first. */
  #newest: readonly FileStorageState[] = [];
  #isClosed = false;

  private constructor(file: SyncFile, sizes: Required<FileStorageOptions>) {
    this.#file = file;
    this.#sizes = sizes;
  }

  /**
   * Opens or creates a file of rows. Existing rows become available when a state is
   * loaded.
   *
   * @param path Path of the file; its folder must exist.
   * @param options Cache size, and number of saves whose rows are kept.
   * @returns The storage.
   * @throws {RangeError} If a size is not a whole number above 0.
   * @throws {SyntaxError} If it is no file: a link, a folder.
   * @throws {TypeError} If the runtime has no files.
   * @throws {Error} System error if it cannot be opened.
   */
  static open(
    path: string | URL,
    options: FileStorageOptions = {},
  ): FileStorage {
    const names = ["cacheBytes", "blockBytes", "saves"];
    refuseUnknown(options, names, "a file of rows");
    const { cacheBytes = 1 << 24, blockBytes = 4096, saves = 2 } = options;
    const sizes = { cacheBytes, blockBytes, saves };
    for (const [name, size] of Object.entries(sizes)) {
      checkWhole(size, `open a file with ${name} ${size}`);
    }
    return new FileStorage(new SyncFile(toPath(path)), sizes);
  }

  /**
   * Adds a column to the file's records.
   *
   * @param spec The field.
   * @param rows Not used: the file grows as rows are written.
   * @returns The column.
   * @throws {TypeError} If another buffer uses the file already.
   */
  allocate({ name, dtype, size }: ColumnSpec, rows: number): Column {
    void rows;
    if (this.#blocks !== undefined) {
      throw new TypeError(
        `Cannot store '${name}' in '${this.#file.path}' for another buffer: expected a storage of its own`,
      );
    }
    const index = this.#columns.push({ name, dtype, size }) - 1;
    const shareOfMemory = () =>
      (this.#blocks?.byteLength ?? 0) / this.#columns.length;
    return {
      persistent: true,
      get byteLength(): number {
        return shareOfMemory();
      },
      write: (row, values) => this.#open().write(index, row, values),
      read: (row, into, at) => this.#open().read(index, row, into, at),
      close: () => this.close(),
    };
  }

  #open(): BlockCache {
    const { blockBytes } = this.#sizes;
    return this.#blocks ??= this.#withBlocks(
      Math.max(1, Math.floor(blockBytes / this.#layout().bytes)),
    );
  }

  /** Makes blocks of so many rows. */
  #withBlocks(blockRows: number): BlockCache {
    const layout = this.#layout(), { cacheBytes } = this.#sizes;
    return new BlockCache(this.#file, { layout, blockRows, cacheBytes });
  }

  #layout(): RecordLayout {
    const { path } = this.#file;
    if (this.#isClosed || this.#columns.length === 0) {
      throw new TypeError(
        this.#isClosed
          ? `Cannot use '${path}' after it was closed: expected it open`
          : `Cannot use '${path}' for no columns: expected a buffer with it`,
      );
    }
    return layOut(this.#columns);
  }

  /**
   * Flushes all rows to disk. They are kept until two later saves, or as many as
   * `saves` tells, and as long as {@link keep} names this one.
   *
   * @returns Positions and checksums: plain data for {@link load}.
   * @throws {Error} System error if it cannot be written.
   */
  save(): FileStorageState {
    const blocks = this.#open();
    const columns = JSON.stringify(this.#columns);
    const state = { columns, blockRows: blocks.blockRows, ...blocks.save() };
    this.#newest = [state, ...this.#newest].slice(0, this.#sizes.saves);
    this.#protect();
    return state;
  }

  /** Leaves the rows of saves where they are. */
  #protect(): void {
    const blocks = this.#open();
    const isAlike = (it: FileStorageState) => it.blockRows === blocks.blockRows;
    blocks.file.protect([...this.#kept, ...this.#newest].filter(isAlike));
  }

  /**
   * Throws unless the file still has all rows of a save, unchanged: reads them.
   *
   * @param state Result of {@link save}.
   * @throws {LostRowsError} If rows are damaged, or were overwritten since then, it
   * is no such state, or one of other columns.
   */
  check(state: StateTree | undefined): void {
    try {
      this.#verify(state);
    } catch (error) {
      throw new LostRowsError((error as Error).message, { cause: error });
    }
  }

  #verify(state: StateTree | undefined): void {
    const { columns, blockRows, places, checksums } = (state ?? {}) as Partial<
      FileStorageState
    >;
    const isTable = places instanceof Int32Array &&
      checksums instanceof Int32Array && places.length === checksums.length;
    if (!isTable || !(Number.isSafeInteger(blockRows) && blockRows! > 0)) {
      throw foreignState("rows of a file from something else");
    }
    const own = JSON.stringify(this.#columns);
    if (columns !== own) {
      throw new TypeError(
        `Cannot load rows of ${columns} into '${this.#file.path}': expected ${own}`,
      );
    }
    const rows = blockRows!, bytes = rows * this.#layout().bytes;
    new BlockFile(this.#file, { rows, bytes }).verify({ places, checksums });
  }

  /**
   * Restores the rows of a save, instead of the current ones.
   *
   * @param state State that {@link check} accepted.
   */
  load(state: StateTree): void {
    const saved = state as FileStorageState;
    this.#blocks = this.#withBlocks(saved.blockRows);
    this.#blocks.file.load(saved);
    this.#newest = [saved, ...this.#newest].slice(0, this.#sizes.saves);
    this.#protect();
  }

  /**
   * Sets the saves whose states may still be loaded, such as those of all checkpoints
   * on disk: their rows are kept, and all other space is reused.
   *
   * @param states Results of {@link save}, also from before the file was opened.
   */
  keep(states: readonly StateTree[]): void {
    this.#kept = states as FileStorageState[];
    this.#newest = [];
    this.#protect();
  }

  /** Removes all rows. Those of known saves are kept. */
  clear(): void {
    this.#open().clear();
    this.#protect();
  }

  /** Closes the file. Rows that were not saved are lost. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#blocks = undefined;
    this.#file.close();
  }
}

/**
 * Blocks of a file with some of them in memory, each at its own place: a block
 * that is needed there takes the place of another, which is written if it was
 * changed.
 */
class BlockCache {
  readonly file: BlockFile;
  readonly blockRows: number;
  readonly #layout: RecordLayout;
  readonly #blockBytes: number;
  readonly #bytes: Uint8Array<ArrayBuffer>;
  /** The same memory as numbers, for each column. */
  readonly #views: readonly FieldArray[];
  /** The block at each place; -1 for none. */
  readonly #held: Int32Array;
  /** 1 where it is not in the file yet. */
  readonly #isChanged: Uint8Array;

  constructor(
    file: SyncFile,
    { layout, blockRows, cacheBytes }: {
      readonly layout: RecordLayout;
      readonly blockRows: number;
      readonly cacheBytes: number;
    },
  ) {
    const bytes = this.#blockBytes = blockRows * layout.bytes;
    const places = Math.max(1, Math.floor(cacheBytes / bytes));
    this.file = new BlockFile(file, { rows: blockRows, bytes });
    this.blockRows = blockRows;
    this.#layout = layout;
    this.#bytes = new Uint8Array(places * bytes);
    const { buffer } = this.#bytes;
    this.#views = layout.columns.map(({ dtype }) => new ARRAYS[dtype](buffer));
    this.#held = new Int32Array(places).fill(-1);
    this.#isChanged = new Uint8Array(places);
  }

  /** Bytes of memory that it takes. */
  get byteLength(): number {
    return this.#bytes.length + 5 * this.#held.length + this.file.byteLength;
  }

  /** Writes rows of one column that follow each other. */
  write(column: number, row: number, values: ArrayLike<number>): void {
    this.file.begin();
    const { size, start, stride } = this.#layout.columns[column];
    const view = this.#views[column], rows = values.length / size;
    for (let i = 0; i < rows; i++) {
      const record = this.#recordOf(row + i);
      this.#isChanged[Math.floor(record / this.blockRows)] = 1;
      const from = i * size, to = record * stride + start;
      copyNumbers(values, view, { from, to, count: size });
    }
  }

  /** Reads a row of one column. */
  read(column: number, row: number, into: FieldArray, at: number): void {
    const { size, start, stride } = this.#layout.columns[column];
    const from = this.#recordOf(row) * stride + start;
    copyNumbers(this.#views[column], into, { from, to: at, count: size });
  }

  /** Returns the record of a row in memory, where its block is brought. */
  #recordOf(row: number): number {
    const block = Math.floor(row / this.blockRows);
    const place = block % this.#held.length;
    if (this.#held[place] !== block) this.#fetch(block, place);
    return place * this.blockRows + row - block * this.blockRows;
  }

  #fetch(block: number, place: number): void {
    this.#writeBack(place);
    this.#held[place] = -1; // Where it cannot be read.
    this.file.read(block, this.#bytesAt(place));
    this.#held[place] = block;
  }

  #writeBack(place: number): void {
    if (this.#isChanged[place] === 0) return;
    this.file.write(this.#held[place], this.#bytesAt(place));
    this.#isChanged[place] = 0;
  }

  #bytesAt(place: number): Uint8Array {
    const start = place * this.#blockBytes;
    return this.#bytes.subarray(start, start + this.#blockBytes);
  }

  /** Brings all blocks to the disk; returns where they lie. */
  save(): BlockTable {
    for (let place = 0; place < this.#held.length; place++) {
      this.#writeBack(place);
    }
    return this.file.save();
  }

  /** Forgets all blocks. */
  clear(): void {
    this.#held.fill(-1);
    this.#isChanged.fill(0);
    this.file.clear();
  }
}
