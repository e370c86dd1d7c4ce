import { copyNumbers } from "../copy.ts";
import { ARRAYS, type FieldArray, viewBuffer } from "../fields.ts";
import type { Column, ColumnSpec, Storage } from "./storage.ts";

/** Options of a {@linkcode MemoryStorage}. */
export interface MemoryStorageOptions {
  /**
   * True to share the memory between workers.
   *
   * @default false
   */
  readonly shared?: boolean;
}

/**
 * Keeps each array field in one typed array.
 *
 * @example
 * ```ts
 * import { MemoryStorage } from "@bellman/buffers/storage";
 * import { assertEquals } from "@std/assert";
 *
 * const spec = { name: "x", dtype: "int32", size: 2 } as const;
 * const column = new MemoryStorage().allocate(spec, 2);
 * column.write(1, [3, 4]);
 * column.resize(3);
 * assertEquals(column.data, Int32Array.of(0, 0, 3, 4, 0, 0));
 * assertEquals(column.byteLength, 24);
 * ```
 */
export class MemoryStorage implements Storage {
  readonly #shared: boolean;

  /**
   * Makes a storage in this process's memory.
   *
   * @param options Memory of its own, or shared.
   */
  constructor(options: MemoryStorageOptions = {}) {
    this.#shared = options.shared ?? false;
  }

  /**
   * Makes room for the rows of one array field, all of them zeros.
   *
   * @param spec The field.
   * @param rows Number of rows.
   * @returns The rows, with all of them in its `data`.
   */
  allocate(
    spec: ColumnSpec,
    rows: number,
  ): Column & { readonly data: FieldArray } {
    return new MemoryColumn(
      spec,
      allocateMemory(spec, rows, { shared: this.#shared }),
    );
  }
}

/** Allocates zeros for the rows of an array field. */
export function allocateMemory(
  { name, dtype, size }: ColumnSpec,
  rows: number,
  { shared, maxRows }: {
    readonly shared: boolean;
    /** Rows that shared memory may grow to; without it, it stays as it is. */
    readonly maxRows?: number;
  },
): ArrayBufferLike {
  const rowBytes = size * ARRAYS[dtype].BYTES_PER_ELEMENT;
  const bytes = rows * rowBytes;
  try {
    return shared
      ? new SharedArrayBuffer(bytes, {
        maxByteLength: maxRows && maxRows * rowBytes,
      })
      : new ArrayBuffer(bytes);
  } catch { // The engine's own message says only that it failed.
    throw new RangeError(
      `Cannot allocate ${bytes} bytes for ${rows} rows of '${name}': expected fewer rows or a storage on disk`,
    );
  }
}

/** Rows in one typed array. */
export class MemoryColumn implements Column {
  readonly #spec: ColumnSpec;
  data: FieldArray;

  constructor(spec: ColumnSpec, memory: ArrayBufferLike) {
    this.#spec = spec;
    this.data = viewBuffer(spec.dtype, memory);
  }

  get byteLength(): number {
    return this.data.byteLength;
  }

  write(row: number, values: ArrayLike<number>): void {
    this.data.set(values, row * this.#spec.size);
  }

  read(row: number, into: FieldArray, at: number): void {
    const { size } = this.#spec;
    const count = size, from = row * size;
    copyNumbers(this.data, into, { from, to: at, count });
  }

  resize(rows: number): void {
    const { buffer } = this.data;
    const shared = buffer instanceof SharedArrayBuffer;
    if (shared && buffer.growable) { // Views, here and in workers, grow with it.
      buffer.grow(rows * this.#spec.size * this.data.BYTES_PER_ELEMENT);
      return;
    }
    const memory = allocateMemory(this.#spec, rows, { shared });
    const data = viewBuffer(this.#spec.dtype, memory);
    data.set(this.data.subarray(0, data.length));
    this.data = data;
  }
}
