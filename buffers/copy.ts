/** Copies of numbers of any kind, and views of their memory. */
import type { FieldArray } from "./fields.ts";

/** The memory of an array field. */
export type Units = Int32Array | Uint8Array;

/** Units of a row from which on a copy as a block is faster. */
export const BLOCK_UNITS = 128;

/** Views the memory of an array. */
export function unitsOf(array: FieldArray): Units {
  if (array instanceof Uint8Array) return array;
  const { buffer, byteOffset, byteLength } = array;
  // A view of a whole piece of memory grows with it.
  if (byteLength === buffer.byteLength) return new Int32Array(buffer);
  return new Int32Array(buffer, byteOffset, byteLength / 4);
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
