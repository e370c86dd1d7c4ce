/**
 * One value, or one for each part of observations of a dict space, by the part's name.
 */
export type PerPart<T> = T | Readonly<Record<string, T>>;

/** True for numbers, arrays, tensors and their types, false for records of them. */
function isOne(value: unknown): boolean {
  return typeof value === "number" || ArrayBuffer.isView(value) ||
    Array.isArray(value) || Array.isArray((value as { shape: unknown }).shape);
}

/**
 * Applies a function to a value, or to that of each part.
 *
 * @param value Array, tensor, type or number, or a record of them by part.
 * @param change Function of one, and of the part's name, if there are parts.
 * @returns Its result, or a record of its results by part.
 *
 * @example
 * ```ts
 * import { mapParts } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * const sizes = { camera: Uint8Array.of(1, 2), joints: Float32Array.of(3) };
 * assertEquals(mapParts(sizes, (part) => part.length), { camera: 2, joints: 1 });
 * assertEquals(mapParts([1, 2, 3], (all) => all.length), 3);
 * ```
 */
export function mapParts<T, U>(
  value: PerPart<T>,
  change: (one: T, name?: string) => U,
): PerPart<U> {
  if (isOne(value)) return change(value as T);
  const parts = value as Readonly<Record<string, T>>;
  const changed: Record<string, U> = {};
  for (const name in parts) changed[name] = change(parts[name], name);
  return changed;
}

/**
 * Returns the value of a part.
 *
 * @param value The value, or those of all parts.
 * @param name Name of the part; undefined where there are none.
 *
 * @example
 * ```ts
 * import { partOf } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(partOf({ camera: 1, joints: 2 }, "joints"), 2);
 * assertEquals(partOf(3, undefined), 3);
 * ```
 */
export function partOf<T>(value: PerPart<T>, name: string | undefined): T {
  return name === undefined
    ? value as T
    : (value as Readonly<Record<string, T>>)[name];
}

/**
 * Names a value, or each of its parts: `observations`, or `observations.camera`.
 *
 * @param name Name of the whole.
 * @param value The value, or those of all parts.
 * @returns The values by name, for a record of others; see {@link partsNamed}.
 *
 * @example
 * ```ts
 * import { nameParts, partsNamed } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * const seen = { camera: 1, joints: 2 };
 * const named = nameParts("seen", seen);
 * assertEquals(named, { "seen.camera": 1, "seen.joints": 2 });
 * assertEquals(partsNamed("seen", named), seen);
 * ```
 */
export function nameParts<T>(
  name: string,
  value: PerPart<T>,
): Record<string, T> {
  const named: Record<string, T> = {};
  mapParts(value, (one, part) => {
    named[part === undefined ? name : `${name}.${part}`] = one;
  });
  return named;
}

/**
 * Returns a value by its name, or those of its parts: the inverse of
 * {@link nameParts}.
 *
 * @param name Name of the whole.
 * @param named Values by name, among others.
 * @returns The value, or those of all parts.
 *
 * @example
 * ```ts
 * import { partsNamed } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * const named = { "seen.camera": 1, "seen.joints": 2, reward: 3 };
 * assertEquals(partsNamed("seen", named), { camera: 1, joints: 2 });
 * ```
 */
export function partsNamed<T>(
  name: string,
  named: Readonly<Record<string, T>>,
): PerPart<T> {
  if (Object.hasOwn(named, name)) return named[name];
  const parts: Record<string, T> = {};
  for (const key in named) {
    if (key.startsWith(`${name}.`)) {
      parts[key.slice(name.length + 1)] = named[key];
    }
  }
  return parts;
}
