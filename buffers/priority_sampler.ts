import type { Sampler } from "./sampler.ts";

/** How rows are drawn by their priorities. */
export interface PrioritizationOptions {
  /**
   * How much priorities count: 0 draws every row as often, 1 in full.
   *
   * @default 0.6
   */
  readonly alpha?: number;
  /**
   * How much of the unevenness the importance weights make up for: 0 none, 1
   * all of it.
   *
   * @default 0.4
   */
  readonly beta?: number;
  /**
   * Whether a batch takes one row from each of as many parts of equal
   * probability, in their order, rather than all rows independently.
   *
   * @default true
   */
  readonly stratified?: boolean;
  /**
   * What the largest weight of is made 1: all rows that can be drawn, or those
   * of the batch.
   *
   * @default "buffer"
   */
  readonly weightsRelativeTo?: "buffer" | "batch";
}

/** A sampler that is told how much each row is worth drawing. */
export interface PrioritySampler extends Sampler {
  /** How much priorities count. */
  alpha: number;
  /** How much the importance weights make up for; each draw may have another. */
  beta: number;
  /** The largest priority so far, that new rows get; 1 at first. */
  readonly maxPriority: number;
  /**
   * Called with the number of slots before the first row and whenever there are
   * more.
   *
   * @param capacity Slots from now on.
   */
  resize(capacity: number): void;
  /**
   * Gives rows new priorities. Slots that cannot be drawn are passed over, and,
   * where `slots` is the very array that a batch was drawn into, those whose rows
   * were replaced since then.
   *
   * @param slots Slots; of one that comes twice the last priority stays.
   * @param priorities A number above 0 for each.
   * @throws {RangeError} If the lengths differ, there is no such slot, or a
   * priority is not finite and above 0; nothing is changed then.
   */
  updatePriorities(
    slots: ArrayLike<number>,
    priorities: ArrayLike<number>,
  ): void;
}
