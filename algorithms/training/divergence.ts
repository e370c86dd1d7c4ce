import type { StateTree, Statistics } from "@bellman/types";
import { isStateRecord } from "./state_tree.ts";

/** What {@link TrainingDivergedError} tells. */
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

/** A path in a state, and the number there. */
interface Found {
  statistic: string;
  value: number;
}

/**
 * The first array of a checkpoint that holds a number which it must not.
 *
 * Arrays of the algorithm (parameters, optimizer, rollout or replay) and of the
 * loop are finite. Those of the vector environment (observations, running
 * statistics, returns) hold no NaN; an infinity may be a bound that has not been
 * reached yet. The own state of single environments, below `envs`, of callbacks
 * and of the caller is theirs: what comes of it is checked, or none of it is
 * learned from.
 */
export function divergedArray(
  { algorithm, loop, env }: Readonly<Record<string, StateTree>>,
): Found | undefined {
  return oddArray(algorithm, "", Number.isFinite) ??
    oddArray(loop, "loop", Number.isFinite) ??
    oddArray(env, "env", (it) => !Number.isNaN(it));
}

function oddArray(
  tree: StateTree | undefined,
  path: string,
  isFine: (value: number) => boolean,
): Found | undefined {
  if (tree instanceof Float32Array || tree instanceof Float64Array) {
    // Nearly all are finite, which one number shows.
    if (sumOfZeros(tree) === 0) return undefined;
    const value = tree.find((it) => !isFine(it));
    return value === undefined ? undefined : { statistic: path, value };
  }
  if (!Array.isArray(tree) && !isStateRecord(tree)) return undefined;
  for (const [key, node] of Object.entries(tree as StateTree[])) {
    if (key === "envs") continue;
    const found = oddArray(node, path === "" ? key : `${path}/${key}`, isFine);
    if (found) return found;
  }
}

function sumOfZeros(values: Float32Array | Float64Array): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i] * 0;
  return sum;
}
