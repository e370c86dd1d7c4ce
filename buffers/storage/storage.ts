import type { FieldArray, FieldDtype } from "../fields.ts";

/** What a {@linkcode Column} is allocated for. */
export interface ColumnSpec {
  /** Path of the array field, such as `observation.camera`. */
  readonly name: string;
  /** Kind of its numbers. */
  readonly dtype: FieldDtype;
  /** Numbers of a row. */
  readonly size: number;
}

/** The rows of one array field, wherever they are kept. */
export interface Column {
  /** Bytes that it takes up in memory. */
  readonly byteLength: number;
  /**
   * All rows as one array, `rows * size` numbers, where they are in memory: they
   * are then read and written there, and neither `read` nor `write` is called.
   * Another array after `resize`.
   */
  readonly data?: FieldArray;
  /**
   * Whether its rows outlive the process: what a buffer saves leaves them out,
   * and what it loads takes those for its own that the column holds.
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
   * @param row Which.
   * @param into An array of the column's dtype.
   * @param at Where in it the row's numbers go.
   */
  read(row: number, into: FieldArray, at: number): void;
  /**
   * Makes room for more rows; those that it holds stay.
   *
   * @param rows Rows from now on.
   */
  resize(rows: number): void;
  /** Gives back what it holds besides memory, such as files. */
  close?(): void;
}

/** Where a buffer keeps its rows: in memory, or larger than memory in files. */
export interface Storage {
  /**
   * Makes room for the rows of one array field, all of them zeros.
   *
   * @param spec What a row is.
   * @param rows How many there are room for.
   */
  allocate(spec: ColumnSpec, rows: number): Column;
}
