import type { FieldArray } from "../fields.ts";
import type { FieldRows } from "./columns.ts";
import type { FinalValues } from "./final_values.ts";
import type { Ring } from "./ring.ts";

/** Instead of a row: zeros. */
export const ZEROS = -1;

/** Instead of a row: row `FINAL - row` of the final values. */
export const FINAL = -2;

/** Walks along the rows of one environment. */
export class Episodes {
  readonly rings: readonly Ring[];
  /** True where a final value was gone, as a writer gave it up meanwhile. */
  missed = false;
  readonly #finals: readonly FinalValues[];
  readonly #terminated: FieldRows;
  readonly #truncated: FieldRows;
  readonly #ringRows: number;

  constructor(
    rings: readonly Ring[],
    finals: readonly FinalValues[],
    { terminated, truncated }: {
      readonly terminated: FieldRows;
      readonly truncated: FieldRows;
    },
  ) {
    this.rings = rings;
    this.#finals = finals;
    this.#terminated = terminated;
    this.#truncated = truncated;
    this.#ringRows = rings[0].capacity;
  }

  #ringIndex(slot: number): number {
    return this.rings.length === 1 ? 0 : Math.floor(slot / this.#ringRows);
  }

  /** Returns the ring that a slot belongs to. */
  ringOf(slot: number): Ring {
    return this.rings[this.#ringIndex(slot)];
  }

  /** Returns the final values of the ring that a slot belongs to. */
  finalsOf(slot: number): FinalValues {
    return this.#finals[this.#ringIndex(slot)];
  }

  /** Above 0 for each row that ended its episode for good. */
  get terminated(): Uint8Array {
    return this.#terminated.units as Uint8Array;
  }

  /** Above 0 for each row after which its episode was cut off. */
  get truncated(): Uint8Array {
    return this.#truncated.units as Uint8Array;
  }

  /** Tells whether a row ended its episode. */
  ended(slot: number): boolean {
    const { units } = this.#terminated;
    return (units[slot] | this.#truncated.units[slot]) !== 0;
  }

  /** Finds the row after each of some rows. */
  findNext(slots: Int32Array, next: Int32Array): void {
    const { terminated, truncated } = this;
    let ring = this.rings[0];
    let { base, end, capacity, numEnvs } = ring;
    let newest = ring.lag === 0 ? ring.newest : -(2 ** 30);
    for (let i = 0; i < slots.length; i++) {
      const slot = slots[i];
      if (slot < base || slot >= end) {
        ring = this.ringOf(slot);
        ({ base, end, capacity, numEnvs } = ring);
        newest = ring.lag === 0 ? ring.newest : -(2 ** 30);
      }
      if ((terminated[slot] | truncated[slot]) !== 0) {
        next[i] = this.#endedNext(slot);
      } else if (slot >= newest && slot < newest + numEnvs) {
        next[i] = FINAL - (slot - newest);
      } else {
        const after = slot + numEnvs;
        next[i] = after < end ? after : after - capacity;
      }
    }
  }

  #endedNext(slot: number): number {
    const row = this.finalsOf(slot).find(slot);
    if (row >= 0) return FINAL - row;
    this.missed = true;
    return slot;
  }

  /** Counts the steps of a row's episode that are held after it, or before it. */
  countSteps(slot: number, isForward: boolean): number {
    const { terminated, truncated } = this, ring = this.ringOf(slot);
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
 * the episode or the newest row.
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
