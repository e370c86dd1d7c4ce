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
  /**
   * True to gather statistics in the cold updates too.
   *
   * @default false
   */
  readonly coldStatistics?: boolean;
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

/** Counts the updates that are cold, and those that the counting skips. */
function coldCounts(options: KfacScheduleOptions) {
  const { coldUpdates = 0, coldCounting = "documented" } = options;
  const calls = coldCounting === "original"
    ? Math.ceil(coldUpdates / 2)
    : coldUpdates;
  const skipped = coldCounting === "original" ? calls : 0;
  return { calls, start: coldUpdates - skipped };
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
  const { covUpdateEvery = 1, invertEvery = 10, coldStatistics } = options;
  const { calls, start } = coldCounts(options);
  const cold = update < calls, age = update - start;
  return {
    cold,
    covariance: coldStatistics
      ? update % covUpdateEvery === 0
      : !cold && (update - calls) % covUpdateEvery === 0,
    inverse: !cold && age > 0 && age % invertEvery === 0,
    age,
  };
}

/** Computes the parts of an update from its number in the state, 0 or 1. */
export function scheduleFlags(
  step: tf.Scalar,
  options: KfacScheduleOptions,
): { cold: tf.Scalar; covariance: tf.Scalar } {
  const { covUpdateEvery = 1, coldStatistics } = options;
  const { calls } = coldCounts(options);
  const cold = tf.cast(tf.less(step, calls), "float32");
  const since = tf.sub(step, coldStatistics ? 0 : calls);
  const due = covUpdateEvery === 1
    ? tf.onesLike(cold)
    : tf.cast(tf.equal(tf.mod(since, covUpdateEvery), 0), "float32");
  return {
    cold: cold as tf.Scalar,
    covariance:
      (coldStatistics ? due : tf.mul(due, tf.sub(1, cold))) as tf.Scalar,
  };
}
