/** What batches were drawn from, to tell whether it is still there. */
interface Snapshot {
  readonly slots: Int32Array;
  readonly generations: Uint8Array;
}

/**
 * Tells whether a row that was drawn has been replaced since then: each slot
 * counts, in one byte, how often it got a new row. (A row that was replaced a
 * multiple of 256 times passes for the same.)
 */
export class Generations {
  #generations = new Uint8Array(0);
  /** By the caller's array of slots that a batch was drawn into. */
  readonly #drawn = new WeakMap<object, Snapshot>();

  /** Makes room for slots. */
  resize(capacity: number): void {
    const generations = new Uint8Array(capacity);
    generations.set(this.#generations.subarray(0, capacity));
    this.#generations = generations;
  }

  /** Says that slots have new rows. */
  replace(first: number, count: number): void {
    const end = first + count;
    for (let slot = first; slot < end; slot++) this.#generations[slot]++;
  }

  /** Says that all slots may have new rows. */
  replaceAll(): void {
    this.replace(0, this.#generations.length);
  }

  /** Remembers the rows of a batch as long as its slots are in this array. */
  remember(slots: Int32Array): void {
    let snapshot = this.#drawn.get(slots);
    if (snapshot === undefined) {
      const generations = new Uint8Array(slots.length);
      snapshot = { slots: new Int32Array(slots.length), generations };
      this.#drawn.set(slots, snapshot);
    }
    snapshot.slots.set(slots);
    for (let i = 0; i < slots.length; i++) {
      snapshot.generations[i] = this.#generations[slots[i]];
    }
  }

  /**
   * What tells of each place in an array of slots whether its row was replaced
   * since it was drawn; rows of other arrays were not, as far as is known.
   */
  replaced(slots: ArrayLike<number>): (i: number) => boolean {
    const snapshot = this.#drawn.get(slots);
    if (snapshot === undefined) return () => false;
    const { slots: drawn, generations } = snapshot;
    return (i) =>
      drawn[i] === slots[i] && generations[i] !== this.#generations[slots[i]];
  }
}
