import type { Field } from "./field.ts";
import type { NStepOptions } from "./episode_options.ts";

/** What an {@linkcode NStepAccumulator} makes of steps. */
export interface NStepAccumulatorOptions
  extends Omit<NStepOptions, "between" | "betweenDiscount"> {
  /** What a step is, by name; the names of flags are among them. */
  readonly fields: Readonly<Record<string, Field>>;
  /**
   * Streams that are added side by side.
   *
   * @default 1
   */
  readonly numEnvs?: number;
  /**
   * Fields that a row takes from the last step of its return, as what is next;
   * flags and the reward are not named. The others are those of the first step.
   *
   * @default []
   */
  readonly last?: readonly string[];
  /**
   * Field that is above 0 where a step ended its episode for good; a single
   * uint8.
   *
   * @default "terminated"
   */
  readonly terminated?: string;
  /**
   * Field that is above 0 where an episode was cut off after a step; a single
   * uint8.
   *
   * @default "truncated"
   */
  readonly truncated?: string;
}
