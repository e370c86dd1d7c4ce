import {
  describe,
  EnvDataError,
  type EnvDataFault,
  type EnvDataPlace,
  hasGaps,
  isThenable,
} from "./env_data_error.ts";
import type { Env, StateTree } from "@bellman/types";

/**
 * The entries of a snapshot that is a record, or one clear line.
 *
 * @param snapshot What should be a record.
 * @param keys The entries that it must have.
 * @returns The record.
 * @throws {TypeError} If it is none or lacks an entry.
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

/** Arrays that a snapshot may hold; classes of them would lose their class. */
const ARRAYS: readonly unknown[] = [
  Float32Array.prototype,
  Float64Array.prototype,
  Int32Array.prototype,
  Uint32Array.prototype,
  Uint8Array.prototype,
];

/** Most lists and records inside of each other: deeper ones hold themselves. */
const DEPTH = 100;

/**
 * The fault of a snapshot that is not plain data. Saving would lose the content
 * of a `Map`, a `Set`, a `Date`, and the class of anything else.
 */
export function snapshotFault(
  value: unknown,
  path = "",
  depth = 0,
): EnvDataFault | undefined {
  switch (typeof value) {
    case "number":
    case "string":
    case "boolean":
      return undefined;
    case "object":
      if (value === null) return undefined;
  }
  if (ArrayBuffer.isView(value)) {
    if (ARRAYS.includes(Object.getPrototypeOf(value))) return undefined;
  } else if (isNest(value) && depth < DEPTH) {
    for (const [key, inner] of Object.entries(value)) {
      const within = Array.isArray(value) ? `[${key}]` : `.${key}`;
      const fault = snapshotFault(inner, path + within, depth + 1);
      if (fault) return fault;
    }
    return undefined;
  }
  return {
    field: path === "" ? "the snapshot" : `snapshot${path}`,
    got: depth < DEPTH ? describe(value) : "nested too deeply, or in itself",
    wanted:
      "null, a boolean, number, text, typed array of 32 or 64 bits or bytes, or a list or plain record of these",
  };
}

/** True for a plain list without gaps and for a plain record. */
function isNest(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  if (Array.isArray(value)) {
    return prototype === Array.prototype && !hasGaps(value);
  }
  return prototype === null || prototype === Object.prototype;
}

/** Restores an environment; one that does so later, in a promise, is refused. */
export function restoreNow(
  env: Env,
  state: StateTree,
  place: EnvDataPlace,
): void {
  const result: unknown = env.load(state);
  if (!isThenable(result)) return;
  const wanted = "nothing: load must not be async";
  const fault = { field: "the result of load", got: "a promise", wanted };
  throw new EnvDataError(fault, place);
}
