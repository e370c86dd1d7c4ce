import type { FieldArray, FieldDtype } from "./field.ts";

const CONSTRUCTORS = {
  float32: Float32Array,
  float64: Float64Array,
  int32: Int32Array,
  uint8: Uint8Array,
} as const;

/** Bytes of a number. */
export function bytesOf(dtype: FieldDtype): number {
  return CONSTRUCTORS[dtype].BYTES_PER_ELEMENT;
}

/** An array of zeros. */
export function allocateArray(dtype: FieldDtype, length: number): FieldArray {
  return new CONSTRUCTORS[dtype](length);
}

/** A view of all of a piece of memory; it grows with it. */
export function viewBuffer(
  dtype: FieldDtype,
  buffer: ArrayBufferLike,
): FieldArray {
  return new CONSTRUCTORS[dtype](buffer as ArrayBuffer);
}

/** Whether values are an array of this kind. */
export function isArrayOf(
  dtype: FieldDtype,
  values: unknown,
): values is FieldArray {
  return values instanceof CONSTRUCTORS[dtype];
}

/** What kind an array is. */
export function dtypeOf(array: FieldArray): FieldDtype {
  const dtypes = Object.keys(CONSTRUCTORS) as FieldDtype[];
  return dtypes.find((dtype) => isArrayOf(dtype, array))!;
}
