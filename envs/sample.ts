import { boundIn } from "./_bound_in.ts";
import type {
  BoxArray,
  BoxSpace,
  RandomSource,
  Space,
  SpaceValue,
} from "@bellman/types";
import { allocateArray, elementCount } from "./space_arrays.ts";

/** One element of a box: flat, normal or one-sided exponential. */
function sampleElement(
  low: number,
  high: number,
  random: RandomSource,
): number {
  const bounded = [Number.isFinite(low), Number.isFinite(high)];
  if (bounded[0] && bounded[1]) return low + (high - low) * random.uniform();
  if (bounded[0]) return low - Math.log(1 - random.uniform());
  if (bounded[1]) return high + Math.log(1 - random.uniform());
  return random.normal();
}

function sampleBox(space: BoxSpace, random: RandomSource): BoxArray {
  const value = allocateArray(space, elementCount(space));
  const whole = space.dtype === "int32" || space.dtype === "uint8";
  for (let i = 0; i < value.length; i++) {
    const low = boundIn(space, "low", i), high = boundIn(space, "high", i);
    value[i] = whole
      ? Math.min(Math.floor(sampleElement(low, high + 1, random)), high)
      : sampleElement(low, high, random);
    // Rounding to float32 may step over a bound.
    value[i] = Math.min(Math.max(value[i], low), high);
  }
  return value;
}

/**
 * Draws a value of a space: flat where it is bounded, normal where it is not,
 * exponential where it is bounded on one side.
 *
 * @param space The space.
 * @param random Where the numbers come from.
 * @returns A new value.
 * @example
 * ```ts
 * import { box, contains, sample, SeededRandom } from "@bellman/envs";
 * import { assert } from "@std/assert";
 *
 * const space = box({ low: 0, shape: [3] });
 * assert(contains(space, sample(space, new SeededRandom(1))));
 * ```
 */
export function sample(space: Space, random: RandomSource): SpaceValue {
  switch (space.type) {
    case "discrete":
      return random.integer(space.n) + (space.start ?? 0);
    case "box":
      return sampleBox(space, random);
    case "multiDiscrete":
      return Int32Array.from(space.nvec, (n) => random.integer(n));
    case "multiBinary":
      return Uint8Array.from({ length: space.n }, () => random.integer(2));
    case "dict":
      return Object.fromEntries(
        Object.entries(space.spaces).map((
          [key, inner],
        ) => [key, sample(inner, random)]),
      );
    case "tuple":
      return space.spaces.map((inner) => sample(inner, random));
  }
}
