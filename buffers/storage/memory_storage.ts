import { copyNumbers } from "../copy.ts";
import { ARRAYS, type FieldArray } from "../fields.ts";
import type { Column, ColumnSpec, Storage } from "./storage.ts";

/**
 * Storage of rows in memory, one typed array for each array field.
 *
 * @example
 * ```ts
 * import { MemoryStorage } from "@bellman/buffers/storage";
 * import { assertEquals } from "@std/assert";
 *
 * const spec = { name: "x", dtype: "int32", size: 2 } as const;
 * const column = new MemoryStorage().allocate(spec, 2);
 * column.write(1, [3, 4]);
 * assertEquals(column.data, Int32Array.of(0, 0, 3, 4));
 * assertEquals(column.byteLength, 16);
 * ```
 */
export class MemoryStorage implements Storage {
  /**
   * Allocates the rows of one array field, all zeros.
   *
   * @param spec The field.
   * @param rows Number of rows.
   * @returns The rows, with all of them in its `data`.
   * @throws {RangeError} If there is not as much memory.
   */
  allocate(
    spec: ColumnSpec,
    rows: number,
  ): Column & { readonly data: FieldArray } {
    return new MemoryColumn(spec, allocateMemory(spec, rows));
  }
}

function allocateMemory(
  { name, dtype, size }: ColumnSpec,
  rows: number,
): FieldArray {
  try {
    return new ARRAYS[dtype](rows * size);
  } catch { // The engine's own message says only that it failed.
    const bytes = rows * size * ARRAYS[dtype].BYTES_PER_ELEMENT;
    throw new RangeError(
      `Cannot allocate ${bytes} bytes for ${rows} rows of '${name}': expected fewer rows or a storage on disk`,
    );
  }
}

/** Rows in one typed array. */
export class MemoryColumn implements Column {
  readonly #spec: ColumnSpec;
  readonly data: FieldArray;

  constructor(spec: ColumnSpec, data: FieldArray) {
    this.#spec = spec;
    this.data = data;
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
}
