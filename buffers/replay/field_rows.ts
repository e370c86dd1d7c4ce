import {
  copyNumbers,
  copyRows,
  sliceNumbers,
  type Units,
  unitsOf,
} from "../copy.ts";
import { ARRAYS, type FieldArray, type Leaf } from "../fields.ts";
import type { Column } from "../storage/storage.ts";

/** Rows of one array field in a column of any storage. */
export class FieldRows {
  readonly leaf: Leaf;
  readonly column: Column;
  /** Units of a row. */
  readonly unitSize: number;
  /** All rows, if they are in memory. */
  readonly data: FieldArray | undefined;
  /** All rows as units; none if they are not in memory. */
  readonly units: Units;

  constructor(leaf: Leaf, column: Column) {
    const { dtype, size } = leaf;
    this.leaf = leaf;
    this.column = column;
    this.unitSize = dtype === "uint8"
      ? size
      : size * ARRAYS[dtype].BYTES_PER_ELEMENT / 4;
    this.data = column.data;
    this.units = this.data ? unitsOf(this.data) : new Uint8Array(0);
  }

  /** Writes `count` rows from `row` on; their values begin at row `from`. */
  write(
    row: number,
    values: ArrayLike<number>,
    { from, count }: { from: number; count: number },
  ): void {
    const { size } = this.leaf;
    if (this.data === undefined) {
      const numbers = values.length === count * size
        ? values
        : sliceNumbers(values, from * size, (from + count) * size);
      this.column.write(row, numbers);
    } else if (values.length === count * size) {
      this.data.set(values, row * size);
    } else {
      copyNumbers(values, this.data, {
        from: from * size,
        to: row * size,
        count: count * size,
      });
    }
  }

  /** Copies rows to a target, `units` of which are the same memory; negative ones are left out. */
  gather(rows: Int32Array, target: FieldArray, units: Units): void {
    if (this.data !== undefined) {
      copyRows(this.units, units, rows, this.unitSize);
      return;
    }
    const { size } = this.leaf;
    for (let i = 0; i < rows.length; i++) {
      if (rows[i] >= 0) this.column.read(rows[i], target, i * size);
    }
  }

  /** Returns rows that follow each other: the storage's own memory, or a copy. */
  slice(first: number, count: number, copy: boolean): FieldArray {
    const { dtype, size } = this.leaf;
    if (this.data !== undefined) {
      const rows = this.data.subarray(first * size, (first + count) * size);
      return copy ? rows.slice() : rows;
    }
    const array = new ARRAYS[dtype](count * size);
    for (let i = 0; i < count; i++) {
      this.column.read(first + i, array, i * size);
    }
    return array;
  }
}
