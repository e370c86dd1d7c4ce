import type { Episodes } from "./_episodes.ts";
import type { FieldArray } from "./field.ts";

/** How returns are summed. */
export interface Summing {
  readonly steps: number;
  readonly gamma: number;
  /** Rewards of all rows. */
  readonly rewards: FieldArray;
}

/** Where returns go. */
export interface Returns {
  /** The last row of each return. */
  readonly last: Int32Array;
  /** `sum_i gamma^i r_i` over the `k` rows of each return. */
  readonly sums: Float64Array;
  /** `gamma^k` of each return. */
  readonly discounts: Float64Array;
  /**
   * Rows `[return, steps - 1]` after the first of each return, the last one
   * again past its end; empty where nobody asks for them.
   */
  readonly between: Int32Array;
  /** `gamma^i` of those rows, and 0 past the end. */
  readonly betweenDiscounts: Float64Array;
}

/**
 * Sums the rewards of up to `steps` steps from each row on, up to the end of
 * the episode or the newest row.
 */
export function sumRewards(
  episodes: Episodes,
  slots: Int32Array,
  { steps, gamma, rewards }: Summing,
  { last, sums, discounts, between, betweenDiscounts }: Returns,
): void {
  const later = between.length / slots.length;
  const { terminated, truncated } = episodes;
  let ring = episodes.rings[0];
  for (let i = 0; i < slots.length; i++) {
    let slot = slots[i], sum = rewards[slot], discount = gamma;
    let at = i * later;
    if (slot < ring.base || slot >= ring.end) ring = episodes.ringOf(slot);
    for (let step = 1; step < steps; step++) {
      const ended = (terminated[slot] | truncated[slot]) !== 0;
      if (ended || ring.isNewest(slot)) break;
      slot = ring.after(slot);
      sum += discount * rewards[slot];
      if (later > 0) {
        between[at] = slot;
        betweenDiscounts[at++] = discount;
      }
      discount *= gamma;
    }
    for (const end = (i + 1) * later; at < end; at++) {
      between[at] = slot;
      betweenDiscounts[at] = 0;
    }
    last[i] = slot;
    sums[i] = sum;
    discounts[i] = discount;
  }
}
