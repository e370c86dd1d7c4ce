/** Returns of several steps, computed when rows are drawn. */
export interface NStepOptions {
  /** Most steps that a return covers; fewer at the end of an episode. */
  readonly steps: number;
  /** Discount of each step, from 0 to 1. */
  readonly gamma: number;
  /**
   * Field whose discounted sum is drawn: a single number for each row.
   *
   * @default "reward"
   */
  readonly reward?: string;
  /**
   * Name that `gamma^k` is drawn under, where `k` is the number of steps summed:
   * what the value of the next observation counts.
   *
   * @default "discount"
   */
  readonly discount?: string;
  /**
   * Names of values at the later steps of a return, all but its first, and the
   * field that holds them: drawn `[row, steps - 1, ...shape]`. Where a return
   * is shorter, its last step's values stand for those that are missing.
   *
   * @default {}
   */
  readonly between?: Readonly<Record<string, string>>;
  /**
   * Name that the discounts of those steps are drawn under, with `between`:
   * `gamma^i` of step `i`, and 0 past the end of a return.
   *
   * @default "betweenDiscount"
   */
  readonly betweenDiscount?: string;
}

/** How rows follow each other where they are the steps of episodes. */
export interface EpisodeOptions {
  /**
   * Field that is above 0 where a step ended its episode for good; a single
   * uint8 for each row.
   *
   * @default "terminated"
   */
  readonly terminated?: string;
  /**
   * Field that is above 0 where an episode was cut off after a step; a single
   * uint8 for each row.
   *
   * @default "truncated"
   */
  readonly truncated?: string;
  /**
   * Names of values after a step, and the field that holds them before it. They
   * are added and drawn like fields, but stored once: the value after a step is
   * the one before the environment's next step. Only where an episode ended, and
   * for the newest step, they are kept at the side.
   *
   * @default {}
   */
  readonly next?: Readonly<Record<string, string>>;
  /**
   * Array fields that are drawn as stacks, by path, with the frames of a stack.
   * A row holds one frame; drawn are the last frames of the episode up to it,
   * along the last axis, oldest first: `[h, w, c]` becomes `[h, w, frames * c]`.
   * What is next is stacked likewise.
   *
   * @default {}
   */
  readonly stack?: Readonly<Record<string, number>>;
  /**
   * What stands before an episode's first frame: that frame again, or zeros.
   *
   * @default "repeat"
   */
  readonly padding?: "repeat" | "zero";
  /** Returns of several steps; without it rows are single steps. */
  readonly nStep?: NStepOptions;
}
