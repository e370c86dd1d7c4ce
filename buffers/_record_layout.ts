import { bytesOf } from "./_arrays.ts";
import type { ColumnSpec } from "./storage.ts";

/** Where the columns lie in the record of a row. */
export interface RecordLayout {
  readonly columns: readonly ColumnSpec[];
  /** Byte in the record where each column's numbers begin. */
  readonly offsets: readonly number[];
  /** Bytes of a record. */
  readonly bytes: number;
}

/**
 * Lays all numbers of a row side by side, wide ones first: each then lies at a
 * multiple of its width, in every record of a file.
 */
export function layOut(columns: readonly ColumnSpec[]): RecordLayout {
  const widths = columns.map(({ dtype }) => bytesOf(dtype));
  const order = columns.map((_, i) => i)
    .sort((a, b) => widths[b] - widths[a] || a - b);
  const offsets: number[] = [];
  let at = 0;
  for (const i of order) {
    offsets[i] = at;
    at += columns[i].size * widths[i];
  }
  const widest = Math.max(1, ...widths);
  return { columns, offsets, bytes: Math.ceil(at / widest) * widest };
}
