import type { Trajectory } from "./trajectory.ts";

/** Whether an episode ended with a step, one way or the other. */
export function hasEnded(
  { terminated, truncated }: Trajectory,
  index: number,
): boolean {
  return Boolean(terminated[index]) || Boolean(truncated[index]);
}

/**
 * Value of what follows a step that ended its episode: nothing follows an end
 * state, but an episode that was cut short would have gone on.
 */
export function valueAfterEnd(
  { terminated, finalValues }: Trajectory,
  index: number,
): number {
  if (terminated[index]) return 0;
  if (finalValues !== undefined) return finalValues[index];
  throw new TypeError(
    `Cannot bootstrap from truncated step ${index}: finalValues is missing`,
  );
}
