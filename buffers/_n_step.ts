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
}

/**
 * Sums the rewards of up to `steps` steps from each row on, up to the end of
 * the episode or the newest row.
 */
export function sumRewards(
  episodes: Episodes,
  slots: Int32Array,
  { steps, gamma, rewards }: Summing,
  { last, sums, discounts }: Returns,
): void {
  const { terminated, truncated } = episodes;
  let ring = episodes.rings[0];
  for (let i = 0; i < slots.length; i++) {
    let slot = slots[i], sum = rewards[slot], discount = gamma;
    if (slot < ring.base || slot >= ring.end) ring = episodes.ringOf(slot);
    for (let step = 1; step < steps; step++) {
      const ended = (terminated[slot] | truncated[slot]) !== 0;
      if (ended || ring.isNewest(slot)) break;
      slot = ring.after(slot);
      sum += discount * rewards[slot];
      discount *= gamma;
    }
    last[i] = slot;
    sums[i] = sum;
    discounts[i] = discount;
  }
}
