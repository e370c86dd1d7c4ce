import type { Episodes } from "./_episodes.ts";
import type { Ring } from "./_ring.ts";

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
