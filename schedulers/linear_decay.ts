import type { StepSchedule } from "./schedule.ts";

/**
 * Changes evenly from one value to another and goes on at the same rate after
 * the last step: it is not clamped, as in the original. `linearDecay(1, 0, 1)` is
 * the `linear` of baselines, by progress; {@linkcode linear} stays at 0.
 *
 * Source: jrobine/actor-critic, linear decay.
 *
 * @param start Value at step 0.
 * @param end Value at the last step.
 * @param totalSteps The last step, above 0.
 * @returns The schedule by steps.
 * @throws {RangeError} If the number of steps is not above 0.
 * @example
 * ```ts
 * import { linearDecay } from "@bellman/schedulers";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals([0, 4, 8, 10].map(linearDecay(8, 0, 8)), [8, 4, 0, -2]);
 * ```
 */
export function linearDecay(
  start: number,
  end: number,
  totalSteps: number,
): StepSchedule {
  if (!(totalSteps > 0)) {
    throw new RangeError(
      `Cannot decay over ${totalSteps} steps: expected a number above 0`,
    );
  }
  return (step) => (start - end) * (1 - step / totalSteps) + end;
}
