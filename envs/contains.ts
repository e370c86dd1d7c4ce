import { boundIn } from "./_bound_in.ts";
import type { Space, SpaceValue } from "@bellman/types";
import { isArrayOf } from "./space_arrays.ts";

/**
 * Whether a value is one of a space: its type, its length, its bounds; NaN
 * never is.
 *
 * @param space The space.
 * @param value Anything.
 * @returns Whether it lies in the space.
 * @example
 * ```ts
 * import { box, contains } from "@bellman/envs";
 * import { assert } from "@std/assert";
 *
 * const space = box({ low: -1, high: 1, shape: [2] });
 * assert(contains(space, Float32Array.of(0.5, -1)));
 * assert(!contains(space, Float32Array.of(0.5, NaN)));
 * assert(!contains(space, [0.5, 0]));
 * ```
 */
export function contains(space: Space, value: unknown): value is SpaceValue {
  switch (space.type) {
    case "discrete": {
      const index = (value as number) - (space.start ?? 0);
      return typeof value === "number" && Number.isInteger(value) &&
        index >= 0 && index < space.n;
    }
    case "box":
      return isArrayOf(space, value) &&
        value.every((it, i) =>
          it >= boundIn(space, "low", i) && it <= boundIn(space, "high", i)
        );
    case "multiDiscrete":
      return isArrayOf(space, value) &&
        value.every((it, i) => it >= 0 && it < space.nvec[i]);
    case "multiBinary":
      return isArrayOf(space, value) &&
        value.every((it) => it === 0 || it === 1);
    case "dict": {
      if (typeof value !== "object" || value === null) return false;
      const entries = Object.entries(space.spaces);
      return Object.keys(value).length === entries.length &&
        entries.every(([key, inner]) =>
          contains(inner, (value as Record<string, unknown>)[key])
        );
    }
    case "tuple":
      return Array.isArray(value) && value.length === space.spaces.length &&
        space.spaces.every((inner, i) => contains(inner, value[i]));
  }
}
