/** The arrays that a {@linkcode PlainState} may hold. */
export type StateArray =
  | Float32Array
  | Float64Array
  | Int8Array
  | Int16Array
  | Int32Array
  | Uint8Array
  | Uint16Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array;

/**
 * What the `save()` of a buffer gives: plain values, typed arrays, and lists
 * and records of them.
 */
export type PlainState =
  | null
  | boolean
  | number
  | string
  | StateArray
  | PlainState[]
  | { [name: string]: PlainState };
