import type { StateArray, StateTree } from "@bellman/types";

/**
 * Whether a value is one of the typed arrays that a state may hold.
 *
 * @param value Anything.
 * @returns True for the five array types of {@link StateArray}.
 *
 * @example
 * ```ts
 * import { isTypedArray } from "@bellman/training";
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
 * Whether a node of a state is a record: neither a list, an array nor a plain
 * value.
 *
 * @param value A node of a state, or nothing.
 * @returns True for records.
 *
 * @example
 * ```ts
 * import { isStateRecord } from "@bellman/training";
 * import { assert, assertFalse } from "@std/assert";
 *
 * assert(isStateRecord({ step: 1 }));
 * assertFalse(isStateRecord([1]));
 * ```
 */
export function isStateRecord(
  value: StateTree | undefined,
): value is { [key: string]: StateTree } {
  return typeof value === "object" && value !== null &&
    !Array.isArray(value) && !isTypedArray(value);
}

/**
 * A deep copy of a state.
 *
 * @param tree The state to copy.
 * @returns A state that shares nothing with `tree`.
 *
 * @example
 * ```ts
 * import { copyStateTree } from "@bellman/training";
 * import { assertEquals, assertNotStrictEquals } from "@std/assert";
 *
 * const weights = new Float32Array([1, 2]);
 * const copy = copyStateTree({ weights });
 * assertEquals(copy, { weights });
 * assertNotStrictEquals((copy as { weights: Float32Array }).weights, weights);
 * ```
 */
export function copyStateTree(tree: StateTree): StateTree {
  if (isTypedArray(tree)) return tree.slice();
  if (Array.isArray(tree)) return tree.map(copyStateTree);
  if (isStateRecord(tree)) {
    return Object.fromEntries(
      Object.entries(tree).map(([key, value]) => [key, copyStateTree(value)]),
    );
  }
  return tree;
}
