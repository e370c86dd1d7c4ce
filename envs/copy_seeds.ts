import { deriveSeed } from "./random.ts";
import { checkSeed } from "./_check_seed.ts";

/**
 * The seed of each copy of a vector environment, from what `reset` was given: a
 * number gives copy `i` the seed `deriveSeed(seed, i)`, a list each copy its
 * own. So copies `first` to `first + n` of a larger whole can be hosted
 * elsewhere with the same numbers.
 *
 * @param seed The seed of all copies, or one for each.
 * @param numEnvs How many copies there are.
 * @returns One seed a copy.
 * @throws {RangeError} If a seed is not a whole number of at least 0, or the
 * list is of another length.
 * @example
 * ```ts
 * import { copySeeds, deriveSeed } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(copySeeds(7, 2), [deriveSeed(7, 0), deriveSeed(7, 1)]);
 * assertEquals(copySeeds([5, 3], 2), [5, 3]);
 * ```
 */
export function copySeeds(
  seed: number | readonly number[],
  numEnvs: number,
): readonly number[] {
  if (typeof seed === "number") {
    return Array.from({ length: numEnvs }, (_, i) => deriveSeed(seed, i));
  }
  if (seed.length !== numEnvs) {
    throw new RangeError(
      `Cannot seed ${numEnvs} copies with ${seed.length} seeds: expected one for each copy`,
    );
  }
  seed.forEach(checkSeed);
  return seed;
}
