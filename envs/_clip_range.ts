/**
 * The range that rewards are clipped to.
 *
 * @example
 * ```ts
 * import { ClipReward, make, type ClipRewardOptions } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const options: ClipRewardOptions = { low: -0.5, high: 0 };
 * const env = new ClipReward(make("Pendulum-v1"), options);
 * env.reset({ seed: 0 });
 * assertEquals(env.step(Float32Array.of(0)).reward >= -0.5, true);
 * ```
 */
export interface ClipRewardOptions {
  /**
   * Smallest reward.
   *
   * @default -1
   */
  low?: number;
  /**
   * Largest reward.
   *
   * @default 1
   */
  high?: number;
}

/** The range with its defaults; one that is upside down is refused. */
export function checkRange(
  { low = -1, high = 1 }: ClipRewardOptions,
): { low: number; high: number } {
  if (low <= high) return { low, high };
  throw new RangeError(
    `Cannot clip rewards from ${low} to ${high}: the lower end must not be above the upper`,
  );
}
