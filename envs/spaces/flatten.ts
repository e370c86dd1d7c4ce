import type { BoxArray, BoxSpace, Space, SpaceValue } from "@bellman/types";
import { allocateArray, elementCount, mapSpaces } from "./arrays.ts";
import { box } from "./constructors.ts";

/**
 * Counts the numbers of a flattened value: one-hot for discrete values.
 *
 * @param space Space of the value.
 * @returns The count.
 * @example
 * ```ts
 * import { box, dict, discrete, flattenedSize } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const space = dict({ goal: discrete(3), position: box({ shape: [2] }) });
 * assertEquals(flattenedSize(space), 5);
 * ```
 */
export function flattenedSize(space: Space): number {
  switch (space.type) {
    case "discrete":
      return space.n;
    case "multiDiscrete":
      return space.nvec.reduce((sum, n) => sum + n, 0);
    case "dict":
    case "tuple":
      return Object.values(space.spaces as Space[])
        .reduce((sum, inner) => sum + flattenedSize(inner), 0);
    default:
      return elementCount(space);
  }
}

/** Place of a part in a flattened value. */
export interface FlattenedPart {
  /** Its names from the outside in, joined by dots; those of a tuple count from 0. */
  readonly name: string;
  /** Place of its first number. */
  readonly offset: number;
  /** Count of its numbers. */
  readonly size: number;
}

/**
 * Lists the parts of a flattened value, in their order.
 *
 * @param space Space of the value.
 * @returns The places of the innermost parts; one without a name if there are none.
 * @example
 * ```ts
 * import { box, discrete, flattenedParts, tuple } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(flattenedParts(tuple([discrete(3), box({ shape: [2] })])), [
 *   { name: "0", offset: 0, size: 3 },
 *   { name: "1", offset: 3, size: 2 },
 * ]);
 * ```
 */
export function flattenedParts(space: Space): FlattenedPart[] {
  let offset = 0;
  const partsOf = (space: Space, name: string): FlattenedPart[] => {
    if (space.type === "dict" || space.type === "tuple") {
      return Object.entries<Space>({ ...space.spaces }).flatMap(
        ([part, inner]) => partsOf(inner, name ? `${name}.${part}` : part),
      );
    }
    const size = flattenedSize(space);
    offset += size;
    return [{ name, offset: offset - size, size }];
  };
  return partsOf(space, "");
}

/**
 * Writes a flattened value into `target` from `at` on and returns its end;
 * allocates nothing.
 */
export function flattenInto(
  space: Space,
  value: SpaceValue,
  target: Float32Array,
  at: number,
): number {
  switch (space.type) {
    case "discrete":
      target.fill(0, at, at + space.n);
      target[at + (value as number) - (space.start ?? 0)] = 1;
      return at + space.n;
    case "multiDiscrete":
      for (let i = 0; i < space.nvec.length; i++) {
        target.fill(0, at, at + space.nvec[i]);
        target[at + (value as BoxArray)[i]] = 1;
        at += space.nvec[i];
      }
      return at;
    case "dict":
    case "tuple": {
      const spaces = space.spaces as Record<string, Space>;
      for (const key in spaces) {
        const part = (value as Record<string, SpaceValue>)[key];
        at = flattenInto(spaces[key], part, target, at);
      }
      return at;
    }
    default:
      target.set(value as BoxArray, at);
      return at + (value as BoxArray).length;
  }
}

/**
 * Turns a value into one vector: boxes row-major, discrete values one-hot, dicts
 * and tuples part by part.
 *
 * @param space Space of the value.
 * @param value Value of the space.
 * @returns The vector, `[flattenedSize(space)]`.
 * @example
 * ```ts
 * import { discrete, flatten } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(flatten(discrete(3), 1), Float32Array.of(0, 1, 0));
 * ```
 */
export function flatten(space: Space, value: SpaceValue): Float32Array {
  const target = new Float32Array(flattenedSize(space));
  flattenInto(space, value, target, 0);
  return target;
}

function unflattenFrom(
  space: Space,
  vector: Float32Array,
  offset: number,
): SpaceValue {
  const hot = (start: number, n: number): number =>
    vector.subarray(start, start + n).indexOf(1);
  switch (space.type) {
    case "discrete":
      return hot(offset, space.n) + (space.start ?? 0);
    case "multiDiscrete":
      return Int32Array.from(space.nvec, (n) => {
        offset += n;
        return hot(offset - n, n);
      });
    case "dict":
    case "tuple":
      return mapSpaces<SpaceValue>(space, (inner) => {
        const from = offset;
        offset += flattenedSize(inner);
        return unflattenFrom(inner, vector, from);
      });
    default: {
      const value = allocateArray(space, elementCount(space));
      value.set(vector.subarray(offset, offset + value.length));
      return value;
    }
  }
}

/**
 * Turns a vector that {@linkcode flatten} made back into the value.
 *
 * @param space Space of the value.
 * @param vector The vector, `[flattenedSize(space)]`.
 * @returns The value.
 * @throws {RangeError} If the vector has another length.
 * @example
 * ```ts
 * import { discrete, unflatten } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(unflatten(discrete(3), Float32Array.of(0, 0, 1)), 2);
 * ```
 */
export function unflatten(space: Space, vector: Float32Array): SpaceValue {
  const size = flattenedSize(space);
  if (vector.length !== size) {
    throw new RangeError(
      `Cannot unflatten ${vector.length} numbers: the space has ${size}`,
    );
  }
  return unflattenFrom(space, vector, 0);
}

function flatBounds(space: Space, end: "low" | "high"): number[] {
  if (space.type === "dict" || space.type === "tuple") {
    return Object.values<Space>({ ...space.spaces })
      .flatMap((inner) => flatBounds(inner, end));
  }
  const oneHot = end === "low" ? 0 : 1;
  const bound = space.type === "box" ? space[end] : oneHot;
  return typeof bound === "number"
    ? new Array(flattenedSize(space)).fill(bound)
    : [...bound];
}

/**
 * Makes the space of the vectors that {@linkcode flatten} makes.
 *
 * @param space Space of the value.
 * @returns A box of one axis.
 * @example
 * ```ts
 * import { discrete, flattenedSpace } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(flattenedSpace(discrete(3)).shape, [3]);
 * ```
 */
export function flattenedSpace(space: Space): BoxSpace {
  return box({
    low: flatBounds(space, "low"),
    high: flatBounds(space, "high"),
  });
}
