import { allocateMemory, MemoryColumn } from "./_memory_column.ts";
import type { FieldArray } from "./field.ts";
import type { Column, ColumnSpec, Storage } from "./storage.ts";

/** How a {@linkcode MemoryStorage} keeps rows. */
export interface MemoryStorageOptions {
  /**
   * Whether the memory is shared between workers.
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
 * import { MemoryStorage } from "@bellman/buffers";
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
   * A storage in this process's memory.
   *
   * @param options Whether it is shared.
   */
  constructor(options: MemoryStorageOptions = {}) {
    this.#shared = options.shared ?? false;
  }

  /**
   * Makes room for the rows of one array field, all of them zeros.
   *
   * @param spec What a row is.
   * @param rows How many there are room for.
   * @returns The rows, with all of them in its `data`.
   */
  allocate(
    spec: ColumnSpec,
    rows: number,
  ): Column & { readonly data: FieldArray } {
    return new MemoryColumn(spec, allocateMemory(spec, rows, this.#shared));
  }
}
