import type { FieldValues } from "./field.ts";

/** A recorded episode. */
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
