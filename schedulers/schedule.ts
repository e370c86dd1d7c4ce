/**
 * A multiplier for each fraction of progress.
 *
 * Progress runs from 0 at the start to 1 at the planned end and may go beyond;
 * a rate of learning is its first value times the multiplier.
 *
 * @example
 * ```ts
 * import type { Schedule } from "@bellman/schedulers";
 * import { assertEquals } from "@std/assert";
 *
 * const square: Schedule = (progress) => (1 - progress) ** 2;
 * assertEquals(square(0.5), 0.25);
 * ```
 */
export type Schedule = (progress: number) => number;

/**
 * A value for each step: a count of whatever is counted, from 0.
 *
 * @example
 * ```ts
 * import type { StepSchedule } from "@bellman/schedulers";
 * import { assertEquals } from "@std/assert";
 *
 * const halving: StepSchedule = (step) => 0.5 ** (step / 100);
 * assertEquals(halving(200), 0.25);
 * ```
 */
export type StepSchedule = (step: number) => number;
