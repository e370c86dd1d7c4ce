import type { Space } from "@bellman/types";
import { boundAt, elementCount } from "./space_arrays.ts";

function sameNumbers(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((it, i) => it === b[i]);
}

function sameParts(
  a: Readonly<Record<string, Space>> | readonly Space[],
  b: Readonly<Record<string, Space>> | readonly Space[],
): boolean {
  const others = new Map(Object.entries<Space>({ ...b }));
  const parts = Object.entries<Space>({ ...a });
  return parts.length === others.size &&
    parts.every(([key, inner]) => {
      const other = others.get(key);
      return other !== undefined && spacesEqual(inner, other);
    });
}

/**
 * Whether two spaces have the same values. One bound for all elements equals a
 * list of that bound; the order of a dict's names does not matter.
 *
 * @param a A space.
 * @param b Another.
 * @returns Whether they are equal.
 * @example
 * ```ts
 * import { box, discrete, spacesEqual } from "@bellman/envs";
 * import { assert } from "@std/assert";
 *
 * assert(spacesEqual(box({ low: [0, 0] }), box({ low: 0, shape: [2] })));
 * assert(!spacesEqual(discrete(2), discrete(2, { start: 1 })));
 * ```
 */
export function spacesEqual(a: Space, b: Space): boolean {
  if (a.type === "discrete" && b.type === "discrete") {
    return a.n === b.n && (a.start ?? 0) === (b.start ?? 0);
  }
  if (a.type === "box" && b.type === "box") {
    if (a.dtype !== b.dtype || !sameNumbers(a.shape, b.shape)) return false;
    for (let i = 0; i < elementCount(a); i++) {
      if (boundAt(a.low, i) !== boundAt(b.low, i)) return false;
      if (boundAt(a.high, i) !== boundAt(b.high, i)) return false;
    }
    return true;
  }
  if (a.type === "multiDiscrete" && b.type === "multiDiscrete") {
    return sameNumbers(a.nvec, b.nvec);
  }
  if (a.type === "multiBinary" && b.type === "multiBinary") return a.n === b.n;
  if (a.type === "dict" && b.type === "dict") {
    return sameParts(a.spaces, b.spaces);
  }
  if (a.type === "tuple" && b.type === "tuple") {
    return sameParts(a.spaces, b.spaces);
  }
  return false;
}
