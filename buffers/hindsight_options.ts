import type { FieldArray } from "./field.ts";

/**
 * Which goals stand in for the ones that were pursued: one that was reached by
 * a random later step of the same episode, by its last step, by any of its
 * steps, or by any step of all.
 */
export type HindsightStrategy = "future" | "final" | "episode" | "random";

/**
 * Says something about a goal that was achieved, where another may have been
 * desired. The arrays are used again for the next row.
 */
export type GoalFunction<T extends number | boolean> = (
  achieved: FieldArray,
  desired: FieldArray,
) => T;

/** How {@linkcode Hindsight} relabels rows. */
export interface HindsightOptions {
  /** The reward of a step after which a goal was achieved. */
  readonly reward: GoalFunction<number>;
  /**
   * Whether such a step ends the episode for good.
   *
   * @default the rows keep their own flags
   */
  readonly terminated?: GoalFunction<boolean>;
  /**
   * Which goals stand in.
   *
   * @default "future"
   */
  readonly strategy?: HindsightStrategy;
  /**
   * Rows that get another goal, for each that keeps its own: a row is relabelled
   * with probability `k / (k + 1)`.
   *
   * @default 4
   */
  readonly k?: number;
  /**
   * Path of what a drawn row achieved with its step: an array field, or a next
   * value of one.
   *
   * @default "nextAchievedGoal"
   */
  readonly achieved?: string;
  /**
   * Paths of all that holds the desired goal in a drawn row.
   *
   * @default ["desiredGoal"]
   */
  readonly desired?: readonly string[];
  /**
   * Name of the reward in a drawn row: a single number.
   *
   * @default "reward"
   */
  readonly rewardField?: string;
}
