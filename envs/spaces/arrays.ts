import type { BoxArray, DictSpace, Space, TupleSpace } from "@bellman/types";

/**
 * Returns the bound of one element of a box.
 *
 * @param bound Bound of the box, its `low` or `high`.
 * @param i Index of the element, row-major.
 * @returns The number.
 * @example
 * ```ts
 * import { boundAt } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(boundAt([1, 2], 1), 2);
 * assertEquals(boundAt(3, 1), 3);
 * ```
 */
export function boundAt(bound: number | readonly number[], i: number): number {
  return typeof bound === "number" ? bound : bound[i];
}

/**
 * Returns the bound of one element of a leaf space as its arrays hold numbers:
 * float32 has no 0.1, and the nearest number it has lies above, which must not
 * count as outside.
 */
export function boundIn(
  space: Space,
  end: "low" | "high",
  i: number,
): number {
  if (space.type === "box") {
    const bound = boundAt(space[end], i);
    return space.dtype === "float32" ? Math.fround(bound) : bound;
  }
  if (end === "low") return 0;
  return space.type === "multiDiscrete" ? space.nvec[i] - 1 : 1;
}

/**
 * Counts the numbers of a value of a leaf space: 1 for a discrete one.
 *
 * @param space Any space but a dict or a tuple.
 * @returns The count.
 * @throws {TypeError} If the space is a dict or a tuple.
 * @example
 * ```ts
 * import { box, elementCount } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(elementCount(box({ shape: [2, 3] })), 6);
 * ```
 */
export function elementCount(space: Space): number {
  switch (space.type) {
    case "discrete":
      return 1;
    case "box":
      return space.shape.reduce((product, length) => product * length, 1);
    case "multiDiscrete":
      return space.nvec.length;
    case "multiBinary":
      return space.n;
    default:
      throw new TypeError(
        `Cannot count the elements of a ${space.type} space: flatten it first`,
      );
  }
}

const ARRAYS = {
  float32: Float32Array,
  float64: Float64Array,
  int32: Int32Array,
  uint8: Uint8Array,
} as const;

function arrayOf(space: Space): typeof ARRAYS[keyof typeof ARRAYS] {
  switch (space.type) {
    case "box":
      return ARRAYS[space.dtype];
    case "multiBinary":
      return Uint8Array;
    case "discrete":
    case "multiDiscrete":
      return Int32Array;
    default:
      throw new TypeError(
        `Cannot hold values of a ${space.type} space in one array`,
      );
  }
}

/**
 * Makes an array of zeros of the type that holds a leaf space's values.
 *
 * @param space Any space but a dict or a tuple.
 * @param length Length of the array.
 * @returns The array.
 * @throws {TypeError} If the space is a dict or a tuple.
 * @example
 * ```ts
 * import { allocateArray, discrete } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(allocateArray(discrete(2), 3), new Int32Array(3));
 * ```
 */
export function allocateArray(space: Space, length: number): BoxArray {
  return new (arrayOf(space))(length);
}

/**
 * Finds out if a value is an array of the type and length of a leaf space's
 * values, whatever its numbers.
 *
 * @param space Any space but a dict or a tuple.
 * @param value Anything.
 * @returns True where it is such an array.
 * @example
 * ```ts
 * import { box, isArrayOf } from "@bellman/envs";
 * import { assert } from "@std/assert";
 *
 * assert(isArrayOf(box({ shape: [1] }), Float32Array.of(NaN)));
 * assert(!isArrayOf(box({ shape: [1] }), Float64Array.of(0)));
 * ```
 */
export function isArrayOf(space: Space, value: unknown): value is BoxArray {
  return value instanceof arrayOf(space) &&
    value.length === elementCount(space);
}

/** Finds out if all numbers are finite; a loop, as `every` would allocate. */
export function areFinite(numbers: BoxArray): boolean {
  for (let i = 0; i < numbers.length; i++) {
    if (!Number.isFinite(numbers[i])) return false;
  }
  return true;
}

/** Makes a record or a list with one part for each space inside another. */
export function mapSpaces<T>(
  { type, spaces }: DictSpace | TupleSpace,
  partOf: (space: Space, key: string) => T,
): { [key: string]: T } | T[] {
  const parts = Object.entries<Space>({ ...spaces })
    .map(([key, space]): [string, T] => [key, partOf(space, key)]);
  return type === "tuple"
    ? parts.map(([, part]) => part)
    : Object.fromEntries(parts);
}
