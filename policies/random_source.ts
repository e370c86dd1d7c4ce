/**
 * Where random numbers come from, as far as this package needs it: the
 * `RandomStream` of `@bellman/compute` and the `SeededRandom` of
 * `@bellman/envs` both satisfy it.
 *
 * @example
 * ```ts
 * import type { RandomSource } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * const halves: RandomSource = { uniform: () => 0.5, normal: () => 0 };
 * assertEquals(halves.uniform(), 0.5);
 * ```
 */
export interface RandomSource {
  /** Draws from the uniform distribution on [0, 1). */
  uniform(): number;
  /** Draws from the normal distribution with mean 0 and variance 1. */
  normal(): number;
}
