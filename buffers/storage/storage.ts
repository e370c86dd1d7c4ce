import type { StateTree } from "@bellman/types";
import type { FieldArray, FieldDtype } from "../fields.ts";

/** Array field to be stored. */
export interface ColumnSpec {
  /** Path of the array field, such as `observation.camera`. */
  readonly name: string;
  /** Type of its numbers. */
  readonly dtype: FieldDtype;
  /** Number of elements of a row. */
  readonly size: number;
}

/** Stored rows of one array field. */
export interface Column {
  /** Bytes of memory. */
  readonly byteLength: number;
  /**
   * All rows as one array, `rows * size` numbers, if they are in memory: they are then
   * accessed directly, and neither `read` nor `write` is called.
   */
  readonly data?: FieldArray;
  /**
   * True if its rows outlive the process: a saved state leaves them out.
   *
   * @default false
   */
  readonly persistent?: boolean;
  /**
   * Writes consecutive rows.
   *
   * @param row First row.
   * @param values Their numbers, one row after the other; copied.
   */
  write(row: number, values: ArrayLike<number>): void;
  /**
   * Reads one row.
   *
   * @param row Its number.
   * @param into An array of the column's dtype.
   * @param at Index of the row's first number in the array.
   */
  read(row: number, into: FieldArray, at: number): void;
  /** Frees its resources, such as files. */
  close?(): void;
}

/** Storage of a buffer's rows: memory, or files that may be larger than memory. */
export interface Storage {
  /**
   * Allocates the rows of one array field, all zeros.
   *
   * @param spec The field.
   * @param rows Number of rows.
   */
  allocate(spec: ColumnSpec, rows: number): Column;
  /**
   * Flushes persistent rows to disk.
   *
   * @returns Plain data for `load`.
   */
  save?(): StateTree;
  /**
   * Throws unless all rows of a save are present and unchanged.
   *
   * @param state Result of `save`, perhaps in another process.
   */
  check?(state: StateTree | undefined): void;
  /**
   * Restores the rows of a save.
   *
   * @param state State that `check` accepted.
   */
  load?(state: StateTree): void;
  /** Removes all persistent rows. */
  clear?(): void;
}
