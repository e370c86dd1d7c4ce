/** Slots that a block holds at most. */
const BLOCK_LENGTH = 512;

/** Slots that follow each other in the order. */
interface Block {
  readonly slots: Int32Array;
  count: number;
}

/**
 * Slots in the order of their priorities, the greatest first; of equal ones the
 * lower slot comes first. The order is always exact: it is cut into blocks of up
 * to 512 slots, so that a change moves a few hundred numbers of one or two
 * blocks that are found by bisection.
 */
export class Ranking {
  /** 0 where a slot is not ranked. */
  readonly #priorities: Float64Array;
  #blocks: Block[] = [];
  /** The rank after the last one of each block, as of the last look-up. */
  #ends = new Int32Array(0);
  #endsAreStale = true;
  #length = 0;

  /** Nothing is ranked at first. */
  constructor(capacity: number) {
    this.#priorities = new Float64Array(capacity);
  }

  /** How many slots are ranked. */
  get length(): number {
    return this.#length;
  }

  /** The priority of each slot, to be read only; 0 where it is not ranked. */
  get priorities(): Float64Array {
    return this.#priorities;
  }

  /** Ranks slots anew by priorities; those of 0 are not ranked. */
  load(priorities: ArrayLike<number>): void {
    this.#priorities.fill(0);
    this.#priorities.set(priorities);
    const ranked = this.#priorities
      .reduce((count, priority) => priority > 0 ? count + 1 : count, 0);
    const slots = new Int32Array(ranked);
    for (let slot = 0, i = 0; i < ranked; slot++) {
      if (this.#priorities[slot] > 0) slots[i++] = slot;
    }
    slots.sort((a, b) => this.#priorities[b] - this.#priorities[a] || a - b);
    this.#length = ranked;
    this.#blocks = blocksOf(slots);
    this.#endsAreStale = true;
  }

  /** Changes a slot's priority; with 0 it is not ranked any more. */
  set(slot: number, priority: number): void {
    if (priority === this.#priorities[slot]) return;
    if (this.#priorities[slot] > 0) this.#remove(slot);
    this.#priorities[slot] = priority;
    if (priority > 0) this.#insert(slot);
    this.#endsAreStale = true;
  }

  /** The slot of a rank; the first rank is 0. */
  at(rank: number): number {
    if (this.#endsAreStale) this.#findEnds();
    let [low, high] = [0, this.#blocks.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#ends[middle] > rank) high = middle;
      else low = middle + 1;
    }
    const { slots, count } = this.#blocks[low];
    return slots[rank - this.#ends[low] + count];
  }

  #findEnds(): void {
    const { length } = this.#blocks;
    if (this.#ends.length < length) this.#ends = new Int32Array(2 * length);
    let end = 0;
    for (let i = 0; i < length; i++) {
      this.#ends[i] = end += this.#blocks[i].count;
    }
    this.#endsAreStale = false;
  }

  #insert(slot: number): void {
    this.#length++;
    const blocks = this.#blocks;
    if (blocks.length === 0) blocks.push(emptyBlock());
    const at = Math.min(this.#blockOf(slot), blocks.length - 1);
    const block = blocks[at];
    const place = this.#placeIn(block, slot);
    block.slots.copyWithin(place + 1, place, block.count);
    block.slots[place] = slot;
    if (++block.count === BLOCK_LENGTH) blocks.splice(at + 1, 0, split(block));
  }

  #remove(slot: number): void {
    this.#length--;
    const at = this.#blockOf(slot);
    const block = this.#blocks[at];
    const place = this.#placeIn(block, slot);
    block.slots.copyWithin(place, place + 1, block.count);
    block.count--;
    if (block.count < BLOCK_LENGTH / 4) this.#merge(at);
  }

  /** Joins a block that has become small with one beside it, if both are. */
  #merge(at: number): void {
    const blocks = this.#blocks;
    for (const first of [at - 1, at]) {
      const [a, b] = [blocks[first], blocks[first + 1]];
      if (!a || !b || a.count + b.count > BLOCK_LENGTH / 2) continue;
      a.slots.set(b.slots.subarray(0, b.count), a.count);
      a.count += b.count;
      blocks.splice(first + 1, 1);
      return;
    }
    if (blocks[at].count === 0) blocks.splice(at, 1);
  }

  /** The first block whose last slot does not come before this one. */
  #blockOf(slot: number): number {
    const blocks = this.#blocks;
    let [low, high] = [0, blocks.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const { slots, count } = blocks[middle];
      if (this.#isBefore(slots[count - 1], slot)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** How many slots of a block come before this one. */
  #placeIn({ slots, count }: Block, slot: number): number {
    let [low, high] = [0, count];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#isBefore(slots[middle], slot)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #isBefore(a: number, b: number): boolean {
    const difference = this.#priorities[a] - this.#priorities[b];
    return difference > 0 || (difference === 0 && a < b);
  }
}

function emptyBlock(): Block {
  return { slots: new Int32Array(BLOCK_LENGTH), count: 0 };
}

/** Moves the second half of a block to a new one. */
function split(block: Block): Block {
  const after = emptyBlock();
  const half = BLOCK_LENGTH / 2;
  after.slots.set(block.slots.subarray(half));
  after.count = block.count - half;
  block.count = half;
  return after;
}

/** Blocks of slots in order, three quarters full. */
function blocksOf(slots: Int32Array): Block[] {
  const blocks: Block[] = [];
  const length = BLOCK_LENGTH * 3 / 4;
  for (let start = 0; start < slots.length; start += length) {
    const block = emptyBlock();
    const part = slots.subarray(start, start + length);
    block.slots.set(part);
    block.count = part.length;
    blocks.push(block);
  }
  return blocks;
}
