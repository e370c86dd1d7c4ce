import type { FieldValues } from "./field.ts";

/**
 * A recorded episode.
 *
 * @example
 * ```ts
 * import type { Episode } from "@bellman/buffers";
 * import { assertEquals } from "@std/assert";
 *
 * const episode: Episode = {
 *   observations: { position: Float32Array.of(0, 1, 2) }, // One more than steps.
 *   actions: Int32Array.of(1, 1),
 *   rewards: [0, 1],
 *   terminations: [0, 1],
 *   truncations: [0, 0],
 * };
 * assertEquals(episode.rewards.length, 2);
 * ```
 */
export interface Episode {
  /**
   * What was observed before each step and after the last one,
   * `[steps + 1, ...shape]`; nested as the field is.
   */
  readonly observations: FieldValues;
  /** What was done in each step, `[steps, ...shape]`; nested as the field is. */
  readonly actions: FieldValues;
  /** The reward of each step. */
  readonly rewards: ArrayLike<number>;
  /** Above 0 where a step ended the episode for good. */
  readonly terminations: ArrayLike<number>;
  /** Above 0 where the episode was cut off after a step. */
  readonly truncations: ArrayLike<number>;
}
