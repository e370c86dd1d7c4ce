/** Details of a {@link TrainingDivergedError}. */
export interface Divergence {
  /** Name of the statistic, or path of the parameter, that is not finite. */
  readonly statistic: string;
  /** Value: NaN or an infinity. */
  readonly value: number;
  /** Environment steps taken. */
  readonly step: number;
  /** Number of updates. */
  readonly updates: number;
  /** Path of the last checkpoint with finite numbers. */
  readonly checkpoint?: string;
}

/**
 * Error of {@link train} for a loss, gradient norm, entropy or parameter that is no
 * longer finite. No checkpoint is written after that.
 *
 * @example
 * ```ts
 * import { TrainingDivergedError } from "@bellman/training";
 * import { assertEquals } from "@std/assert";
 *
 * const error = new TrainingDivergedError({
 *   statistic: "value_loss",
 *   value: NaN,
 *   step: 1280,
 *   updates: 16,
 * });
 * assertEquals(
 *   error.message,
 *   "value_loss became NaN at step 1,280 (update 16); no checkpoint had been written",
 * );
 * ```
 */
export class TrainingDivergedError extends Error implements Divergence {
  /** Name of the error class. */
  override readonly name = "TrainingDivergedError";
  /** Name of the statistic, or path of the parameter, that is not finite. */
  readonly statistic: string;
  /** Value: NaN or an infinity. */
  readonly value: number;
  /** Environment steps taken. */
  readonly step: number;
  /** Number of updates. */
  readonly updates: number;
  /** Path of the last checkpoint with finite numbers. */
  readonly checkpoint?: string;

  /**
   * Creates the error with its message.
   *
   * @param divergence Name and value of the number, and the step.
   */
  constructor(divergence: Divergence) {
    const { statistic, value, step, updates, checkpoint } = divergence;
    super(
      `${statistic} became ${value} at step ${step.toLocaleString("en-US")} ` +
        `(update ${updates.toLocaleString("en-US")}); ` +
        (checkpoint === undefined
          ? "no checkpoint had been written"
          : `the last good checkpoint is ${checkpoint}`),
    );
    this.statistic = statistic;
    this.value = value;
    this.step = step;
    this.updates = updates;
    this.checkpoint = checkpoint;
  }
}
