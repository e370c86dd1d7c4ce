import { type Units, unitsOf } from "../copy.ts";
import { allocateRows, type FieldArray, type Leaf } from "../fields.ts";
import { MemoryStorage } from "../storage/memory_storage.ts";
import { FieldRows } from "./field_rows.ts";
import type { Ring } from "./ring.ts";

/** Copies of {@linkcode FinalValues}. */
export interface SavedFinals {
  /** Slots whose step ended an episode, older steps first. */
  readonly slots: Int32Array;
  /** Values after each of them, of each leaf. */
  readonly ended: readonly FieldArray[];
  /** Values after the latest step of each environment. */
  readonly newest: readonly FieldArray[];
}

/** Ended rows that there is room for at first. */
const FIRST_ROOM = 8;

/**
 * True next values that no row holds: those of the latest step, one for each
 * environment, and after them those of steps that ended an episode. As the
 * oldest rows go first, the latter are a queue: entry `n` lies at place
 * `n % room`, and a slot's entry is found by bisection. Every array is
 * `[numEnvs + room, ...shape]`.
 */
export class FinalValues {
  readonly #ring: Ring;
  /** The slot of each entry. */
  #slots: Int32Array;
  #rows: readonly FieldRows[];
  readonly #place = { from: 0, count: 0 };
  /** Entries that there is room for. */
  #room: number;
  /** Number of entries ever created. */
  #pushed = 0;
  /** Entries that were ever given up. */
  #popped = 0;

  constructor(leaves: readonly Leaf[], ring: Ring) {
    this.#ring = ring;
    this.#room = Math.min(FIRST_ROOM, ring.capacity);
    this.#slots = new Int32Array(this.#room);
    this.#rows = this.#allocate(leaves);
  }

  #allocate(leaves: readonly Leaf[]): FieldRows[] {
    const memory = new MemoryStorage(), rows = this.#ring.numEnvs + this.#room;
    return leaves.map((leaf) =>
      new FieldRows(leaf, memory.allocate(leaf, rows))
    );
  }

  /** Bytes that it takes up. */
  get byteLength(): number {
    return this.#rows.reduce(
      (sum, { column }) => sum + column.byteLength,
      this.#slots.byteLength,
    );
  }

  /** Returns all rows of a leaf as units, those of the latest step first. */
  units(index: number): Units {
    return this.#rows[index].units;
  }

  /** Keeps the values after the latest step, from a row of each array on. */
  setNewest(values: readonly ArrayLike<number>[], row: number): void {
    this.#write(0, values, row, this.#ring.numEnvs);
  }

  /** Makes an entry for a slot of a row of each array. */
  push(
    slot: number,
    values: readonly ArrayLike<number>[],
    row: number,
  ): void {
    this.#write(this.#append(slot), values, row, 1);
  }

  /** Makes an entry for a slot of the latest step, of what comes after it. */
  pushNewest(slot: number, env: number): void {
    const to = this.#append(slot);
    for (const { data, leaf: { size } } of this.#rows) {
      data!.copyWithin(to * size, env * size, (env + 1) * size);
    }
  }

  #write(
    to: number,
    values: readonly ArrayLike<number>[],
    from: number,
    count: number,
  ): void {
    this.#place.from = from;
    this.#place.count = count;
    for (const rows of this.#rows) {
      rows.write(to, values[rows.leaf.index], this.#place);
    }
  }

  /** Makes an entry for a slot, and returns the row of its values. */
  #append(slot: number): number {
    if (this.#pushed - this.#popped === this.#room) this.#grow();
    const place = this.#pushed++ % this.#room;
    this.#slots[place] = slot;
    return this.#ring.numEnvs + place;
  }

  /** Gives up the entries of slots that are about to be written. */
  evict(first: number, count: number): void {
    while (this.#popped < this.#pushed) {
      const slot = this.#slots[this.#popped % this.#room];
      if (slot < first || slot >= first + count) return;
      this.#popped++;
    }
  }

  /** Returns the row of the values after a slot's step, which ended an episode. */
  find(slot: number): number {
    const step = this.#ring.stepAge(slot);
    let low = this.#popped, high = this.#pushed;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (this.#ring.stepAge(this.#slots[middle % this.#room]) < step) {
        low = middle + 1;
      } else high = middle;
    }
    // Rows of a step are in any order.
    while (this.#slots[low % this.#room] !== slot) low++;
    return this.#ring.numEnvs + low % this.#room;
  }

  /** Gives up all entries. */
  clear(): void {
    this.#pushed = this.#popped = 0;
  }

  /** Makes room for twice as many entries. */
  #grow(): void {
    const saved = this.save();
    this.#room = Math.min(2 * this.#room, this.#ring.capacity);
    this.#slots = new Int32Array(this.#room);
    this.#rows = this.#allocate(this.#rows.map(({ leaf }) => leaf));
    this.#restore(saved);
  }

  /** Copies all entries, and the values after the latest step. */
  save(): SavedFinals {
    const { numEnvs } = this.#ring, count = this.#pushed - this.#popped;
    const places = Int32Array.from(
      { length: count },
      (_, n) => (this.#popped + n) % this.#room,
    );
    const ended = allocateRows(this.#rows.map(({ leaf }) => leaf), count);
    const rows = places.map((place) => numEnvs + place);
    this.#rows.forEach((it, i) => it.gather(rows, ended[i], unitsOf(ended[i])));
    return {
      slots: places.map((place) => this.#slots[place]),
      ended,
      newest: this.#rows.map((it) => it.slice(0, numEnvs, true)),
    };
  }

  /** Takes over copies. */
  load(saved: SavedFinals): void {
    while (this.#room < saved.slots.length) this.#grow();
    this.#restore(saved);
  }

  #restore({ slots, ended, newest }: SavedFinals): void {
    this.#popped = 0;
    this.#pushed = slots.length;
    this.#slots.set(slots);
    this.#rows.forEach(({ data }, i) => {
      data!.set(newest[i]);
      data!.set(ended[i], newest[i].length);
    });
  }
}
