import type { LeafRows } from "./_leaf_rows.ts";
import type { Ring } from "./_ring.ts";
import type { SideValues } from "./_side_values.ts";

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
