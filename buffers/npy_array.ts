/** Kinds of numbers of an {@linkcode NpyArray}, by numpy's names. */
export type NpyDtype =
  | "float32"
  | "float64"
  | "int8"
  | "int16"
  | "int32"
  | "int64"
  | "uint8"
  | "uint16"
  | "uint32"
  | "uint64"
  | "bool";

/** The numbers of an {@linkcode NpyArray}. */
export type NpyData =
  | Float32Array
  | Float64Array
  | Int8Array
  | Int16Array
  | Int32Array
  | Uint8Array
  | Uint16Array
  | Uint32Array;

/** An array as numpy has it. */
export interface NpyArray {
  /**
   * The numbers, row-major. Those of int64 and uint64, whole numbers up to 2^53,
   * are read as a Float64Array, those of bool as a Uint8Array of 0 and 1.
   */
  readonly data: NpyData;
  /** The length of each axis; `[]` for a single number. */
  readonly shape: readonly number[];
  /**
   * What the numbers are in the file: the kind of `data`, int64 or uint64 for
   * whole numbers, or bool.
   *
   * @default the kind of `data`
   */
  readonly dtype?: NpyDtype;
}
