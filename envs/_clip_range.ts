/** The range that rewards are clipped to. */
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

/** Clips rewards to a range; one that is upside down is refused. */
export function clipTo(
  { low = -1, high = 1 }: ClipRewardOptions,
): (reward: number) => number {
  if (low <= high) {
    // What is no finite number stays, so that it is refused.
    return (reward) =>
      Number.isFinite(reward) ? Math.min(Math.max(reward, low), high) : reward;
  }
  throw new RangeError(
    `Cannot clip rewards from ${low} to ${high}: the lower end must not be above the upper`,
  );
}
