import type { StateArray, StateTree } from "@bellman/types";
import type { SafeTensor } from "./safetensors.ts";

/** Record within a saved state. */
export type StateRecord = { [key: string]: StateTree };

/**
 * Returns true for the typed arrays that a saved state may hold.
 *
 * @param value Any value.
 * @returns True for the five array types of {@link StateArray}.
 *
 * @example
 * ```ts
 * import { isTypedArray } from "@bellman/files";
 * import { assert, assertFalse } from "@std/assert";
 *
 * assert(isTypedArray(new Int32Array(2)));
 * assertFalse(isTypedArray([1, 2]));
 * ```
 */
export function isTypedArray(value: unknown): value is StateArray {
  return value instanceof Float32Array || value instanceof Float64Array ||
    value instanceof Int32Array || value instanceof Uint32Array ||
    value instanceof Uint8Array;
}

/**
 * Returns true for records of a saved state: not lists, typed arrays, plain values or
 * class instances.
 *
 * @param value Any value.
 * @returns True for records.
 *
 * @example
 * ```ts
 * import { isStateRecord } from "@bellman/files";
 * import { assert, assertFalse } from "@std/assert";
 *
 * assert(isStateRecord({ step: 1 }));
 * assertFalse(isStateRecord([1]));
 * ```
 */
export function isStateRecord(value: unknown): value is StateRecord {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/** Arrays by name, those in records too. */
export type NamedArrays = { readonly [name: string]: StateArray | NamedArrays };

/**
 * Copies arrays by name, as part of a saved state.
 *
 * @param arrays Arrays, possibly in shared memory.
 * @returns Copies outside shared memory.
 *
 * @example
 * ```ts
 * import { copyArrays } from "@bellman/files";
 * import { assertEquals } from "@std/assert";
 *
 * const weights = Float32Array.of(1, 2);
 * const state = copyArrays({ weights });
 * weights[0] = 3;
 * assertEquals(state, { weights: Float32Array.of(1, 2) });
 * ```
 */
export function copyArrays(arrays: NamedArrays): StateRecord {
  const entries = Object.entries(arrays);
  return Object.fromEntries(
    entries.map(([name, it]) =>
      [name, isTypedArray(it) ? it.slice() : copyArrays(it)] as const
    ),
  );
}

/**
 * Restores arrays from a result of {@link copyArrays}.
 *
 * @param arrays Arrays by name.
 * @param state Result of {@link copyArrays}; copied.
 * @throws {RangeError} If names or lengths differ; nothing is changed then.
 *
 * @example
 * ```ts
 * import { copyArrays, restoreArrays } from "@bellman/files";
 * import { assertEquals } from "@std/assert";
 *
 * const weights = new Float32Array(2);
 * restoreArrays({ weights }, copyArrays({ weights: Float32Array.of(1, 2) }));
 * assertEquals(weights, Float32Array.of(1, 2));
 * ```
 */
export function restoreArrays(
  arrays: NamedArrays,
  state: StateTree,
): void {
  const pairs = pairsOf(arrays, state);
  const [actual, expected] = [1, 0].map((i) =>
    pairs.map((pair) => pair[i]?.length ?? "no").join(", ")
  );
  if (actual !== expected) {
    throw new RangeError(
      `Cannot restore arrays of ${actual} numbers: expected ${expected}`,
    );
  }
  for (const [array, saved] of pairs) array.set(saved!);
}

/**
 * Restores a state of several parts; where one of them refuses, what was there before,
 * so that a wrong state changes nothing.
 *
 * @typeParam T The state.
 * @param state State to restore.
 * @param parts Functions that save and restore all parts, which are copied first.
 * @throws {unknown} What restoring throws.
 *
 * @example
 * ```ts
 * import { loadAtomically, restoreArrays } from "@bellman/files";
 * import { assertEquals, assertThrows } from "@std/assert";
 *
 * const count = new Int32Array(1), rates = new Float32Array(2);
 * const load = (count_: number[], rates_: number[]) =>
 *   loadAtomically([count_, rates_], {
 *     save: () => [[...count], [...rates]],
 *     load: ([count_, rates_]) => {
 *       restoreArrays({ count }, { count: Int32Array.from(count_) });
 *       restoreArrays({ rates }, { rates: Float32Array.from(rates_) });
 *     },
 *   });
 * assertThrows(() => load([3], [1, 2, 3]), RangeError);
 * assertEquals(count[0], 0);
 * ```
 */
export function loadAtomically<T>(
  state: T,
  { save, load }: { save: () => T; load: (state: T) => void },
): void {
  const before = save();
  try {
    load(state);
  } catch (error) {
    load(before);
    throw error;
  }
}

/** Pairs each array with the saved one of its name. */
function pairsOf(
  arrays: NamedArrays,
  state: StateTree | undefined,
): [StateArray, StateArray | undefined][] {
  return Object.entries(arrays).flatMap(([name, array]) => {
    const saved = isStateRecord(state) ? state[name] : undefined;
    return isTypedArray(array)
      ? [[array, isTypedArray(saved) ? saved : undefined]]
      : pairsOf(array, saved);
  });
}

/** JSON value. */
export type Json =
  | null
  | boolean
  | number
  | string
  | Json[]
  | { [key: string]: Json };

/** Saved state, split into JSON and arrays. */
export interface SplitState {
  /**
   * State with `{"$array": name}` in place of arrays, `{"$number": "NaN"}` of numbers
   * that JSON cannot represent, and `{"$record": [[key, value], …]}` of records with
   * keys that start with `$`.
   */
  readonly json: Json;
  /**
   * Arrays, named by their path. An array `data` next to its `shape` takes the name of
   * their record.
   */
  readonly tensors: Map<string, SafeTensor>;
}

/** Reserved names of arrays in a file. */
export const RESERVED_NAMES: readonly string[] = ["__metadata__", "sha256"];

const ODD_NUMBERS: Readonly<Record<string, number>> = {
  "NaN": NaN,
  "Infinity": Infinity,
  "-Infinity": -Infinity,
  "-0": -0,
};

/**
 * Splits a state; arrays are not copied. Throws a TypeError with the path of a value
 * that is not plain data.
 */
export function splitState(tree: StateTree): SplitState {
  const tensors = new Map<string, SafeTensor>();
  return { json: split(tree, [], tensors), tensors };
}

/** Joins a split state. Throws a SyntaxError with only the reason if the parts do not fit. */
export function joinState(
  json: Json,
  tensors: ReadonlyMap<string, SafeTensor>,
): StateTree {
  if (Array.isArray(json)) return json.map((item) => joinState(item, tensors));
  if (typeof json !== "object" || json === null) return json;
  const [key, ...others] = Object.keys(json);
  if (!key?.startsWith("$") || others.length > 0) {
    return mapRecord(json, (item) => joinState(item, tensors));
  }
  const value = json[key];
  if (key === "$array" && typeof value === "string" && tensors.has(value)) {
    return tensors.get(value)!.data;
  }
  if (
    key === "$number" && typeof value === "string" &&
    Object.hasOwn(ODD_NUMBERS, value)
  ) return ODD_NUMBERS[value];
  if (key === "$record" && Array.isArray(value)) {
    return mapRecord(
      Object.fromEntries(value as [string, Json][]),
      (item) => joinState(item, tensors),
    );
  }
  throw new SyntaxError(`${key} ${JSON.stringify(value)} has no meaning`);
}

function mapRecord<Value, Result>(
  record: { [key: string]: Value },
  map: (value: Value) => Result,
): { [key: string]: Result } {
  return Object.fromEntries(
    Object.entries(record).map(([key, value]) => [key, map(value)]),
  );
}

function split(
  node: StateTree,
  path: readonly string[],
  tensors: Map<string, SafeTensor>,
): Json {
  if (typeof node === "number") {
    if (Object.is(node, -0)) return { $number: "-0" };
    return Number.isFinite(node) ? node : { $number: String(node) };
  }
  if (
    node === null || typeof node === "boolean" || typeof node === "string"
  ) return node;
  if (isTypedArray(node)) return addArray(node, [node.length], path, tensors);
  if (Array.isArray(node)) {
    return node.map((item, i) => split(item, [...path, `${i}`], tensors));
  }
  if (!isStateRecord(node)) throw notPlain(node, path);
  const shape = shapeOf(node);
  const entries = Object.entries(node).map(([key, item]): [string, Json] => [
    key,
    shape && key === "data" && isTypedArray(item)
      ? addArray(item, shape, path, tensors)
      : split(item, [...path, key], tensors),
  ]);
  return entries.some(([key]) => key.startsWith("$"))
    ? { $record: entries }
    : Object.fromEntries(entries);
}

function addArray(
  data: StateArray,
  shape: readonly number[],
  path: readonly string[],
  tensors: Map<string, SafeTensor>,
): Json {
  const wanted = path.join("/") || "state";
  let name = wanted;
  // Two paths may have the same name, as keys may contain slashes.
  for (let n = 2; tensors.has(name) || RESERVED_NAMES.includes(name); n++) {
    name = `${wanted}#${n}`;
  }
  tensors.set(name, { data, shape });
  return { $array: name };
}

function shapeOf({ data, shape }: StateRecord): number[] | undefined {
  if (!isTypedArray(data) || !Array.isArray(shape)) return undefined;
  const isCount = (n: StateTree) => Number.isSafeInteger(n) && n as number >= 0;
  if (!shape.every(isCount)) return undefined;
  const lengths = shape as number[];
  const size = lengths.reduce((product, length) => product * length, 1);
  return size === data.length ? lengths : undefined;
}

function notPlain(node: unknown, path: readonly string[]): TypeError {
  const type = typeof node === "object"
    ? Object.getPrototypeOf(node).constructor?.name ?? "a class"
    : typeof node;
  const place = path.length === 0 ? "a state" : `'${path.join("/")}'`;
  return new TypeError(
    `Cannot save ${place} of type ${type}: expected plain values, typed arrays, lists and records`,
  );
}
