import type { BoxArray, Env, StateTree, VecEnv } from "@bellman/types";
import {
  EnvDataError,
  type EnvDataFault,
  type EnvDataPlace,
  faultOf,
  hasGaps,
  isThenable,
} from "./env_data_error.ts";

/**
 * Checks that a snapshot is a record with the entries that it must have.
 *
 * @param snapshot Snapshot to check.
 * @param keys Names of the entries.
 * @returns The record.
 * @throws {TypeError} If it is no record or lacks an entry.
 * @example
 * ```ts
 * import { snapshotRecord } from "@bellman/envs";
 * import { assertEquals, assertThrows } from "@std/assert";
 *
 * assertEquals(snapshotRecord({ steps: 3 }, ["steps"]).steps, 3);
 * assertThrows(() => snapshotRecord(null, ["steps"]), TypeError, "'steps'");
 * ```
 */
export function snapshotRecord(
  snapshot: StateTree,
  keys: readonly string[],
): Record<string, StateTree> {
  const isRecord = typeof snapshot === "object" && snapshot !== null &&
    !Array.isArray(snapshot) && !ArrayBuffer.isView(snapshot);
  for (const key of keys) {
    if (isRecord && Object.hasOwn(snapshot, key)) continue;
    throw new TypeError(
      `Cannot restore an environment: its snapshot has no '${key}'`,
    );
  }
  return snapshot as Record<string, StateTree>;
}

/** Returns the error of a snapshot's entry that an environment cannot have. */
export function wrongEntry(
  name: string,
  [entry, value]: readonly [entry: string, value: unknown],
  expected: string,
): TypeError {
  const { got } = faultOf(entry, value, expected);
  return new TypeError(
    `Cannot restore ${name} from a snapshot with ${entry} ${got}: expected ${expected}`,
  );
}

/**
 * Returns an array of a snapshot, which must be of the same type and length as
 * another.
 *
 * @throws {TypeError} If it is not.
 */
export function savedArray<T extends BoxArray>(
  name: string,
  [entry, value]: readonly [entry: string, value: StateTree],
  like: T,
): T {
  const isLike = ArrayBuffer.isView(value) && value.length === like.length &&
    value.constructor === like.constructor;
  if (isLike) return value as T;
  throw wrongEntry(name, [entry, value], faultOf("", like, "").got);
}

/** Arrays that a snapshot may hold; subclasses would lose their class. */
const ARRAYS = [
  Float32Array,
  Float64Array,
  Int32Array,
  Uint32Array,
  Uint8Array,
].map((it): unknown => it.prototype);

/** Most lists and records inside each other: deeper ones hold themselves. */
const DEPTH = 100;

const PLAIN =
  "null, a boolean, number, text, typed array of 32 or 64 bits or bytes, or a list or plain record of these";

/**
 * Finds the fault of a snapshot that is not plain data. Saving would lose the
 * content of a `Map`, a `Set`, a `Date`, and the class of anything else.
 */
export function snapshotFault(
  value: unknown,
  path = "",
  depth = 0,
): EnvDataFault | undefined {
  const type = typeof value;
  if (type === "number" || type === "string" || type === "boolean") return;
  if (value === null) return;
  if (ArrayBuffer.isView(value)) {
    if (ARRAYS.includes(Object.getPrototypeOf(value))) return undefined;
  } else if (isNest(value) && depth < DEPTH) {
    for (const [key, inner] of Object.entries(value)) {
      const within = Array.isArray(value) ? `[${key}]` : `.${key}`;
      const fault = snapshotFault(inner, path + within, depth + 1);
      if (fault) return fault;
    }
    return;
  }
  const field = path === "" ? "the snapshot" : `snapshot${path}`;
  return depth < DEPTH
    ? faultOf(field, value, PLAIN)
    : { field, got: "nested too deeply, or in itself", wanted: PLAIN };
}

/** Finds out if a value is a plain list without gaps, or a plain record. */
function isNest(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  if (Array.isArray(value)) {
    return prototype === Array.prototype && !hasGaps(value);
  }
  return prototype === null || prototype === Object.prototype;
}

/** Restores an environment; refuses one that does so later, in a promise. */
export function restoreNow(
  env: Env | VecEnv,
  state: StateTree,
  place: EnvDataPlace,
): void {
  const result: unknown = env.load(state);
  if (!isThenable(result)) return;
  const wanted = "nothing: load must not be async";
  throw new EnvDataError(
    faultOf("the result of load", result, wanted),
    place,
  );
}
