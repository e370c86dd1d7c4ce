import type { StepSchedule } from "./schedule.ts";

/** Options of {@linkcode piecewise}. */
export interface PiecewiseOptions {
  /**
   * Value before the first point and from the last point on; without it, asking
   * for such a step is an error.
   *
   * @default undefined
   */
  readonly outside?: number;
}

/**
 * Straight lines between points. Two points at one step are a jump: the later
 * one's value holds at that step. The last point's step lies outside already, as
 * in the original.
 *
 * Source: baselines/common/schedules.py, `PiecewiseSchedule`.
 *
 * @param points Steps and values `[step, value]`, by steps that never fall.
 * @param options What holds outside.
 * @returns The schedule by steps.
 * @throws {RangeError} If a step is below the one before, or, when it is called,
 * if a step lies outside and no value was given for that.
 * @example
 * ```ts
 * import { piecewise } from "@bellman/schedulers";
 * import { assertEquals, assertThrows } from "@std/assert";
 *
 * const points = [[0, 1], [10, 0.5], [30, 0.25]] as const;
 * const rate = piecewise(points, { outside: 0.25 });
 * assertEquals([0, 5, 10, 20, 99].map(rate), [1, 0.75, 0.5, 0.375, 0.25]);
 * assertThrows(() => piecewise(points)(99), RangeError, "step 99");
 *
 * const drop = piecewise([[0, 1], [10, 1], [10, 0.1], [20, 0.1]]);
 * assertEquals([9, 10].map(drop), [1, 0.1]);
 * ```
 */
export function piecewise(
  points: readonly (readonly [step: number, value: number])[],
  options: PiecewiseOptions = {},
): StepSchedule {
  for (let i = 1; i < points.length; i++) {
    if (points[i][0] >= points[i - 1][0]) continue;
    throw new RangeError(
      `Cannot put a point at step ${points[i][0]} after one at step ${
        points[i - 1][0]
      }: steps must not fall`,
    );
  }
  return (step) => {
    for (let i = 1; i < points.length; i++) {
      const [left, valueLeft] = points[i - 1];
      const [right, valueRight] = points[i];
      if (step < left || step >= right) continue;
      const share = (step - left) / (right - left);
      return valueLeft + share * (valueRight - valueLeft);
    }
    if (options.outside !== undefined) return options.outside;
    throw new RangeError(
      `Cannot tell the value at step ${step}: it lies outside of the points and no outside value was given`,
    );
  };
}
