import { isDeepStrictEqual } from "node:util";

/**
 * Equality as std has it: node's, but 0 equals -0, and an object without a
 * prototype equals a plain one.
 */
export function equal(a: unknown, b: unknown): boolean {
  if (isDeepStrictEqual(a, b)) return true;
  return isDeepStrictEqual(plain(a, new Map()), plain(b, new Map()));
}

type Seen = Map<object, unknown>;

/** A copy in which what std does not tell apart is the same for node. */
function plain(value: unknown, seen: Seen): unknown {
  if (value === 0) return 0;
  if (typeof value !== "object" || value === null) return value;
  if (seen.has(value)) return seen.get(value);
  if (value instanceof Float32Array || value instanceof Float64Array) {
    return value.map((it) => it === 0 ? 0 : it);
  }
  if (Array.isArray(value)) return filled([], value, seen);
  const prototype = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) {
    return filled({}, value, seen);
  }
  return value instanceof Map ? plainMap(value, seen) : value;
}

function filled(copy: object, value: object, seen: Seen): object {
  seen.set(value, copy);
  if (Array.isArray(value)) Reflect.set(copy, "length", value.length);
  for (const key of Reflect.ownKeys(value)) {
    if (!Object.prototype.propertyIsEnumerable.call(value, key)) continue;
    Reflect.set(copy, key, plain(Reflect.get(value, key), seen));
  }
  return copy;
}

function plainMap(value: Map<unknown, unknown>, seen: Seen): unknown {
  const copy = new Map();
  seen.set(value, copy);
  for (const [key, it] of value) copy.set(plain(key, seen), plain(it, seen));
  return copy;
}
