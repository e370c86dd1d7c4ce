/**
 * Copies of rows from anywhere in an array to one after the other. Numbers are
 * moved as words of 4 bytes or as bytes, so that each loop sees one kind of
 * array, which the compiler needs to make it fast, and every bit is kept.
 */
import type { FieldArray } from "./fields.ts";

/** The memory of an array field. */
export type Units = Int32Array | Uint8Array;

/** Units of a row from which on a copy as a block is faster. */
const BLOCK_UNITS = 128;

/** Views the memory of an array. */
export function unitsOf(array: FieldArray): Units {
  if (array instanceof Uint8Array) return array;
  const { buffer, byteOffset, byteLength } = array;
  // A view of a whole piece of memory grows with it.
  if (byteLength === buffer.byteLength) return new Int32Array(buffer);
  return new Int32Array(buffer, byteOffset, byteLength / 4);
}

/**
 * Copies `rows[i]` of a source to row `i` of a target; negative rows are left
 * out.
 */
export function copyRows(
  source: Units,
  target: Units,
  rows: Int32Array,
  size: number,
): void {
  if (size >= BLOCK_UNITS) copyBlocks(source, target, rows, size);
  else if (source instanceof Uint8Array) {
    if (size === 1) copySingleBytes(source, target as Uint8Array, rows);
    else copyBytes(source, target as Uint8Array, rows, size);
  } else if (size === 1) copySingles(source, target as Int32Array, rows);
  else copyWords(source, target as Int32Array, rows, size);
}

function copyBlocks(
  source: Units,
  target: Units,
  rows: Int32Array,
  size: number,
): void {
  for (let i = 0; i < rows.length; i++) {
    const from = rows[i] * size;
    if (from >= 0) target.set(source.subarray(from, from + size), i * size);
  }
}

function copySingles(
  source: Int32Array,
  target: Int32Array,
  rows: Int32Array,
): void {
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i];
    if (row >= 0) target[i] = source[row];
  }
}

function copySingleBytes(
  source: Uint8Array,
  target: Uint8Array,
  rows: Int32Array,
): void {
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i];
    if (row >= 0) target[i] = source[row];
  }
}

function copyWords(
  source: Int32Array,
  target: Int32Array,
  rows: Int32Array,
  size: number,
): void {
  for (let i = 0; i < rows.length; i++) {
    let from = rows[i] * size;
    if (from < 0) continue;
    let to = i * size;
    const end = to + size;
    for (; to < end - 3; to += 4, from += 4) {
      const a = source[from], b = source[from + 1];
      const c = source[from + 2], d = source[from + 3];
      target[to] = a;
      target[to + 1] = b;
      target[to + 2] = c;
      target[to + 3] = d;
    }
    for (; to < end; to++, from++) target[to] = source[from];
  }
}

function copyBytes(
  source: Uint8Array,
  target: Uint8Array,
  rows: Int32Array,
  size: number,
): void {
  for (let i = 0; i < rows.length; i++) {
    const from = rows[i] * size;
    if (from < 0) continue;
    const to = i * size;
    for (let j = 0; j < size; j++) target[to + j] = source[from + j];
  }
}

/** Copies numbers of any kind: `count` from `from` on, to `to` and on. */
export function copyNumbers(
  values: ArrayLike<number>,
  target: FieldArray,
  { from, to, count }: { from: number; to: number; count: number },
): void {
  if (values.length === count) target.set(values, to);
  else if (count >= BLOCK_UNITS && ArrayBuffer.isView(values)) {
    target.set((values as FieldArray).subarray(from, from + count), to);
  } else {
    for (let i = 0; i < count; i++) target[to + i] = values[from + i];
  }
}

/** Takes numbers `start` to `end - 1`: a view of a typed array, or a copy. */
export function sliceNumbers(
  values: ArrayLike<number>,
  start: number,
  end: number,
): ArrayLike<number> {
  return ArrayBuffer.isView(values)
    ? (values as FieldArray).subarray(start, end)
    : Array.prototype.slice.call(values, start, end);
}
