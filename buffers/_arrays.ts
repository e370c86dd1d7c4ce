import type { FieldArray, FieldDtype } from "./field.ts";

/** Typed arrays of numbers by kind; fields take four of them. */
export const NUMBER_ARRAYS = {
  float32: Float32Array,
  float64: Float64Array,
  int8: Int8Array,
  int16: Int16Array,
  int32: Int32Array,
  uint8: Uint8Array,
  uint16: Uint16Array,
  uint32: Uint32Array,
} as const;

/** Bytes of a number. */
export function bytesOf(dtype: FieldDtype): number {
  return NUMBER_ARRAYS[dtype].BYTES_PER_ELEMENT;
}

/** An array of zeros. */
export function allocateArray(dtype: FieldDtype, length: number): FieldArray {
  return new NUMBER_ARRAYS[dtype](length);
}

/** A view of all of a piece of memory; it grows with it. */
export function viewBuffer(
  dtype: FieldDtype,
  buffer: ArrayBufferLike,
): FieldArray {
  return new NUMBER_ARRAYS[dtype](buffer as ArrayBuffer);
}

/** Whether values are an array of this kind. */
export function isArrayOf(
  dtype: FieldDtype,
  values: unknown,
): values is FieldArray {
  return values instanceof NUMBER_ARRAYS[dtype];
}

/** What kind an array is. */
export function dtypeOf(array: FieldArray): FieldDtype {
  const dtypes = Object.keys(NUMBER_ARRAYS) as FieldDtype[];
  return dtypes.find((dtype) => isArrayOf(dtype, array))!;
}
