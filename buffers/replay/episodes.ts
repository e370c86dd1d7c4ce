import type { FieldArray } from "../fields.ts";
import type { FieldRows } from "./field_rows.ts";
import type { FinalValues } from "./final_values.ts";
import type { Ring } from "./ring.ts";

/** Instead of a row: zeros. */
export const ZEROS = -1;

/** Instead of a row: row `FINAL - row` of the final values. */
export const FINAL = -2;

/** Walks along the rows of one environment. */
export class Episodes {
  readonly ring: Ring;
  readonly #finals: FinalValues | undefined;
  readonly #terminated: FieldRows;
  readonly #truncated: FieldRows;

  constructor(
    ring: Ring,
    finals: FinalValues | undefined,
    { terminated, truncated }: {
      readonly terminated: FieldRows;
      readonly truncated: FieldRows;
    },
  ) {
    this.ring = ring;
    this.#finals = finals;
    this.#terminated = terminated;
    this.#truncated = truncated;
  }

  /** Above 0 for each row that ended its episode for good. */
  get terminated(): Uint8Array {
    return this.#terminated.units as Uint8Array;
  }

  /** Above 0 for each row after which its episode was cut off. */
  get truncated(): Uint8Array {
    return this.#truncated.units as Uint8Array;
  }

  /** True where a row ended its episode. */
  ended(slot: number): boolean {
    const { units } = this.#terminated;
    return (units[slot] | this.#truncated.units[slot]) !== 0;
  }

  /** Finds the row after each of some rows; there are final values. */
  findNext(slots: Int32Array, next: Int32Array): void {
    const { terminated, truncated } = this, finals = this.#finals!;
    const { newest, capacity, numEnvs } = this.ring;
    for (let i = 0; i < slots.length; i++) {
      const slot = slots[i];
      if ((terminated[slot] | truncated[slot]) !== 0) {
        next[i] = FINAL - finals.find(slot);
      } else if (slot >= newest && slot < newest + numEnvs) {
        next[i] = FINAL - (slot - newest);
      } else {
        const after = slot + numEnvs;
        next[i] = after < capacity ? after : after - capacity;
      }
    }
  }

  /** Counts the steps of a row's episode that are held after it, or before it. */
  countSteps(slot: number, isForward: boolean): number {
    const { terminated, truncated, ring } = this;
    const row = Math.floor(ring.rowOf(slot) / ring.numEnvs);
    const most = isForward ? ring.length / ring.numEnvs - 1 - row : row;
    let count = 0;
    for (; count < most; count++) {
      const other = isForward ? ring.after(slot) : ring.before(slot);
      const earlier = isForward ? slot : other;
      if ((terminated[earlier] | truncated[earlier]) !== 0) break;
      slot = other;
    }
    return count;
  }
}

/** Returns of several steps, for each row of a batch. */
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
 * the episode or the latest row.
 */
export function sumRewards(
  episodes: Episodes,
  slots: Int32Array,
  { steps, gamma, rewards }: {
    readonly steps: number;
    readonly gamma: number;
    /** Rewards of all rows. */
    readonly rewards: FieldArray;
  },
  { last, sums, discounts, between, betweenDiscounts }: Returns,
): void {
  const later = between.length / slots.length;
  const { terminated, truncated, ring } = episodes;
  for (let i = 0; i < slots.length; i++) {
    let slot = slots[i], sum = rewards[slot], discount = gamma;
    let at = i * later;
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
