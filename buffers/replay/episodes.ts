import type { LeafRows } from "./columns.ts";
import type { Ring } from "./ring.ts";
import type { SideValues } from "./final_values.ts";
import type { FieldArray } from "../fields.ts";

/** Instead of a row: zeros. */
export const ZEROS = -1;

/** Instead of a row: row `SIDE - row` at the side. */
export const SIDE = -2;

/** What ends episodes. */
export interface Flags {
  readonly terminated: LeafRows;
  readonly truncated: LeafRows;
}

/** Looks along the rows of one environment. */
export class Episodes {
  readonly rings: readonly Ring[];
  /** Of each ring; empty where nothing is kept at the side. */
  readonly sides: readonly SideValues[];
  /** Whether a value at the side was gone: a writer gave it up meanwhile. */
  missed = false;
  readonly #terminated: LeafRows;
  readonly #truncated: LeafRows;
  readonly #ringRows: number;

  constructor(
    rings: readonly Ring[],
    sides: readonly SideValues[],
    { terminated, truncated }: Flags,
  ) {
    this.rings = rings;
    this.sides = sides;
    this.#terminated = terminated;
    this.#truncated = truncated;
    this.#ringRows = rings[0].rows;
  }

  /** Which ring a slot belongs to. */
  ringIndex(slot: number): number {
    return this.rings.length === 1 ? 0 : Math.floor(slot / this.#ringRows);
  }

  /** The ring that a slot belongs to. */
  ringOf(slot: number): Ring {
    return this.rings[this.ringIndex(slot)];
  }

  /** Of each row, whether it ended its episode for good. */
  get terminated(): Uint8Array {
    return this.#terminated.units as Uint8Array;
  }

  /** Of each row, whether its episode was cut off after it. */
  get truncated(): Uint8Array {
    return this.#truncated.units as Uint8Array;
  }

  /** Finds what comes after each of some rows. */
  findNext(slots: Int32Array, next: Int32Array): void {
    const { terminated, truncated } = this;
    let ring = this.rings[0];
    let { base, end, rows, numEnvs } = ring;
    let newest = ring.lag === 0 ? ring.newest : -(2 ** 30);
    for (let i = 0; i < slots.length; i++) {
      const slot = slots[i];
      if (slot < base || slot >= end) {
        ring = this.ringOf(slot);
        ({ base, end, rows, numEnvs } = ring);
        newest = ring.lag === 0 ? ring.newest : -(2 ** 30);
      }
      if ((terminated[slot] | truncated[slot]) !== 0) {
        next[i] = this.#endedNext(slot);
      } else if (slot >= newest && slot < newest + numEnvs) {
        next[i] = SIDE - (slot - newest);
      } else {
        const after = slot + numEnvs;
        next[i] = after < end ? after : after - rows;
      }
    }
  }

  #endedNext(slot: number): number {
    const row = this.sides[this.ringIndex(slot)].find(slot);
    if (row >= 0) return SIDE - row;
    this.missed = true;
    return slot;
  }
}

/** Where the rows of an environment's episode are, seen from one of them. */
export class EpisodeSpan {
  readonly #ring: Ring;
  readonly #episodes: Episodes;

  constructor(ring: Ring, episodes: Episodes) {
    this.#ring = ring;
    this.#episodes = episodes;
  }

  /** Steps of the episode that are held from before a row's. */
  before(slot: number): number {
    const { terminated, truncated } = this.#episodes;
    const most = this.#stepOf(slot);
    let count = 0;
    for (; count < most; count++) {
      slot = this.#ring.before(slot);
      if ((terminated[slot] | truncated[slot]) !== 0) break;
    }
    return count;
  }

  /** Steps of the episode that are held from after a row's. */
  after(slot: number): number {
    const { terminated, truncated } = this.#episodes;
    const { length, numEnvs } = this.#ring;
    const most = length / numEnvs - 1 - this.#stepOf(slot);
    let count = 0;
    for (; count < most; count++) {
      if ((terminated[slot] | truncated[slot]) !== 0) break;
      slot = this.#ring.after(slot);
    }
    return count;
  }

  /** The slot of the same environment so many steps later, or earlier. */
  move(slot: number, steps: number): number {
    const { base, numEnvs, rows } = this.#ring;
    const to = (slot - base + steps * numEnvs) % rows;
    return base + (to < 0 ? to + rows : to);
  }

  /** The slot of a row that may be drawn; row 0 is the oldest. */
  slotAt(row: number): number {
    const { base, first, rows } = this.#ring;
    return base + (first + row) % rows;
  }

  /** How many steps that may be drawn are older than a row's. */
  #stepOf(slot: number): number {
    const { base, first, rows, numEnvs } = this.#ring;
    const from = slot - base - first;
    return Math.floor((from < 0 ? from + rows : from) / numEnvs);
  }
}

/** How returns are summed. */
interface Summing {
  readonly steps: number;
  readonly gamma: number;
  /** Rewards of all rows. */
  readonly rewards: FieldArray;
}

/** Where returns go. */
interface Returns {
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
