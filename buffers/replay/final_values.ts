import { type Units, unitsOf } from "../copy.ts";
import { allocateRows, type FieldArray, type Leaf } from "../fields.ts";
import { allocateMemory, MemoryColumn } from "../storage/memory_storage.ts";
import type { ColumnSpec } from "../storage/storage.ts";
import { FieldRows } from "./columns.ts";
import type { SharedReplay } from "./options.ts";
import type { Ring } from "./ring.ts";

/** Memory of {@linkcode FinalValues} that workers share. */
type SharedFinals = SharedReplay["finals"][number];

/** Copies of {@linkcode FinalValues}. */
export interface SavedFinals {
  /** Slots whose step ended an episode, older steps first. */
  readonly slots: Int32Array;
  /** Values after each of them, of each leaf. */
  readonly ended: readonly FieldArray[];
  /** Values after the newest step of each environment. */
  readonly newest: readonly FieldArray[];
}

/** Column of the slots of entries. */
const SLOT: ColumnSpec = { name: "slot", dtype: "int32", size: 1 };

/** Ended rows that there is room for at first. */
const FIRST_ROOM = 8;

/**
 * True next values that no row holds: those of the newest step, one for each
 * environment, and after them those of steps that ended an episode. As the
 * oldest rows go first, the latter are a queue: entry `n` lies at place
 * `n % room`, and a slot's entry is found by bisection. Every array is
 * `[numEnvs + room, ...shape]`.
 */
export class FinalValues {
  readonly #ring: Ring;
  readonly #slotColumn: MemoryColumn;
  /** The slot of each entry. */
  #slots: Int32Array;
  readonly #rows: readonly FieldRows[];
  readonly #place = { from: 0, count: 0 };
  /** Entries that there is room for. */
  room: number;
  /** Entries that were ever made. */
  pushed = 0;
  /** Entries that were ever given up. */
  popped = 0;

  constructor(
    leaves: readonly Leaf[],
    ring: Ring,
    shared: SharedFinals | boolean,
  ) {
    const { numEnvs, capacity } = ring;
    const memory = typeof shared === "object" ? shared : undefined;
    const room = Math.min(FIRST_ROOM, capacity);
    const allocate = (spec: ColumnSpec, newest: number) =>
      allocateMemory(spec, newest + room, {
        shared: shared !== false,
        maxRows: newest + capacity,
      });
    this.#ring = ring;
    this.room = room;
    this.#slotColumn = new MemoryColumn(
      SLOT,
      memory?.slots ?? allocate(SLOT, 0),
    );
    this.#slots = this.#slotColumn.data as Int32Array;
    this.#rows = leaves.map((leaf, i) => {
      const array = memory?.arrays[i] ?? allocate(leaf, numEnvs);
      return new FieldRows(leaf, new MemoryColumn(leaf, array));
    });
  }

  /** The memory that other workers read, if it is shared. */
  get memory(): SharedFinals {
    const memoryOf = ({ buffer }: FieldArray) => buffer as SharedArrayBuffer;
    return {
      slots: memoryOf(this.#slots),
      arrays: this.#rows.map(({ data }) => memoryOf(data!)),
    };
  }

  /** Bytes that it takes up. */
  get byteLength(): number {
    return this.#rows.reduce(
      (sum, { column }) => sum + column.byteLength,
      this.#slots.byteLength,
    );
  }

  /** True where no further entry fits in. */
  get full(): boolean {
    return this.pushed - this.popped === this.room;
  }

  /** Returns all rows of a leaf as units, those of the newest step first. */
  units(index: number): Units {
    return this.#rows[index].units;
  }

  /** Keeps the values after the newest step, from a row of each array on. */
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

  /** Keeps the values after one environment's newest step; needs room. */
  pushNewest(slot: number, env: number): void {
    const to = this.#append(slot);
    for (const { data, leaf: { size } } of this.#rows) {
      data!.copyWithin(to * size, env * size, (env + 1) * size);
    }
  }

  /** Makes an entry for a slot, and returns the row of its values. */
  #append(slot: number): number {
    const place = this.pushed++ % this.room;
    this.#slots[place] = slot;
    return this.#ring.numEnvs + place;
  }

  /** Gives up the entries of slots that are about to be written. */
  evict(first: number, count: number): void {
    while (this.popped < this.pushed) {
      const slot = this.#slots[this.popped % this.room];
      if (slot < first || slot >= first + count) return;
      this.popped++;
    }
  }

  /** Returns the row of the values after a slot's step; -1 if there is none. */
  find(slot: number): number {
    const step = this.#ring.stepAge(slot);
    let low = this.popped, high = this.pushed;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (this.#ring.stepAge(this.#slots[middle % this.room]) < step) {
        low = middle + 1;
      } else high = middle;
    }
    for (; low < this.pushed; low++) { // Rows of a step are in any order.
      const place = low % this.room, found = this.#slots[place];
      if (found === slot) return this.#ring.numEnvs + place;
      if (this.#ring.stepAge(found) !== step) break;
    }
    return -1;
  }

  /** Gives up all entries. */
  clear(): void {
    this.pushed = this.popped = 0;
  }

  /** Makes room for twice as many entries. */
  grow(): void {
    const saved = this.save(), { numEnvs, capacity } = this.#ring;
    this.room = Math.min(2 * this.room, capacity);
    this.#slotColumn.resize(this.room);
    this.#slots = this.#slotColumn.data as Int32Array;
    for (const rows of this.#rows) rows.resize(numEnvs + this.room);
    this.#restore(saved);
  }

  /** Copies all entries, and the values after the newest step. */
  save(): SavedFinals {
    const { numEnvs } = this.#ring, count = this.pushed - this.popped;
    const places = Int32Array.from(
      { length: count },
      (_, n) => (this.popped + n) % this.room,
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
    while (this.room < saved.slots.length) this.grow();
    this.#restore(saved);
  }

  #restore({ slots, ended, newest }: SavedFinals): void {
    this.popped = 0;
    this.pushed = slots.length;
    this.#slots.set(slots);
    this.#rows.forEach(({ data }, i) => {
      data!.set(newest[i]);
      data!.set(ended[i], newest[i].length);
    });
  }
}

/** Words of each ring. */
const TOTAL = 0;
const FIRST = 1;
const PUSHED = 2;
const POPPED = 3;
const ROOM = 4;
const VERSION = 5;

/** Bytes that each ring needs. */
export const SHARED_RING_BYTES = 6 * 8;

/**
 * Counters by which a writer tells readers of its ring, as atomic numbers.
 *
 * The writer first raises the number of the first step that may be drawn above
 * every step that it is about to overwrite, then writes rows, and last raises
 * the number of steps. A reader that sees a step counted sees its rows whole; it
 * reads rows, and then looks whether any of them was given up meanwhile. While
 * final values move to make room the version is odd, and then another.
 */
export class SharedRing {
  readonly #words: BigInt64Array;

  constructor(memory: SharedArrayBuffer, index: number) {
    const { BYTES_PER_ELEMENT } = BigInt64Array;
    this.#words = new BigInt64Array(
      memory,
      index * SHARED_RING_BYTES,
      SHARED_RING_BYTES / BYTES_PER_ELEMENT,
    );
  }

  #read(word: number): number {
    return Number(Atomics.load(this.#words, word));
  }

  #write(word: number, value: number): void {
    // An exchange: what is written after it is not seen before it.
    Atomics.exchange(this.#words, word, BigInt(value));
  }

  /** Raises the first step that is left, before rows are overwritten. */
  retire(firstStep: number): void {
    if (firstStep > this.#read(FIRST)) this.#write(FIRST, firstStep);
  }

  /** Raises the number of steps, after rows were written. */
  publish(ring: Ring, finals: FinalValues | undefined): void {
    if (finals !== undefined) {
      this.#write(POPPED, finals.popped);
      this.#write(PUSHED, finals.pushed);
      this.#write(ROOM, finals.room);
    }
    this.#write(TOTAL, ring.total);
  }

  /** Changes the version, before and after final values are moved. */
  changeVersion(): void {
    Atomics.add(this.#words, VERSION, 1n);
  }

  /** Brings a reader's, or a new writer's, ring up to date. */
  refresh(ring: Ring, finals: FinalValues | undefined): number {
    for (;;) {
      const version = this.#read(VERSION);
      const pushed = this.#read(PUSHED);
      const room = this.#read(ROOM);
      const total = this.#read(TOTAL);
      const popped = this.#read(POPPED);
      ring.setTotal(total, this.#read(FIRST));
      if (finals !== undefined && room > 0) {
        finals.pushed = Math.max(pushed, popped);
        finals.popped = popped;
        finals.room = room;
      }
      if (version % 2 === 0 && this.#read(VERSION) === version) return version;
    }
  }

  /** Tells whether all that was read since a version came from rows in place. */
  isVersion(version: number): boolean {
    return Number(Atomics.add(this.#words, VERSION, 0n)) === version;
  }

  /** The first step that may be drawn by now; after all reads before it. */
  get firstStep(): number {
    return Number(Atomics.add(this.#words, FIRST, 0n));
  }

  /** Starts anew at a ring's steps, while nobody writes or reads. */
  reset(ring: Ring, finals: FinalValues | undefined): void {
    this.#write(FIRST, ring.firstDrawable(ring.total));
    this.publish(ring, finals);
  }
}
