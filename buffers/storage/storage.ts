import type { StateTree } from "@bellman/types";
import type { FieldArray, FieldDtype } from "../fields.ts";

/** Array field of a {@linkcode Column}. */
export interface ColumnSpec {
  /** Path of the array field, such as `observation.camera`. */
  readonly name: string;
  /** Kind of its numbers. */
  readonly dtype: FieldDtype;
  /** Numbers of a row. */
  readonly size: number;
}

/** Rows of one array field, in memory or elsewhere. */
export interface Column {
  /** Bytes that it takes up in memory. */
  readonly byteLength: number;
  /**
   * All rows as one array, `rows * size` numbers, where they are in memory: they
   * are then read and written there, and neither `read` nor `write` is called.
   */
  readonly data?: FieldArray;
  /**
   * True where its rows outlive the process: a buffer's state leaves them out, and
   * a buffer that loads takes those that the column holds.
   *
   * @default false
   */
  readonly persistent?: boolean;
  /**
   * Writes rows that follow each other.
   *
   * @param row The first of them.
   * @param values Their numbers, one row after the other; copied.
   */
  write(row: number, values: ArrayLike<number>): void;
  /**
   * Reads one row.
   *
   * @param row Its number.
   * @param into An array of the column's dtype.
   * @param at Place of the row's first number in it.
   */
  read(row: number, into: FieldArray, at: number): void;
  /** Frees what it holds besides memory, such as files. */
  close?(): void;
}

/** Place of a buffer's rows: memory, or files that may be larger than memory. */
export interface Storage {
  /**
   * Makes room for the rows of one array field, all of them zeros.
   *
   * @param spec The field.
   * @param rows Number of rows.
   */
  allocate(spec: ColumnSpec, rows: number): Column;
  /**
   * Brings rows that outlive the process to the disk.
   *
   * @returns Plain data by which `load` finds them again.
   */
  save?(): StateTree;
  /**
   * Throws unless the rows of a save are all there, as they were.
   *
   * @param state What `save` returned, perhaps in another process.
   */
  check?(state: StateTree | undefined): void;
  /**
   * Takes over the rows of a save.
   *
   * @param state What `check` accepted.
   */
  load?(state: StateTree): void;
  /** Forgets all rows that outlive the process. */
  clear?(): void;
}
