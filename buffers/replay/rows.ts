import {
  BLOCK_UNITS,
  copyNumbers,
  sliceNumbers,
  type Units,
  unitsOf,
} from "../copy.ts";
import { allocateRows, ARRAYS, type FieldArray, type Leaf } from "../fields.ts";
import { MemoryStorage } from "../storage/memory_storage.ts";
import type { Column } from "../storage/storage.ts";

/** Sizes of a {@linkcode Ring}, and steps that it keeps back. */
export interface RingOptions {
  /** Rows of a step. */
  readonly numEnvs: number;
  /** Steps that fit in. */
  readonly steps: number;
  /** Steps that are only the history of others once the oldest are gone. */
  readonly margin: number;
}

/**
 * Slots of a buffer's rows: step `s` lies in the `numEnvs` slots from
 * `(s % steps) * numEnvs` on. Knows which steps are held and which of them may
 * be drawn.
 */
export class Ring implements RingOptions {
  readonly numEnvs: number;
  readonly steps: number;
  readonly margin: number;
  /** Slots in all. */
  readonly capacity: number;
  /** Steps that were written so far. */
  total = 0;
  /** The first step that may be drawn. */
  firstStep = 0;
  /** The slot of the first row that may be drawn. */
  first = 0;
  /** Rows that may be drawn. */
  length = 0;
  /** The first slot of the latest step; -1 for none. */
  newest = -1;

  constructor({ numEnvs, steps, margin }: RingOptions) {
    this.numEnvs = numEnvs;
    this.steps = steps;
    this.margin = margin;
    this.capacity = steps * numEnvs;
  }

  /** Steps that it holds. */
  get held(): number {
    return Math.min(this.total, this.steps);
  }

  /** Returns the first slot of a step. */
  slotOf(step: number): number {
    return (step % this.steps) * this.numEnvs;
  }

  /** Sets how many steps were written so far. */
  setTotal(total: number): void {
    this.total = total;
    this.firstStep = total > this.steps ? total - this.steps + this.margin : 0;
    this.length = (total - this.firstStep) * this.numEnvs;
    this.first = this.slotOf(this.firstStep);
    this.newest = total > 0 ? this.slotOf(total - 1) : -1;
  }

  /** True where a slot belongs to the latest step. */
  isNewest(slot: number): boolean {
    return slot >= this.newest && slot < this.newest + this.numEnvs;
  }

  /** Returns the slot of a row that may be drawn; row 0 is the oldest. */
  slotAt(row: number): number {
    return (this.first + row) % this.capacity;
  }

  /** Returns the row of a slot, from 0 for the oldest that may be drawn. */
  rowOf(slot: number): number {
    const row = slot - this.first;
    return row < 0 ? row + this.capacity : row;
  }

  /** True where a slot may be drawn. */
  holds(slot: number): boolean {
    return slot >= 0 && slot < this.capacity && this.rowOf(slot) < this.length;
  }

  /** Returns the slot of the same environment's next step. */
  after(slot: number): number {
    const next = slot + this.numEnvs;
    return next < this.capacity ? next : next - this.capacity;
  }

  /** Returns the slot of the same environment's step before. */
  before(slot: number): number {
    const previous = slot - this.numEnvs;
    return previous >= 0 ? previous : previous + this.capacity;
  }

  /** Returns the slot of the same environment so many steps later, or earlier. */
  move(slot: number, steps: number): number {
    const to = (slot + steps * this.numEnvs) % this.capacity;
    return to < 0 ? to + this.capacity : to;
  }

  /** True where no step before a slot's was ever written. */
  isVeryFirst(slot: number): boolean {
    return this.total <= this.steps && slot < this.numEnvs;
  }

  /** Returns a number that is larger the later a slot's step was written. */
  stepAge(slot: number): number {
    const from = slot - this.slotOf(this.total);
    const row = from < 0 ? from + this.capacity : from;
    return Math.floor(row / this.numEnvs);
  }
}

/** Rows of one array field in a column of any storage. */
export class FieldRows {
  readonly leaf: Leaf;
  readonly column: Column;
  /** Units of a row. */
  readonly unitSize: number;
  /** All rows, if they are in memory. */
  readonly data: FieldArray | undefined;
  /** All rows as units; none if they are not in memory. */
  readonly units: Units;

  constructor(leaf: Leaf, column: Column) {
    const { dtype, size } = leaf;
    this.leaf = leaf;
    this.column = column;
    this.unitSize = dtype === "uint8"
      ? size
      : size * ARRAYS[dtype].BYTES_PER_ELEMENT / 4;
    this.data = column.data;
    this.units = this.data ? unitsOf(this.data) : new Uint8Array(0);
  }

  /** Writes `count` rows from `row` on; their values begin at row `from`. */
  write(
    row: number,
    values: ArrayLike<number>,
    { from, count }: { from: number; count: number },
  ): void {
    const { size } = this.leaf;
    if (this.data === undefined) {
      const numbers = values.length === count * size
        ? values
        : sliceNumbers(values, from * size, (from + count) * size);
      this.column.write(row, numbers);
    } else if (values.length === count * size) {
      this.data.set(values, row * size);
    } else {
      copyNumbers(values, this.data, {
        from: from * size,
        to: row * size,
        count: count * size,
      });
    }
  }

  /** Copies rows to a target, `units` of which are the same memory; negative ones are left out. */
  gather(rows: Int32Array, target: FieldArray, units: Units): void {
    if (this.data !== undefined) {
      copyRows(this.units, units, rows, this.unitSize);
      return;
    }
    const { size } = this.leaf;
    for (let i = 0; i < rows.length; i++) {
      if (rows[i] >= 0) this.column.read(rows[i], target, i * size);
    }
  }

  /** Returns rows that follow each other: the storage's own memory, or a copy. */
  slice(first: number, count: number, copy: boolean): FieldArray {
    const { dtype, size } = this.leaf;
    if (this.data !== undefined) {
      const rows = this.data.subarray(first * size, (first + count) * size);
      return copy ? rows.slice() : rows;
    }
    const array = new ARRAYS[dtype](count * size);
    for (let i = 0; i < count; i++) {
      this.column.read(first + i, array, i * size);
    }
    return array;
  }
}

/**
 * Copies `rows[i]` of a source to row `i` of a target; negative rows are left
 * out. Numbers are moved as words of 4 bytes or as bytes, so that each loop sees
 * one kind of array, which the compiler needs to make it fast, and every bit is kept.
 */
export function copyRows(
  source: Units,
  target: Units,
  rows: Int32Array,
  size: number,
): void {
  if (size >= BLOCK_UNITS) copyBlocks(source, target, rows, size);
  else if (source instanceof Uint8Array) {
    if (size === 1) copySingleBytes(source, target as Uint8Array, rows);
    else copyBytes(source, target as Uint8Array, rows, size);
  } else if (size === 1) copySingles(source, target as Int32Array, rows);
  else copyWords(source, target as Int32Array, rows, size);
}

function copyBlocks(
  source: Units,
  target: Units,
  rows: Int32Array,
  size: number,
): void {
  for (let i = 0; i < rows.length; i++) {
    const from = rows[i] * size;
    if (from >= 0) target.set(source.subarray(from, from + size), i * size);
  }
}

function copySingles(
  source: Int32Array,
  target: Int32Array,
  rows: Int32Array,
): void {
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i];
    if (row >= 0) target[i] = source[row];
  }
}

function copySingleBytes(
  source: Uint8Array,
  target: Uint8Array,
  rows: Int32Array,
): void {
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i];
    if (row >= 0) target[i] = source[row];
  }
}

function copyWords(
  source: Int32Array,
  target: Int32Array,
  rows: Int32Array,
  size: number,
): void {
  for (let i = 0; i < rows.length; i++) {
    let from = rows[i] * size;
    if (from < 0) continue;
    let to = i * size;
    const end = to + size;
    for (; to < end - 3; to += 4, from += 4) {
      const a = source[from], b = source[from + 1];
      const c = source[from + 2], d = source[from + 3];
      target[to] = a;
      target[to + 1] = b;
      target[to + 2] = c;
      target[to + 3] = d;
    }
    for (; to < end; to++, from++) target[to] = source[from];
  }
}

function copyBytes(
  source: Uint8Array,
  target: Uint8Array,
  rows: Int32Array,
  size: number,
): void {
  for (let i = 0; i < rows.length; i++) {
    const from = rows[i] * size;
    if (from < 0) continue;
    const to = i * size;
    for (let j = 0; j < size; j++) target[to + j] = source[from + j];
  }
}

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

  /** Finds the rows of each stack that ends with a row, `[row, frame]`. */
  findFrames(slots: Int32Array, stacks: Int32Array): void {
    const { terminated, truncated, ring } = this;
    const frames = stacks.length / slots.length;
    for (let i = 0; i < slots.length; i++) {
      const end = (i + 1) * frames;
      let slot = slots[i], isFirst = false;
      stacks[end - 1] = slot;
      for (let at = end - 2; at >= end - frames; at--) {
        if (!isFirst) {
          const before = ring.before(slot);
          isFirst = ring.isVeryFirst(slot) ||
            (terminated[before] | truncated[before]) !== 0;
          if (!isFirst) slot = before;
        }
        stacks[at] = slot;
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

/** All rows of a buffer, and where their episodes end. */
export interface StoredRows {
  /** Rows of each array field. */
  readonly rows: readonly FieldRows[];
  /** None where rows are independent. */
  readonly episodes: Episodes | undefined;
  /** None where nothing is drawn of the step after. */
  readonly finals: FinalValues | undefined;
}
