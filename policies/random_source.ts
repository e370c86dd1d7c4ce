/**
 * Where random numbers come from, as far as this package needs it: the
 * `RandomStream` of `@bellman/compute` and the `SeededRandom` of
 * `@bellman/envs` both satisfy it.
 */
export interface RandomSource {
  /** Draws from the uniform distribution on [0, 1). */
  uniform(): number;
  /** Draws from the normal distribution with mean 0 and variance 1. */
  normal(): number;
}
