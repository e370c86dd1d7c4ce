import * as tf from "@tensorflow/tfjs";

/** Schedule of cold updates, statistics and inversions. */
export interface KfacScheduleOptions {
  /**
   * Updates between two updates of the factors; until the first inversion, each one
   * updates them.
   *
   * @default 1
   */
  readonly covUpdateEvery?: number;
  /**
   * Updates between two inversions; the first one is that long after the last cold
   * update.
   *
   * @default 10
   */
  readonly invertEvery?: number;
  /**
   * Initial updates by the cold optimizer.
   *
   * @default 0
   */
  readonly coldUpdates?: number;
  /**
   * - `documented`: each update counts once;
   * - `original`: each cold one counts twice, as in
   *   `ColdStartPeriodicInvUpdateKfacOpt`, so that half as many are cold.
   *
   * @default "documented"
   */
  readonly coldCounting?: "documented" | "original";
  /**
   * Steps before the first inversion: those of the cold optimizer, or none, as in the
   * original.
   *
   * @default "cold"
   */
  readonly untilInverse?: "cold" | "wait";
}

/** Parts of one update. */
export interface KfacScheduled {
  /** True if the cold optimizer takes the step. */
  readonly cold: boolean;
  /** True if the batch updates the factors. */
  readonly covariance: boolean;
  /** True if factors are inverted after the update. */
  readonly inverse: boolean;
}

/** Counts the initial updates without statistics, and the cold ones. */
function firstUpdates(options: KfacScheduleOptions) {
  const { coldUpdates = 0, invertEvery = 10 } = options;
  // The original counts each cold update twice.
  const isOriginal = options.coldCounting === "original";
  const counted = isOriginal ? Math.ceil(coldUpdates / 2) : coldUpdates;
  const skipped = isOriginal ? counted : 0;
  const inverted = coldUpdates - skipped + invertEvery;
  const cold = options.untilInverse === "wait" ? counted : inverted + 1;
  return { counted, skipped, inverted, cold };
}

/**
 * Lists the parts of an update.
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
  const { counted, skipped, cold } = firstUpdates(options);
  const age = update + skipped - coldUpdates, takes = update >= counted;
  return {
    cold: update < cold,
    covariance: takes &&
      (age <= invertEvery || (update - counted) % covUpdateEvery === 0),
    inverse: takes && age > 0 && age % invertEvery === 0,
  };
}

/** Computes the parts of an update from its number in the optimizer state, as booleans. */
export function scheduleFlags(
  step: tf.Tensor,
  options: KfacScheduleOptions,
): { cold: tf.Tensor; covariance: tf.Tensor } {
  const { covUpdateEvery = 1 } = options;
  const { counted, inverted, cold } = firstUpdates(options);
  const since = tf.sub(step, counted);
  const isDue = tf.equal(tf.mod(since, covUpdateEvery), 0);
  const takes = tf.logicalOr(isDue, tf.lessEqual(step, inverted));
  return {
    cold: tf.less(step, cold),
    covariance: tf.logicalAnd(takes, tf.greaterEqual(since, 0)),
  };
}
