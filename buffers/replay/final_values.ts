import {
  allocateArray,
  bytesOf,
  type FieldArray,
  type Leaf,
  viewBuffer,
} from "../fields.ts";
import { copyNumbers, type Units, unitsOf } from "../copy.ts";
import type { Ring } from "./ring.ts";

/** Memory that side values are in, to be seen by other workers. */
export interface SharedSide {
  readonly slots: SharedArrayBuffer;
  readonly arrays: readonly SharedArrayBuffer[];
}

/** Ended rows that there is room for at first. */
const FIRST_ROOM = 8;

/**
 * True next values that no row holds: those of the newest step, one for each
 * environment, and after them those of steps that ended an episode. As the
 * oldest rows go first, the latter are a queue: entry `n` lies at place
 * `n % room`, and a slot's entry is found by bisection. Every array is
 * `[numEnvs + room, ...shape]`.
 */
export class SideValues {
  readonly #leaves: readonly Leaf[];
  readonly #ring: Ring;
  readonly #shared: boolean;
  #slots!: Int32Array;
  #arrays!: FieldArray[];
  #units!: Units[];
  /** Entries that there is room for. */
  room: number;
  /** Entries that were ever made. */
  pushed = 0;
  /** Entries that were ever given up. */
  popped = 0;

  constructor(leaves: readonly Leaf[], ring: Ring, memory?: SharedSide | true) {
    this.#leaves = leaves;
    this.#ring = ring;
    this.#shared = memory !== undefined;
    this.room = Math.min(FIRST_ROOM, ring.rows);
    if (memory === undefined) this.#allocate();
    else this.#view(memory === true ? this.#allocateShared() : memory);
  }

  #allocate(): void {
    this.#slots = new Int32Array(this.room);
    const rows = this.#ring.numEnvs + this.room;
    this.#use(
      this.#leaves.map(({ dtype, size }) => allocateArray(dtype, rows * size)),
    );
  }

  #use(arrays: FieldArray[]): void {
    this.#arrays = arrays;
    this.#units = arrays.map(unitsOf);
  }

  /** Memory that grows in place, so that others see it grow. */
  #allocateShared(): SharedSide {
    const { numEnvs, rows } = this.#ring;
    const allocate = (bytes: number, first: number) =>
      new SharedArrayBuffer(first * bytes, {
        maxByteLength: (first - this.room + rows) * bytes,
      });
    return {
      slots: allocate(4, this.room),
      arrays: this.#leaves.map(({ dtype, size }) =>
        allocate(size * bytesOf(dtype), numEnvs + this.room)
      ),
    };
  }

  #view({ slots, arrays }: SharedSide): void {
    this.#slots = new Int32Array(slots);
    this.#arrays = this.#leaves.map(({ dtype }, i) =>
      viewBuffer(dtype, arrays[i])
    );
    this.#units = this.#leaves.map(({ dtype }, i) =>
      dtype === "uint8" ? new Uint8Array(arrays[i]) : new Int32Array(arrays[i])
    );
  }

  /** The memory, where it is shared. */
  get memory(): SharedSide {
    const memoryOf = ({ buffer }: FieldArray) => buffer as SharedArrayBuffer;
    return {
      slots: memoryOf(this.#slots),
      arrays: this.#arrays.map(memoryOf),
    };
  }

  /** Bytes of all arrays. */
  get byteLength(): number {
    return this.#arrays.reduce(
      (sum, { byteLength }) => sum + byteLength,
      this.#slots.byteLength,
    );
  }

  /** Entries that it holds. */
  get count(): number {
    return this.pushed - this.popped;
  }

  /** Whether the next entry fits in. */
  get full(): boolean {
    return this.count === this.room;
  }

  /** Numbers of a row as units, and the size of a row in them. */
  units(index: number): Units {
    return this.#units[index];
  }

  /** Takes over the next values of the newest step, which begin at a row. */
  setNewest(values: readonly ArrayLike<number>[], row: number): void {
    const { numEnvs } = this.#ring;
    for (let i = 0; i < this.#arrays.length; i++) {
      const { size, index } = this.#leaves[i];
      const from = row * size, count = numEnvs * size;
      copyNumbers(values[index], this.#arrays[i], { from, to: 0, count });
    }
  }

  /** Takes over the next values of a slot, which are at a row; needs room. */
  push(
    slot: number,
    values: readonly ArrayLike<number>[],
    row: number,
  ): void {
    const place = this.pushed % this.room;
    this.#slots[place] = slot;
    for (let i = 0; i < this.#arrays.length; i++) {
      const { size, index } = this.#leaves[i];
      const to = (this.#ring.numEnvs + place) * size, from = row * size;
      copyNumbers(values[index], this.#arrays[i], { from, to, count: size });
    }
    this.pushed++;
  }

  /** Keeps the next values of a row of the newest step; needs room. */
  pushNewest(slot: number, env: number): void {
    const place = this.pushed % this.room;
    this.#slots[place] = slot;
    for (let i = 0; i < this.#arrays.length; i++) {
      const { size } = this.#leaves[i], array = this.#arrays[i];
      const to = (this.#ring.numEnvs + place) * size;
      array.copyWithin(to, env * size, (env + 1) * size);
    }
    this.pushed++;
  }

  /** Gives up the entries of slots that are about to be written. */
  evict(first: number, count: number): void {
    while (this.popped < this.pushed) {
      const slot = this.#slots[this.popped % this.room];
      if (slot < first || slot >= first + count) return;
      this.popped++;
    }
  }

  /** The row of a slot's values; -1 where there is none. */
  find(slot: number): number {
    const step = this.#stepAge(slot);
    let low = this.popped, high = this.pushed;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (this.#stepAge(this.#slots[middle % this.room]) < step) {
        low = middle + 1;
      } else high = middle;
    }
    for (; low < this.pushed; low++) { // Rows of a step are in any order.
      const place = low % this.room, found = this.#slots[place];
      if (found === slot) return this.#ring.numEnvs + place;
      if (this.#stepAge(found) !== step) break;
    }
    return -1;
  }

  /** How late a slot's step was written, compared with others. */
  #stepAge(slot: number): number {
    return Math.floor(this.#ring.age(slot) / this.#ring.numEnvs);
  }

  /** Gives up all entries. */
  clear(): void {
    this.pushed = this.popped = 0;
  }

  /** Makes room for twice as many entries. */
  grow(): void {
    const { slots, ended } = this.save();
    const newest = this.newest();
    this.room = Math.min(2 * this.room, this.#ring.rows);
    if (this.#shared) this.#growShared();
    else this.#allocate();
    this.#restore({ slots, ended, newest }, this.popped);
  }

  #growShared(): void {
    const { slots, arrays } = this.memory;
    const rows = this.#ring.numEnvs + this.room;
    slots.grow(this.room * 4);
    this.#leaves.forEach(({ dtype, size }, i) =>
      arrays[i].grow(rows * size * bytesOf(dtype))
    );
  }

  /** Copies of the next values of the newest step, of each leaf. */
  newest(): FieldArray[] {
    const { numEnvs } = this.#ring;
    return this.#arrays.map((array, i) =>
      array.slice(0, numEnvs * this.#leaves[i].size)
    );
  }

  /** Copies of all entries, those of old steps first: slots, and values of each leaf. */
  save(): { slots: Int32Array; ended: FieldArray[] } {
    const { count, room } = this;
    const slots = new Int32Array(count);
    const ended = this.#leaves.map(({ dtype, size }) =>
      allocateArray(dtype, count * size)
    );
    for (let n = 0; n < count; n++) {
      const place = (this.popped + n) % room;
      slots[n] = this.#slots[place];
      this.#arrays.forEach((array, i) => {
        const { size } = this.#leaves[i];
        const from = (this.#ring.numEnvs + place) * size;
        copyNumbers(array, ended[i], { from, to: n * size, count: size });
      });
    }
    return { slots, ended };
  }

  /** Takes over copies of entries and of the newest values. */
  load(saved: SavedSide): void {
    while (this.room < saved.slots.length) this.grow();
    this.#restore(saved, 0);
  }

  #restore({ slots, ended, newest }: SavedSide, popped: number): void {
    this.popped = popped;
    this.pushed = popped + slots.length;
    this.#arrays.forEach((array, i) => array.set(newest[i]));
    for (let n = 0; n < slots.length; n++) {
      const place = (popped + n) % this.room;
      this.#slots[place] = slots[n];
      this.#arrays.forEach((array, i) => {
        const { size } = this.#leaves[i];
        const to = (this.#ring.numEnvs + place) * size;
        const from = n * size;
        copyNumbers(ended[i], array, { from, to, count: size });
      });
    }
  }
}

/** What is kept of {@linkcode SideValues}. */
export interface SavedSide {
  readonly slots: Int32Array;
  readonly ended: readonly FieldArray[];
  readonly newest: readonly FieldArray[];
}
