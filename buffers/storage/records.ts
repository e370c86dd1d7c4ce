import { copyNumbers } from "../copy.ts";
import { type FieldArray, viewBuffer } from "../fields.ts";
import type { RecordLayout, RowFile } from "./row_file.ts";

/** Memory that a {@linkcode RecordStore} may take. */
interface StoreSizes {
  /** Bytes of records that were read. */
  readonly cacheBytes: number;
  /** Records that are read at once. */
  readonly readRows: number;
  /** Bytes of each block that is written at once. */
  readonly blockBytes: number;
}

/** Records that follow each other, in memory. */
interface Records {
  readonly bytes: Uint8Array;
  /** The same memory as numbers, for each column. */
  readonly views: readonly FieldArray[];
}

/** Records that are written together. */
interface Block extends Records {
  index: number;
  changed: boolean;
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
export class RecordStore {
  readonly #file: RowFile;
  readonly #layout: RecordLayout;
  /** Numbers from the start of one record to that of the next, for each column. */
  readonly #strides: readonly number[];
  /** The number in a record that each column begins with. */
  readonly #starts: readonly number[];
  readonly #readRows: number;
  readonly #blockRows: number;
  /** The one that was used last comes last. */
  readonly #blocks = new Map<number, Block>();
  #last: Block | undefined;
  #rows = 0;
  readonly #cache: Records;
  /** The row of each record in the cache; -1 for none. */
  readonly #cached: Float64Array;

  constructor(layout: RecordLayout, file: RowFile, sizes: StoreSizes) {
    this.#file = file;
    this.#layout = layout;
    const { columns, offsets, bytes } = layout;
    this.#readRows = sizes.readRows;
    this.#blockRows = Math.max(1, Math.floor(sizes.blockBytes / bytes));
    const cached = Math.max(1, Math.floor(sizes.cacheBytes / bytes));
    this.#cache = this.#allocate(cached);
    this.#cached = new Float64Array(cached).fill(-1);
    const widths = columns.map((_, i) =>
      this.#cache.views[i].BYTES_PER_ELEMENT
    );
    this.#strides = widths.map((width) => bytes / width);
    this.#starts = widths.map((width, i) => offsets[i] / width);
  }

  #allocate(rows: number): Records {
    const bytes = new Uint8Array(rows * this.#layout.bytes);
    const views = this.#layout.columns.map(({ dtype }) =>
      viewBuffer(dtype, bytes.buffer)
    );
    return { bytes, views };
  }

  /** Rows up to the last one that was written. */
  get rows(): number {
    return this.#rows;
  }

  /** Bytes of memory that it takes at most. */
  get byteLength(): number {
    const blockBytes = this.#blockRows * this.#layout.bytes;
    return MAX_BLOCKS * blockBytes + this.#cache.bytes.length +
      this.#cached.byteLength;
  }

  /** Writes rows of one column that follow each other. */
  write(column: number, row: number, values: ArrayLike<number>): void {
    const { size } = this.#layout.columns[column];
    const stride = this.#strides[column], start = this.#starts[column];
    const rows = values.length / size;
    for (let i = 0; i < rows; i++) {
      const block = this.#blockOf(row + i);
      const place = (row + i) % this.#blockRows;
      const to = place * stride + start;
      copyNumbers(values, block.views[column], {
        from: i * size,
        to,
        count: size,
      });
      this.#forget(row + i);
    }
    this.#rows = Math.max(this.#rows, row + rows);
  }

  /** Reads a row of one column. */
  read(column: number, row: number, into: FieldArray, at: number): void {
    const { size } = this.#layout.columns[column];
    const block = this.#blocks.get(Math.floor(row / this.#blockRows));
    const place = block ? row % this.#blockRows : this.#fetch(row);
    const { views } = block ?? this.#cache;
    const from = place * this.#strides[column] + this.#starts[column];
    copyNumbers(views[column], into, { from, to: at, count: size });
  }

  /** Brings all writes to the file. */
  flush(): void {
    for (const block of this.#blocks.values()) this.#writeBack(block);
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
    if (this.#last?.index === index) {
      this.#last.changed = true;
      return this.#last;
    }
    let block = this.#blocks.get(index);
    if (block === undefined) {
      block = this.#newBlock();
      block.index = index;
      block.changed = false;
      this.#file.read(index * this.#blockRows, block.bytes);
    } else this.#blocks.delete(index);
    this.#blocks.set(index, block);
    block.changed = true;
    this.#last = block;
    return block;
  }

  /** Returns memory for a block: that of the one that was not used for longest. */
  #newBlock(): Block {
    if (this.#blocks.size < MAX_BLOCKS) {
      const records = this.#allocate(this.#blockRows);
      return { ...records, index: 0, changed: false };
    }
    const [[index, block]] = this.#blocks;
    this.#writeBack(block);
    this.#blocks.delete(index);
    return block;
  }

  #writeBack(block: Block): void {
    if (!block.changed) return;
    this.#file.write(block.index * this.#blockRows, block.bytes);
    block.changed = false;
  }
}
