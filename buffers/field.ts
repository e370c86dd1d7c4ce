/** Kinds of numbers that a field may hold. */
export type FieldDtype = "float32" | "float64" | "int32" | "uint8";

/** One array of numbers for each row. */
export interface ArrayField {
  /** Shape of a row's array; `[]` for a single number. */
  readonly shape: readonly number[];
  /**
   * Kind of its numbers. Integers are stored as they are given: others, and those
   * out of range, are refused.
   */
  readonly dtype: FieldDtype;
}

/** A field: an array, or fields by name or in a list. */
export type Field =
  | ArrayField
  | { readonly [name: string]: Field }
  | readonly Field[];

/** The arrays that fields are stored in. */
export type FieldArray = Float32Array | Float64Array | Int32Array | Uint8Array;

/** The numbers of a field, nested as the field is. */
export type FieldData =
  | FieldArray
  | { [name: string]: FieldData }
  | FieldData[];

/** Numbers to be stored, nested as the field is. */
export type FieldValues =
  | ArrayLike<number>
  | { readonly [name: string]: FieldValues }
  | readonly FieldValues[];
