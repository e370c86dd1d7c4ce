/**
 * The arrays that a {@linkcode PlainState} may hold.
 *
 * @example
 * ```ts
 * import type { StateArray } from "@bellman/buffers";
 * import { assertEquals } from "@std/assert";
 *
 * const rewards: StateArray = Float32Array.of(1, 2);
 * assertEquals(rewards.byteLength, 8);
 * ```
 */
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
 *
 * @example
 * ```ts
 * import type { PlainState } from "@bellman/buffers";
 * import { assertEquals } from "@std/assert";
 *
 * const state: PlainState = { length: 2, fields: { x: Int32Array.of(1, 2) } };
 * assertEquals(Object.keys(state), ["length", "fields"]);
 * ```
 */
export type PlainState =
  | null
  | boolean
  | number
  | string
  | StateArray
  | PlainState[]
  | { [name: string]: PlainState };
