import { ARRAYS } from "../fields.ts";
import type { ColumnSpec } from "./storage.ts";

/** Place of a column in the records of rows, in numbers of its own kind. */
export interface RecordColumn extends ColumnSpec {
  /** The number in a record that it begins with. */
  readonly start: number;
  /** Numbers from the start of one record to that of the next. */
  readonly stride: number;
}

/** Places of the columns in the record of a row. */
export interface RecordLayout {
  readonly columns: readonly RecordColumn[];
  /** Bytes of a record. */
  readonly bytes: number;
}

/**
 * Lays all numbers of a row side by side, wide ones first: each then lies at a
 * multiple of its width, in every record of a file.
 */
export function layOut(columns: readonly ColumnSpec[]): RecordLayout {
  const widths = columns.map(({ dtype }) => ARRAYS[dtype].BYTES_PER_ELEMENT);
  const order = columns.map((_, i) => i)
    .sort((a, b) => widths[b] - widths[a] || a - b);
  const starts: number[] = [];
  let at = 0;
  for (const i of order) {
    starts[i] = at / widths[i];
    at += columns[i].size * widths[i];
  }
  const widest = Math.max(1, ...widths);
  const bytes = Math.ceil(at / widest) * widest;
  return {
    columns: columns.map((column, i) => (
      { ...column, start: starts[i], stride: bytes / widths[i] }
    )),
    bytes,
  };
}
