import * as tf from "@tensorflow/tfjs";

/** Times of cold updates, of statistics and of inversions. */
export interface KfacScheduleOptions {
  /**
   * Updates between two updates of the factors.
   *
   * @default 1
   */
  readonly covUpdateEvery?: number;
  /**
   * Updates between two inversions; the first comes as long after the last cold
   * update.
   *
   * @default 10
   */
  readonly invertEvery?: number;
  /**
   * True to invert some layers after each update; the first time all of them.
   *
   * @default false
   */
  readonly spreadInversion?: boolean;
  /**
   * Updates at first that the cold optimizer takes.
   *
   * @default 0
   */
  readonly coldUpdates?: number;
  /**
   * - `documented`: one count for each update;
   * - `original`: two for each cold one, as `ColdStartPeriodicInvUpdateKfacOpt`
   *   counts, so that half as many are cold.
   *
   * @default "documented"
   */
  readonly coldCounting?: "documented" | "original";
}

/** Parts of one update. */
export interface KfacScheduled {
  /** True where the cold optimizer takes the step. */
  readonly cold: boolean;
  /** True where the factors take in the batch. */
  readonly covariance: boolean;
  /** True where factors are inverted after the update. */
  readonly inverse: boolean;
  /** Updates since the cold ones. */
  readonly age: number;
}

/** Counts the updates that are cold. */
function coldCalls(options: KfacScheduleOptions): number {
  const { coldUpdates = 0, coldCounting } = options;
  return coldCounting === "original" ? Math.ceil(coldUpdates / 2) : coldUpdates;
}

/**
 * Tells what an update consists of.
 *
 * @param update Number of the update, from 0.
 * @param options The schedule.
 * @returns The parts of the update.
 *
 * @example
 * ```ts
 * import { kfacSchedule } from "@bellman/kfac";
 * import { assertEquals } from "@std/assert";
 *
 * const options = { coldUpdates: 1, invertEvery: 2 };
 * const inverse = [0, 1, 2, 3, 4, 5]
 *   .map((update) => kfacSchedule(update, options).inverse);
 * assertEquals(inverse, [false, false, false, true, false, true]);
 * ```
 */
export function kfacSchedule(
  update: number,
  options: KfacScheduleOptions = {},
): KfacScheduled {
  const { covUpdateEvery = 1, invertEvery = 10, coldUpdates = 0 } = options;
  const calls = coldCalls(options), cold = update < calls;
  // The original counts each cold update twice.
  const skipped = options.coldCounting === "original" ? calls : 0;
  const age = update + skipped - coldUpdates;
  return {
    cold,
    covariance: !cold && (update - calls) % covUpdateEvery === 0,
    inverse: !cold && age > 0 && age % invertEvery === 0,
    age,
  };
}

/** Computes the parts of an update from its number in the state, as booleans. */
export function scheduleFlags(
  step: tf.Tensor,
  options: KfacScheduleOptions,
): { cold: tf.Tensor; covariance: tf.Tensor } {
  const { covUpdateEvery = 1 } = options;
  const calls = coldCalls(options);
  const cold = tf.less(step, calls), warm = tf.logicalNot(cold);
  if (covUpdateEvery === 1) return { cold, covariance: warm };
  const isDue = tf.equal(tf.mod(tf.sub(step, calls), covUpdateEvery), 0);
  return { cold, covariance: tf.logicalAnd(isDue, warm) };
}
