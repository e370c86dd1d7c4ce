import { bytesOf, viewBuffer } from "./_arrays.ts";
import { copyNumbers } from "./_copy_rows.ts";
import type { FieldArray } from "./field.ts";
import type { Column, ColumnSpec } from "./storage.ts";

/** Zeros for the rows of an array field. */
export function allocateMemory(
  { name, dtype, size }: ColumnSpec,
  rows: number,
  shared: boolean,
): ArrayBufferLike {
  const bytes = rows * size * bytesOf(dtype);
  try {
    return shared ? new SharedArrayBuffer(bytes) : new ArrayBuffer(bytes);
  } catch { // The engine's own message says only that it failed.
    throw new RangeError(
      `Cannot allocate ${bytes} bytes for ${rows} rows of '${name}': expected fewer rows or a storage on disk`,
    );
  }
}

/** Rows in one typed array. */
export class MemoryColumn implements Column {
  readonly #spec: ColumnSpec;
  #data: FieldArray;

  constructor(spec: ColumnSpec, memory: ArrayBufferLike) {
    this.#spec = spec;
    this.#data = viewBuffer(spec.dtype, memory);
  }

  get data(): FieldArray {
    return this.#data;
  }

  get byteLength(): number {
    return this.#data.byteLength;
  }

  write(row: number, values: ArrayLike<number>): void {
    this.#data.set(values, row * this.#spec.size);
  }

  read(row: number, into: FieldArray, at: number): void {
    const { size } = this.#spec;
    const count = size, from = row * size;
    copyNumbers(this.#data, into, { from, to: at, count });
  }

  resize(rows: number): void {
    const shared = this.#data.buffer instanceof SharedArrayBuffer;
    const memory = allocateMemory(this.#spec, rows, shared);
    const data = viewBuffer(this.#spec.dtype, memory);
    data.set(this.#data.subarray(0, data.length));
    this.#data = data;
  }
}
