import {
  allocateArray,
  bytesOf,
  type FieldArray,
  type Leaf,
} from "../fields.ts";
import { copyNumbers, copyRows, type Units, unitsOf } from "../copy.ts";
import type { Column } from "../storage/storage.ts";

const NOTHING: Units = new Uint8Array(0);

/** The rows of one array field in a column of any storage. */
export class LeafRows {
  readonly leaf: Leaf;
  readonly column: Column;
  /** Units of a row. */
  readonly unitSize: number;
  /** All rows, where they are in memory. */
  #data: FieldArray | undefined;
  #units: Units = NOTHING;

  constructor(leaf: Leaf, column: Column) {
    const { dtype, size } = leaf;
    this.leaf = leaf;
    this.column = column;
    this.unitSize = dtype === "uint8" ? size : size * bytesOf(dtype) / 4;
    this.#refresh();
  }

  #refresh(): void {
    this.#data = this.column.data;
    if (this.#data === undefined) return;
    this.#units = unitsOf(this.#data);
  }

  /** All rows, where they are in memory. */
  get data(): FieldArray | undefined {
    return this.#data;
  }

  /** All rows as units; none where they are not in memory. */
  get units(): Units {
    return this.#units;
  }

  /** Makes room for more rows. */
  resize(rows: number): void {
    this.column.resize(rows);
    this.#refresh();
  }

  /** Writes `count` rows from `row` on; their values begin at row `from`. */
  write(
    row: number,
    values: ArrayLike<number>,
    { from, count }: { from: number; count: number },
  ): void {
    const { size } = this.leaf;
    if (this.#data === undefined) {
      this.column.write(row, part(values, from * size, count * size));
    } else if (values.length === count * size) {
      this.#data.set(values, row * size);
    } else {
      copyNumbers(values, this.#data, {
        from: from * size,
        to: row * size,
        count: count * size,
      });
    }
  }

  /** Copies rows to a target, `units` of which are the same memory; negative ones are left out. */
  gather(rows: Int32Array, target: FieldArray, units: Units): void {
    if (this.#data !== undefined) {
      copyRows(this.#units, units, rows, this.unitSize);
      return;
    }
    const { size } = this.leaf;
    for (let i = 0; i < rows.length; i++) {
      if (rows[i] >= 0) this.column.read(rows[i], target, i * size);
    }
  }

  /** Rows that follow each other: the storage's own memory, or a copy. */
  slice(first: number, count: number, copy: boolean): FieldArray {
    const { dtype, size } = this.leaf;
    const [start, end] = [first * size, (first + count) * size];
    if (this.#data !== undefined) {
      return copy
        ? this.#data.slice(start, end)
        : this.#data.subarray(start, end);
    }
    const array = allocateArray(dtype, count * size);
    for (let i = 0; i < count; i++) {
      this.column.read(first + i, array, i * size);
    }
    return array;
  }
}

function part(
  values: ArrayLike<number>,
  from: number,
  count: number,
): ArrayLike<number> {
  if (values.length === count) return values;
  if (ArrayBuffer.isView(values)) {
    return (values as FieldArray).subarray(from, from + count);
  }
  return Array.prototype.slice.call(values, from, from + count);
}
