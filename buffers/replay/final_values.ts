import { copyNumbers, type Units } from "../copy.ts";
import {
  allocateRows,
  ARRAYS,
  type FieldArray,
  type Leaf,
  viewBuffer,
} from "../fields.ts";
import type { SharedReplay } from "./options.ts";
import type { Ring } from "./ring.ts";

/** Memory of {@linkcode FinalValues} that workers share. */
type SharedFinals = SharedReplay["finals"][number];

/** Memory of {@linkcode FinalValues}, shared or not. */
interface Memory {
  readonly slots: ArrayBufferLike;
  readonly arrays: readonly ArrayBufferLike[];
}

/** Copies of {@linkcode FinalValues}. */
export interface SavedFinals {
  /** Slots whose step ended an episode, older steps first. */
  readonly slots: Int32Array;
  /** Values after each of them, of each leaf. */
  readonly ended: readonly FieldArray[];
  /** Values after the newest step of each environment. */
  readonly newest: readonly FieldArray[];
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
export class FinalValues {
  readonly #leaves: readonly Leaf[];
  readonly #ring: Ring;
  readonly #isShared: boolean;
  #slots!: Int32Array;
  #arrays!: FieldArray[];
  #units!: Units[];
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
    this.#leaves = leaves;
    this.#ring = ring;
    this.#isShared = shared !== false;
    this.room = Math.min(FIRST_ROOM, ring.capacity);
    this.#view(typeof shared === "object" ? shared : this.#allocate());
  }

  /** Allocates memory; shared memory grows in place, so that others see it grow. */
  #allocate(): Memory {
    const { numEnvs, capacity } = this.#ring;
    const allocate = (bytes: number, rows: number) =>
      this.#isShared
        ? new SharedArrayBuffer(rows * bytes, {
          maxByteLength: (rows - this.room + capacity) * bytes,
        })
        : new ArrayBuffer(rows * bytes);
    return {
      slots: allocate(4, this.room),
      arrays: this.#leaves.map(({ dtype, size }) =>
        allocate(size * ARRAYS[dtype].BYTES_PER_ELEMENT, numEnvs + this.room)
      ),
    };
  }

  /** Views memory; the views grow with it. */
  #view({ slots, arrays }: Memory): void {
    this.#slots = new Int32Array(slots);
    this.#arrays = this.#leaves.map(({ dtype }, i) =>
      viewBuffer(dtype, arrays[i])
    );
    this.#units = this.#leaves.map(({ dtype }, i) =>
      dtype === "uint8" ? new Uint8Array(arrays[i]) : new Int32Array(arrays[i])
    );
  }

  /** Its memory, which is shared. */
  get memory(): SharedFinals {
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

  /** True where the next entry does not fit in. */
  get full(): boolean {
    return this.pushed - this.popped === this.room;
  }

  /** Returns the rows of a leaf as units. */
  units(index: number): Units {
    return this.#units[index];
  }

  /** Takes over the values after the newest step, which begin at a row. */
  setNewest(values: readonly ArrayLike<number>[], row: number): void {
    this.#copyIn(values, row, { to: 0, count: this.#ring.numEnvs });
  }

  /** Takes over the values after a slot's step, which are at a row; needs room. */
  push(
    slot: number,
    values: readonly ArrayLike<number>[],
    row: number,
  ): void {
    const to = this.#append(slot);
    this.#copyIn(values, row, { to, count: 1 });
  }

  /** Keeps the values after one environment's newest step; needs room. */
  pushNewest(slot: number, env: number): void {
    const to = this.#append(slot);
    for (let i = 0; i < this.#arrays.length; i++) {
      const { size } = this.#leaves[i];
      this.#arrays[i].copyWithin(to * size, env * size, (env + 1) * size);
    }
  }

  /** Makes an entry for a slot, and returns the row of its values. */
  #append(slot: number): number {
    const place = this.pushed++ % this.room;
    this.#slots[place] = slot;
    return this.#ring.numEnvs + place;
  }

  #copyIn(
    values: readonly ArrayLike<number>[],
    row: number,
    { to, count }: { to: number; count: number },
  ): void {
    for (let i = 0; i < this.#arrays.length; i++) {
      const { size, index } = this.#leaves[i];
      copyNumbers(values[index], this.#arrays[i], {
        from: row * size,
        to: to * size,
        count: count * size,
      });
    }
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
    const saved = this.save();
    this.room = Math.min(2 * this.room, this.#ring.capacity);
    if (this.#isShared) this.#growShared();
    else this.#view(this.#allocate());
    this.#restore(saved, this.popped);
  }

  #growShared(): void {
    const { slots, arrays } = this.memory;
    const rows = this.#ring.numEnvs + this.room;
    slots.grow(this.room * 4);
    this.#leaves.forEach(({ dtype, size }, i) =>
      arrays[i].grow(rows * size * ARRAYS[dtype].BYTES_PER_ELEMENT)
    );
  }

  /** Copies all entries, and the values after the newest step. */
  save(): SavedFinals {
    const { numEnvs } = this.#ring, count = this.pushed - this.popped;
    const slots = new Int32Array(count);
    const ended = allocateRows(this.#leaves, count);
    for (let n = 0; n < count; n++) {
      const place = (this.popped + n) % this.room;
      slots[n] = this.#slots[place];
      this.#arrays.forEach((array, i) => {
        const { size } = this.#leaves[i];
        const from = (numEnvs + place) * size;
        copyNumbers(array, ended[i], { from, to: n * size, count: size });
      });
    }
    const newest = this.#arrays.map((array, i) =>
      array.slice(0, numEnvs * this.#leaves[i].size)
    );
    return { slots, ended, newest };
  }

  /** Takes over copies. */
  load(saved: SavedFinals): void {
    while (this.room < saved.slots.length) this.grow();
    this.#restore(saved, 0);
  }

  #restore({ slots, ended, newest }: SavedFinals, popped: number): void {
    this.popped = this.pushed = popped;
    this.#arrays.forEach((array, i) => array.set(newest[i]));
    for (let n = 0; n < slots.length; n++) {
      const to = this.#append(slots[n]);
      this.#arrays.forEach((array, i) => {
        const { size } = this.#leaves[i];
        copyNumbers(ended[i], array, {
          from: n * size,
          to: to * size,
          count: size,
        });
      });
    }
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
