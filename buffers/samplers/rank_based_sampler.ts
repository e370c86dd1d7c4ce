import { PrioritySampler } from "./priority_sampler.ts";
import type { Drawn } from "./sampler.ts";

/**
 * Samples the row with the `r`-th largest priority with probability `r^-alpha / sum_j
 * j^-alpha`, with the importance weight `(N P(r))^-beta` over the largest one. Only the
 * order of priorities matters, which makes it robust to outliers. New rows get the
 * largest existing priority.
 *
 * Ranks are always exact, while the paper approximates the sorted array by a heap; ties
 * go to the lower slot. Priorities are inserted by bisection, ranks sampled in closed
 * form; about 15 bytes for each row.
 *
 * Source: Schaul et al., "Prioritized Experience Replay", 2016, section 3.3, the
 * rank-based variant.
 *
 * @example
 * ```ts
 * import { RankBasedSampler } from "@bellman/buffers";
 * import { assertEquals } from "@std/assert";
 *
 * const sampler = new RankBasedSampler({ alpha: 1, beta: 1 });
 * sampler.resize(4);
 * sampler.added(0, 2);
 * sampler.updatePriorities([0, 1], [1, 1000]);
 *
 * const drawn = { slots: new Int32Array(3), weights: new Float32Array(3) };
 * const random = { integer: () => 0, uniform: () => 0.5 };
 * const rows = { first: 0, length: 2, capacity: 4 };
 * sampler.draw(drawn, { rows, random });
 * assertEquals(drawn.slots, Int32Array.of(1, 1, 0));
 * assertEquals(drawn.weights, Float32Array.of(0.5, 0.5, 1));
 * ```
 */
export class RankBasedSampler extends PrioritySampler {
  /** Name of the priorities in a saved state. */
  protected override readonly keptName = "priorities";
  #ranking = new Ranking(0);
  #distribution = new RankDistribution(0);

  /** Ranks the priorities that there is room for. */
  protected override rebuild(priorities: Float64Array, capacity: number): void {
    const wrong = priorities.find((it) => !(it >= 0 && it < Infinity));
    if (wrong !== undefined) {
      throw new RangeError(
        `Cannot load a sampler with priority ${wrong}: expected finite numbers of at least 0`,
      );
    }
    const ranking = new Ranking(capacity);
    ranking.load(priorities);
    this.#ranking = ranking;
  }

  /** Priorities by slot. */
  protected override get kept(): Float64Array {
    return this.#ranking.priorities;
  }

  /** The priority of the first rank. */
  protected override get largest(): number {
    return this.#ranking.max;
  }

  /** Priorities are kept as they are. */
  protected override keptOf(priority: number): number {
    return priority;
  }

  /** Ranks slots side by side. */
  protected override fill(
    priority: number,
    first: number,
    count: number,
  ): void {
    for (let slot = first; slot < first + count; slot++) {
      this.#ranking.set(slot, priority);
    }
  }

  /** Sums the masses of all ranks. */
  protected override massOf(): number {
    if (this.#distribution.alpha !== this.alpha) {
      this.#distribution = new RankDistribution(this.alpha);
    }
    return this.#distribution.total(this.#ranking.length);
  }

  /** The lowest rank has the largest weight; numbers and sums cancel out. */
  protected override choose(
    masses: Float64Array,
    { slots, weights }: Drawn,
  ): void {
    const { length } = this.#ranking;
    for (let i = 0; i < slots.length; i++) {
      const rank = this.#distribution.find(masses[i], length);
      slots[i] = this.#ranking.at(rank - 1);
      masses[i] = rank; // The mass itself has served.
    }
    const exponent = this.alpha * this.beta;
    for (let i = 0; i < slots.length; i++) {
      weights[i] = (masses[i] / length) ** exponent;
    }
  }
}

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
  /** The priority of each slot, to be read only; 0 where it is not ranked. */
  readonly priorities: Float64Array;
  /** Number of ranked slots. */
  length = 0;
  #blocks: Block[] = [];
  /** The rank after the last one of each block, as of the last look-up. */
  #ends = new Int32Array(0);
  #endsAreStale = true;

  /** Nothing is ranked at first. */
  constructor(capacity: number) {
    this.priorities = new Float64Array(capacity);
  }

  /** Ranks slots again by priorities; those of 0 are not ranked. */
  load(priorities: ArrayLike<number>): void {
    this.priorities.fill(0);
    this.priorities.set(priorities);
    const slots = Int32Array.from(this.priorities.keys())
      .filter((slot) => this.priorities[slot] > 0)
      .sort((a, b) => this.priorities[b] - this.priorities[a] || a - b);
    this.length = slots.length;
    this.#blocks = blocksOf(slots);
    this.#endsAreStale = true;
  }

  /** Changes a slot's priority; with 0 it is not ranked any more. */
  set(slot: number, priority: number): void {
    if (priority === this.priorities[slot]) return;
    if (this.priorities[slot] > 0) this.#remove(slot);
    this.priorities[slot] = priority;
    if (priority > 0) this.#insert(slot);
    this.#endsAreStale = true;
  }

  /** The largest priority; 0 where nothing is ranked. */
  get max(): number {
    return this.length > 0 ? this.priorities[this.#blocks[0].slots[0]] : 0;
  }

  /** Returns the slot of a rank; the first rank is 0. */
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
    this.length++;
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
    this.length--;
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

  /** Finds the first block whose last slot does not come before this one. */
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

  /** Counts the slots of a block that come before this one. */
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
    const difference = this.priorities[a] - this.priorities[b];
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

/** Makes blocks of slots in order, three quarters full. */
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

/** Ranks whose masses are added up one by one. */
const EXACT = 1024;

/**
 * Ranks 1 to n with masses `rank^-alpha`, for any n, in constant memory.
 *
 * The masses of the first 1024 ranks are added up; those beyond are the areas
 * under `x^-alpha` from `rank - 1/2` to `rank + 1/2`, which differ from the
 * terms by less than one part in a million.
 */
export class RankDistribution {
  /** Exponent of the ranks. */
  readonly alpha: number;
  /** The mass up to each of the first ranks. */
  readonly #sums = new Float64Array(EXACT + 1);

  constructor(alpha: number) {
    this.alpha = alpha;
    for (let rank = 1; rank <= EXACT; rank++) {
      this.#sums[rank] = this.#sums[rank - 1] + rank ** -alpha;
    }
  }

  /** Returns the mass of ranks 1 to n. */
  total(n: number): number {
    if (n <= EXACT) return this.#sums[n];
    const start = EXACT + 0.5;
    const power = 1 - this.alpha;
    const logRatio = Math.log((n + 0.5) / start);
    const area = power === 0 ? logRatio : Math.expm1(power * logRatio) / power;
    return this.#sums[EXACT] + start ** power * area;
  }

  /** Finds the first rank up to which, of n, there is more than a mass. */
  find(mass: number, n: number): number {
    const rank = mass < this.#sums[EXACT]
      ? this.#findExact(mass)
      : Math.floor(this.#findEdge(mass) + 0.5);
    return rank <= n ? rank : n; // Rounding may lead beyond all ranks: NaN.
  }

  #findExact(mass: number): number {
    let [low, high] = [1, EXACT];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#sums[middle] > mass) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Finds the edge of the area that is left of a mass: the inverse of the total. */
  #findEdge(mass: number): number {
    const start = EXACT + 0.5;
    const power = 1 - this.alpha;
    const area = (mass - this.#sums[EXACT]) / start ** power;
    const logRatio = power === 0 ? area : Math.log1p(power * area) / power;
    return start * Math.exp(logRatio);
  }
}
