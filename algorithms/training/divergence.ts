import type { Statistics } from "./algorithm.ts";
import { isStateRecord, isTypedArray, type StateTree } from "./state_tree.ts";

/**
 * What {@link TrainingDivergedError} tells.
 *
 * @example
 * ```ts
 * import { type Divergence, TrainingDivergedError } from "@bellman/training";
 * import { assertEquals } from "@std/assert";
 *
 * const divergence: Divergence = {
 *   statistic: "value_loss",
 *   value: Infinity,
 *   step: 80,
 *   updates: 1,
 * };
 * assertEquals(new TrainingDivergedError(divergence).step, 80);
 * ```
 */
export interface Divergence {
  /** Name of the statistic, or path of the parameter, that is not finite. */
  readonly statistic: string;
  /** Its value: NaN or an infinity. */
  readonly value: number;
  /** Environment steps taken. */
  readonly step: number;
  /** Updates made. */
  readonly updates: number;
  /** Path of the last good checkpoint. */
  readonly checkpoint?: string;
}

/**
 * Thrown by {@link train} when a loss, a gradient norm, an entropy or a
 * parameter is no longer finite. No checkpoint is written after that.
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
  /** Its value: NaN or an infinity. */
  readonly value: number;
  /** Environment steps taken. */
  readonly step: number;
  /** Updates made. */
  readonly updates: number;
  /** Path of the last good checkpoint. */
  readonly checkpoint?: string;

  /**
   * Makes the error with its message.
   *
   * @param divergence What became of which number, and when.
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

/**
 * Whether a statistic must stay finite: losses, gradient norms and entropies
 * (by what their name contains). Others may be NaN for good reasons, such as
 * `explained_variance` when all returns are equal, or `eprewmean` before the
 * first episode ends.
 *
 * @param name The statistic's name.
 * @returns Whether training stops when it is not finite.
 *
 * @example
 * ```ts
 * import { isGuardedStatistic } from "@bellman/training";
 * import { assert, assertFalse } from "@std/assert";
 *
 * assert(isGuardedStatistic("value_loss"));
 * assertFalse(isGuardedStatistic("explained_variance"));
 * ```
 */
export function isGuardedStatistic(name: string): boolean {
  return /loss|grad_norm|entropy/.test(name);
}

/** The first guarded statistic that is not finite. */
export function divergedStatistic(
  statistics: Statistics,
  guard: (name: string) => boolean,
): { statistic: string; value: number } | undefined {
  for (const statistic in statistics) {
    const value = statistics[statistic];
    if (!Number.isFinite(value) && guard(statistic)) {
      return { statistic, value };
    }
  }
}

/**
 * The first array below a record named `params` that holds a number that is
 * not finite.
 */
export function divergedParameter(
  tree: StateTree,
  path = "",
  inParams = false,
): { statistic: string; value: number } | undefined {
  if (isTypedArray(tree)) {
    const value = inParams ? firstNotFinite(tree) : undefined;
    return value === undefined ? undefined : { statistic: path, value };
  }
  if (!Array.isArray(tree) && !isStateRecord(tree)) return undefined;
  for (const [key, node] of Object.entries(tree as StateTree[])) {
    const found = divergedParameter(
      node,
      path === "" ? key : `${path}/${key}`,
      inParams || key === "params",
    );
    if (found) return found;
  }
}

function firstNotFinite(values: ArrayLike<number>): number | undefined {
  for (let i = 0; i < values.length; i++) {
    if (!Number.isFinite(values[i])) return values[i];
  }
}
