import type { BoxArray, Space } from "./space.ts";

/**
 * The bound of one element.
 *
 * @param bound A bound of a box, its `low` or `high`.
 * @param i The element, row-major.
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
 * How many numbers a value of a leaf space has: 1 for a discrete one.
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

/**
 * An array of zeros of the type that a leaf space's values are held in.
 *
 * @param space Any space but a dict or a tuple.
 * @param length How many numbers.
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
  switch (space.type) {
    case "box":
      return new ARRAYS[space.dtype](length);
    case "multiBinary":
      return new Uint8Array(length);
    case "discrete":
    case "multiDiscrete":
      return new Int32Array(length);
    default:
      throw new TypeError(
        `Cannot hold values of a ${space.type} space in one array`,
      );
  }
}
