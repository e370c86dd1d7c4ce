import type { StepSchedule } from "./schedule.ts";

/** Options of {@linkcode clampedLinear}. */
export interface ClampedLinearOptions {
  /** Step from which on the final value holds, above 0. */
  readonly numSteps: number;
  /** Value at the end. */
  readonly final: number;
  /**
   * Value at step 0.
   *
   * @default 1
   */
  readonly initial?: number;
}

/**
 * Changes evenly from one value to another and then stays there.
 *
 * Source: baselines/common/schedules.py, `LinearSchedule`.
 *
 * @param options Both values and the number of steps.
 * @returns The schedule by steps.
 * @throws {RangeError} If the number of steps is not above 0.
 * @example
 * ```ts
 * import { clampedLinear } from "@bellman/schedulers";
 * import { assertEquals } from "@std/assert";
 *
 * // Exploration from 1 to 0.5 in a hundred steps.
 * const exploration = clampedLinear({ numSteps: 100, final: 0.5 });
 * assertEquals([0, 50, 100, 1000].map(exploration), [1, 0.75, 0.5, 0.5]);
 * ```
 */
export function clampedLinear(options: ClampedLinearOptions): StepSchedule {
  const { numSteps, final, initial = 1 } = options;
  if (!(numSteps > 0)) {
    throw new RangeError(
      `Cannot change over ${numSteps} steps: expected a number above 0`,
    );
  }
  return (step) => initial + Math.min(step / numSteps, 1) * (final - initial);
}
