import { loadState, rewordError, toPath } from "@bellman/files";
import type { StateTree } from "@bellman/types";
import { checkWhole, type FieldArray, viewBuffer } from "../fields.ts";
import { type RecordLayout, RowFile } from "./row_file.ts";
import type { Column, ColumnSpec, Storage } from "./storage.ts";
import { copyNumbers } from "../copy.ts";

/** Memory that a {@linkcode FileStorage} takes. */
export interface FileStorageOptions {
  /**
   * Bytes of records that were read, enough for those of a batch: each of its
   * rows is then read once for all fields. The system's own cache of the file comes
   * in addition.
   *
   * @default 16777216
   */
  readonly cacheBytes?: number;
  /**
   * Rows that are read at once, from the wanted one on. One more than there are
   * environments brings the next step along.
   *
   * @default 2
   */
  readonly readRows?: number;
  /**
   * Bytes of records that are collected before they are written at once. Four
   * such blocks are open at most.
   *
   * @default 262144
   */
  readonly blockBytes?: number;
}

/**
 * Keeps rows in a file, which may be larger than memory. All fields of a row lie
 * together in one record, so that drawing a row reads the file once, together
 * with the row after it; added rows are collected and written in blocks.
 *
 * The file always comes back as it was at the last {@link flush}: rows of that
 * time are copied to a log before they are overwritten (`PATH.undo`), and later
 * changes of a process that died are undone when the file is opened again. A flush
 * takes a state along, that of the buffer, which comes into force together with
 * the rows (`PATH.N.state`).
 *
 * One process at a time may have the file open. Deno needs the permission to
 * read and write its folder.
 *
 * @example
 * ```ts
 * import { ReplayBuffer, type ReplayBufferState } from "@bellman/buffers";
 * import { FileStorage } from "@bellman/buffers/storage";
 * import { assertEquals } from "@std/assert";
 *
 * const folder = await Deno.makeTempDir();
 * const storage = await FileStorage.open(`${folder}/pool.rows`);
 * const fields = { x: { shape: [2], dtype: "float32" } } as const;
 * const buffer = new ReplayBuffer({ capacity: 1000, fields, storage });
 * buffer.addBatch({ x: [1, 2, 3, 4] }, 2);
 * storage.flush(buffer.save()); // A state without rows: the file has them.
 * buffer.addBatch({ x: [5, 6] }, 1);
 * buffer.close(); // As good as a crash: the last row was not flushed.
 *
 * const again = await FileStorage.open(`${folder}/pool.rows`);
 * const other = new ReplayBuffer({ capacity: 1000, fields, storage: again });
 * other.load(again.state as ReplayBufferState);
 * assertEquals(other.length, 2);
 * assertEquals(other.gather([1]).x, Float32Array.of(3, 4));
 * other.close();
 * await Deno.remove(folder, { recursive: true });
 * ```
 */
export class FileStorage implements Storage {
  /**
   * The state that the last flush before it was opened took along; nothing
   * without one.
   */
  readonly state: StateTree | undefined;
  readonly #file: RowFile;
  readonly #sizes: Required<FileStorageOptions>;
  readonly #columns: ColumnSpec[] = [];
  #store: RecordStore | undefined;
  #closed = false;

  private constructor(
    file: RowFile,
    state: StateTree | undefined,
    sizes: Required<FileStorageOptions>,
  ) {
    this.#file = file;
    this.state = state;
    this.#sizes = sizes;
  }

  /**
   * Opens a file of rows as it was last flushed, or begins one.
   *
   * @param path The file; its folder exists.
   * @param options Memory that it takes.
   * @returns The storage.
   * @throws {SyntaxError} If the file is cut off, damaged or something else.
   * @throws {RangeError} If a newer version wrote it, or a size is not a whole
   * number above 0.
   * @throws {TypeError} If the runtime has no files.
   * @throws {Error} The system's error where it cannot be opened.
   */
  static async open(
    path: string | URL,
    options: FileStorageOptions = {},
  ): Promise<FileStorage> {
    const { cacheBytes = 1 << 24, readRows = 2, blockBytes = 1 << 18 } =
      options;
    const sizes = { cacheBytes, readRows, blockBytes };
    for (const [name, size] of Object.entries(sizes)) {
      checkWhole(size, `open a file with ${name} ${size}`);
    }
    const name = toPath(path);
    const file = openRows(name);
    try {
      const state = file.header?.flush.hasState
        ? await loadState(file.statePath)
        : undefined;
      return new FileStorage(file, state, sizes);
    } catch (error) {
      file.close();
      throw error;
    }
  }

  /** Rows up to the last one that was flushed. */
  get rows(): number {
    return this.#file.header?.flush.rows ?? 0;
  }

  /**
   * Adds a column to the file's records. A file that has rows has columns, and
   * takes the same ones again in the same order; the rows that it holds stay.
   *
   * @param spec The field.
   * @param rows Not used: the file grows as rows are written.
   * @returns The column.
   * @throws {TypeError} If the file has another column in its place, or rows were
   * written already.
   */
  allocate(spec: ColumnSpec, rows: number): Column {
    void rows;
    const index = this.#columns.length;
    if (this.#store !== undefined) {
      throw new TypeError(
        `Cannot store '${spec.name}' in '${this.#file.path}' for another buffer: expected a storage of its own`,
      );
    }
    this.#checkColumn(spec, index);
    this.#columns.push(spec);
    const shareOfMemory = () =>
      (this.#store?.byteLength ?? 0) / this.#columns.length;
    return {
      persistent: true,
      get byteLength(): number {
        return shareOfMemory();
      },
      write: (row, values) => this.#open().write(index, row, values),
      read: (row, into, at) => this.#open().read(index, row, into, at),
      resize() {}, // A file grows when it is written.
      close: () => this.close(),
    };
  }

  /** Returns the records, and checks all columns before the first use. */
  #open(): RecordStore {
    if (this.#store !== undefined) return this.#store;
    if (this.#closed) {
      throw new TypeError(
        `Cannot use '${this.#file.path}' after it was closed: expected it open`,
      );
    }
    const count = this.#columns.length;
    const wanted = this.#file.header?.layout.columns.length ??
      Math.max(1, count);
    if (count !== wanted) {
      throw new TypeError(
        `Cannot use '${this.#file.path}' for ${count} columns: expected ${wanted}`,
      );
    }
    const layout = this.#file.begin(this.#columns);
    return this.#store = new RecordStore(layout, this.#file, this.#sizes);
  }

  #checkColumn(spec: ColumnSpec, index: number): void {
    const columns = this.#file.header?.layout.columns;
    if (columns === undefined) return;
    const own = columns[index];
    const say = ({ name, dtype, size }: ColumnSpec) =>
      `'${name}' of ${size} ${dtype}`;
    if (own && say(own) === say(spec)) return;
    throw new TypeError(
      `Cannot store ${say(spec)} in '${this.#file.path}': it holds ${
        own ? say(own) : `only ${columns.length} columns`
      } there`,
    );
  }

  /**
   * Brings all rows to the disk. From its return on, the file comes back like this
   * after a process died; if it dies meanwhile, like this or as flushed before.
   *
   * @param state Plain data that is kept along, such as the buffer's `save()`;
   * an earlier one is given up.
   * @throws {TypeError} If the state is not plain, or the storage is closed.
   * @throws {Error} The system's error where it cannot be written.
   */
  flush(state?: StateTree): void {
    const store = this.#open();
    store.flush();
    this.#file.flush(store.rows, state);
  }

  /** Closes the file. Rows that were not flushed are lost. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#store = undefined;
    this.#file.close();
  }
}

function openRows(path: string): RowFile {
  try {
    return new RowFile(path);
  } catch (error) {
    const isOurs = error instanceof SyntaxError || error instanceof RangeError;
    if (!isOurs) throw error;
    throw rewordError(error, (reason) => `Cannot open '${path}': ${reason}`);
  }
}

/** Records that follow each other, in memory. */
interface Records {
  readonly bytes: Uint8Array;
  /** The same memory as numbers, for each column. */
  readonly views: readonly FieldArray[];
}

/** Records that are written together. */
interface Block extends Records {
  readonly index: number;
}

/**
 * Blocks that are open at once: rows that are added column by column go back to
 * the block that they began in.
 */
const MAX_BLOCKS = 4;

/**
 * Records of a file with a little memory between. Writes are collected in blocks.
 * A row that is read brings its whole record, with one read, which then serves
 * the other columns.
 */
class RecordStore {
  readonly #file: RowFile;
  readonly #layout: RecordLayout;
  readonly #readRows: number;
  readonly #blockRows: number;
  /** The one that was used last comes last. */
  readonly #blocks = new Map<number, Block>();
  #last: Block | undefined;
  /** Rows up to the last one that was written. */
  rows = 0;
  readonly #cache: Records;
  /** The row of each record in the cache; -1 for none. */
  readonly #cached: Float64Array;

  constructor(
    layout: RecordLayout,
    file: RowFile,
    sizes: Required<FileStorageOptions>,
  ) {
    this.#file = file;
    this.#layout = layout;
    const { bytes } = layout;
    this.#readRows = sizes.readRows;
    this.#blockRows = Math.max(1, Math.floor(sizes.blockBytes / bytes));
    const cached = Math.max(1, Math.floor(sizes.cacheBytes / bytes));
    this.#cache = this.#allocate(cached);
    this.#cached = new Float64Array(cached).fill(-1);
  }

  #allocate(rows: number): Records {
    const bytes = new Uint8Array(rows * this.#layout.bytes);
    const views = this.#layout.columns.map(({ dtype }) =>
      viewBuffer(dtype, bytes.buffer)
    );
    return { bytes, views };
  }

  /** Bytes of memory that it takes at most. */
  get byteLength(): number {
    const blockBytes = this.#blockRows * this.#layout.bytes;
    return MAX_BLOCKS * blockBytes + this.#cache.bytes.length +
      this.#cached.byteLength;
  }

  /** Writes rows of one column that follow each other. */
  write(column: number, row: number, values: ArrayLike<number>): void {
    const { size, start, stride } = this.#layout.columns[column];
    const rows = values.length / size;
    for (let i = 0; i < rows; i++) {
      const block = this.#blockOf(row + i);
      const from = i * size, place = (row + i) % this.#blockRows;
      const to = place * stride + start;
      copyNumbers(values, block.views[column], { from, to, count: size });
      this.#forget(row + i);
    }
    this.rows = Math.max(this.rows, row + rows);
  }

  /** Reads a row of one column. */
  read(column: number, row: number, into: FieldArray, at: number): void {
    const { size, start, stride } = this.#layout.columns[column];
    const block = this.#blocks.get(Math.floor(row / this.#blockRows));
    const place = block ? row % this.#blockRows : this.#fetch(row);
    const { views } = block ?? this.#cache;
    const from = place * stride + start;
    copyNumbers(views[column], into, { from, to: at, count: size });
  }

  /** Brings all writes to the file. */
  flush(): void {
    for (const index of this.#blocks.keys()) this.#writeBack(index);
    this.#last = undefined;
  }

  /** Returns the place of a row's record in the cache. */
  #fetch(row: number): number {
    const place = row % this.#cached.length;
    if (this.#cached[place] === row) return place;
    const count = this.#countAhead(row, place);
    const { bytes } = this.#layout;
    const start = place * bytes, end = start + count * bytes;
    this.#cached.fill(-1, place, place + count);
    this.#file.read(row, this.#cache.bytes.subarray(start, end));
    for (let i = 0; i < count; i++) this.#cached[place + i] = row + i;
    return place;
  }

  /** Counts the records that are read with one: not those in blocks, which are newer than the file's. */
  #countAhead(row: number, place: number): number {
    const room = Math.min(this.#readRows, this.#cached.length - place);
    for (let i = 1; i < room; i++) {
      if (this.#blocks.has(Math.floor((row + i) / this.#blockRows))) return i;
    }
    return room;
  }

  #forget(row: number): void {
    const place = row % this.#cached.length;
    if (this.#cached[place] === row) this.#cached[place] = -1;
  }

  /** Returns the block that a row is to be written in. */
  #blockOf(row: number): Block {
    const index = Math.floor(row / this.#blockRows);
    if (this.#last?.index === index) return this.#last;
    const block = this.#blocks.get(index) ?? this.#readBlock(index);
    this.#blocks.delete(index);
    this.#blocks.set(index, block);
    return this.#last = block;
  }

  /** Reads a block, to the memory of the one that was not used for longest. */
  #readBlock(index: number): Block {
    const [oldest] = this.#blocks.keys();
    const { bytes, views } = this.#blocks.size < MAX_BLOCKS
      ? this.#allocate(this.#blockRows)
      : this.#writeBack(oldest);
    this.#file.read(index * this.#blockRows, bytes);
    return { bytes, views, index };
  }

  /** Writes a block to the file, and gives it up. */
  #writeBack(index: number): Block {
    const block = this.#blocks.get(index)!;
    this.#file.write(index * this.#blockRows, block.bytes);
    this.#blocks.delete(index);
    return block;
  }
}
