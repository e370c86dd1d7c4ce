/** Largest leaf: the sum of as many as 2^53 of them is finite. */
export const MAX_LEAF = Number.MAX_VALUE / 2 ** 53;

/** Children of a node: as many as two cache lines hold. */
const FAN_OUT_BITS = 4;
const FAN_OUT = 1 << FAN_OUT_BITS;

/**
 * Sum tree: numbers of at least 0 with their sum, their maximum, and a search of the
 * index where the running sum exceeds a mass, each in logarithmic time, for sampling
 * rows in proportion to priorities.
 *
 * Each node has 16 children, so a million leaves are five levels deep, and nodes take
 * about 1.5 bytes for each leaf of 8 bytes. Nodes are recomputed from their children,
 * once for all changes, when a sum is needed: sums do not drift.
 *
 * @example
 * ```ts
 * import { SumTree } from "@bellman/buffers";
 * import { assertEquals } from "@std/assert";
 *
 * const tree = new SumTree(1000);
 * for (const [leaf, value] of [[3, 0.5], [5, 2], [8, 1]]) tree.set(leaf, value);
 * assertEquals([tree.total, tree.max], [3.5, 2]);
 * assertEquals([tree.find(0.4), tree.find(0.5), tree.find(2.6)], [3, 5, 8]);
 * ```
 */
export class SumTree {
  /** Number of leaves. */
  readonly capacity: number;
  /** The leaves: always the same memory, to be read only. */
  readonly leaves: Float64Array;
  /** Leaves, then the sums of the nodes level by level; the root is the last. */
  readonly #sums: Float64Array;
  /** The largest leaf under each node; leaves have none. */
  readonly #maxes: Float64Array;
  /** Start of each level among the sums, leaves first. */
  readonly #starts: readonly number[];
  /** Nodes above leaves that are to be computed, each once. */
  readonly #stale: Int32Array;
  #staleCount = 0;
  /** 1 for each node that is to be computed. */
  readonly #isStale: Uint8Array;

  /**
   * Makes a tree whose leaves are all 0.
   *
   * @param capacity Number of leaves.
   * @throws {RangeError} If it is not a whole number from 1 to 2^31 - 1.
   */
  constructor(capacity: number) {
    if (!(Number.isInteger(capacity) && capacity > 0 && capacity < 2 ** 31)) {
      throw new RangeError(
        `Cannot make a tree of ${capacity} leaves: expected a whole number from 1 to 2^31 - 1`,
      );
    }
    const starts = [0];
    let [nodes, end] = [capacity, 0];
    while (nodes > 1 || starts.length === 1) {
      nodes = Math.ceil(nodes / FAN_OUT);
      starts.push(end += nodes * FAN_OUT);
    }
    this.capacity = capacity;
    this.#starts = starts;
    this.#sums = new Float64Array(end + 1);
    this.#maxes = new Float64Array(end + 1 - starts[1]);
    this.#stale = new Int32Array(starts[1] >> FAN_OUT_BITS);
    this.#isStale = new Uint8Array(this.#maxes.length);
    this.leaves = this.#sums.subarray(0, capacity);
  }

  /** Sum of all leaves. */
  get total(): number {
    this.#refresh();
    return this.#sums[this.#sums.length - 1];
  }

  /** Largest leaf. */
  get max(): number {
    this.#refresh();
    return this.#maxes[this.#maxes.length - 1];
  }

  /** Smallest leaf above 0, by a search of all; `Infinity` if all are 0. */
  get min(): number {
    let min = Infinity;
    for (const leaf of this.leaves) if (leaf > 0 && leaf < min) min = leaf;
    return min;
  }

  /**
   * Sets a leaf.
   *
   * @param index Its index.
   * @param value Finite number of at least 0.
   * @throws {RangeError} If there is no such leaf, or the number is another.
   */
  set(index: number, value: number): void {
    this.#checkIndex(index);
    checkValue(value);
    this.leaves[index] = value;
    this.#changed(index);
  }

  /**
   * Sets consecutive leaves to the same number.
   *
   * @param value Finite number of at least 0.
   * @param range Leaves from `first` to `end - 1`.
   * @throws {RangeError} If there are no such leaves, or the number is another.
   */
  fill(
    value: number,
    { first, end }: { readonly first: number; readonly end: number },
  ): void {
    checkValue(value);
    if (first === end) return;
    this.#checkIndex(first);
    this.#checkIndex(end - 1);
    this.leaves.fill(value, first, end);
    this.#changedRange(first, end - 1);
  }

  /**
   * Finds the first index whose running sum, including its own leaf, exceeds a mass.
   * Leaves of 0 are never found.
   *
   * @param mass Number of at least 0. From the total on, due to rounding, the last leaf
   * above 0 is found.
   * @returns The index.
   * @throws {RangeError} If all leaves are 0 or the mass is below 0.
   */
  find(mass: number): number {
    this.#checkMass(mass);
    const sums = this.#sums;
    let node = 0;
    for (let level = this.#starts.length - 2; level >= 0; level--) {
      const start = this.#starts[level];
      let child = start + node * FAN_OUT;
      const last = child + FAN_OUT - 1;
      while (child < last && mass >= sums[child]) mass -= sums[child++];
      if (sums[child] === 0) { // Rounding led past the last child above 0.
        while (sums[child] === 0) child--;
        mass = Infinity;
      }
      node = child - start;
    }
    return node;
  }

  #checkMass(mass: number): void {
    if (!(mass >= 0)) {
      throw new RangeError(
        `Cannot find the leaf at mass ${mass}: expected 0 to ${this.total}`,
      );
    }
    if (this.total > 0) return;
    throw new RangeError(
      `Cannot find the leaf at mass ${mass} as all ${this.capacity} leaves are 0`,
    );
  }

  /**
   * Finds the leaves of many masses.
   *
   * @param masses Masses as for {@link find}; in ascending order it is fastest.
   * @param into Array to fill with indices; as long as `masses`.
   * @throws {RangeError} If all leaves are 0 or a mass is below 0.
   */
  findMany(masses: ArrayLike<number>, into: Int32Array): void {
    for (let i = 0; i < masses.length; i++) into[i] = this.find(masses[i]);
  }

  /**
   * Sets all leaves; those beyond the array become 0.
   *
   * @param leaves Finite numbers of at least 0; copied.
   * @throws {RangeError} If there are more than its leaves, or a number is
   * another; no leaf is changed then.
   */
  load(leaves: ArrayLike<number>): void {
    if (leaves.length > this.capacity) {
      throw new RangeError(
        `Cannot load ${leaves.length} leaves into a tree of ${this.capacity}`,
      );
    }
    for (let i = 0; i < leaves.length; i++) checkValue(leaves[i]);
    this.leaves.fill(0);
    this.leaves.set(leaves);
    this.#changedRange(0, this.capacity - 1);
  }

  /** Marks the node above a leaf. */
  #changed(leaf: number): void {
    const node = leaf >> FAN_OUT_BITS;
    if (this.#isStale[node] !== 0) return;
    this.#isStale[node] = 1;
    this.#stale[this.#staleCount++] = node;
  }

  /** Marks the nodes above leaves that lie side by side. */
  #changedRange(first: number, last: number): void {
    const end = (last >> FAN_OUT_BITS) + 1;
    for (let node = first >> FAN_OUT_BITS; node < end; node++) {
      this.#changed(node << FAN_OUT_BITS);
    }
  }

  /** Computes the nodes above leaves that have changed, each once. */
  #refresh(): void {
    let count = this.#staleCount;
    if (count === 0) return;
    this.#staleCount = 0;
    const stale = this.#stale, isStale = this.#isStale, starts = this.#starts;
    for (let level = 1;; level++) {
      const flags = starts[level] - starts[1];
      for (let i = 0; i < count; i++) {
        this.#sumChildren(level, stale[i]);
        isStale[flags + stale[i]] = 0;
      }
      if (level === starts.length - 1) return;
      const above = starts[level + 1] - starts[1];
      let parents = 0;
      for (let i = 0; i < count; i++) {
        const parent = stale[i] >> FAN_OUT_BITS;
        if (isStale[above + parent] !== 0) continue;
        isStale[above + parent] = 1;
        stale[parents++] = parent;
      }
      count = parents;
    }
  }

  /** Computes a node, above leaves at level 1. */
  #sumChildren(level: number, node: number): void {
    const sums = this.#sums, maxes = this.#maxes, starts = this.#starts;
    const first = starts[level - 1] + node * FAN_OUT, shift = starts[1];
    // Two of each, as one addition would wait for the one before.
    let [even, odd, max, oddMax] = [0, 0, 0, 0];
    for (let i = first; i < first + FAN_OUT; i += 2) {
      const a = sums[i], b = sums[i + 1];
      even += a;
      odd += b;
      const aMax = level === 1 ? a : maxes[i - shift];
      const bMax = level === 1 ? b : maxes[i + 1 - shift];
      if (aMax > max) max = aMax;
      if (bMax > oddMax) oddMax = bMax;
    }
    const at = starts[level] + node;
    sums[at] = even + odd;
    maxes[at - shift] = max > oddMax ? max : oddMax;
  }

  #checkIndex(index: number): void {
    if (index >= 0 && index < this.capacity && Number.isInteger(index)) return;
    throw new RangeError(
      `Cannot set leaf ${index} of a tree with leaves 0 to ${
        this.capacity - 1
      }`,
    );
  }
}

function checkValue(value: number): void {
  if (value >= 0 && value <= MAX_LEAF) return;
  throw new RangeError(
    `Cannot set a leaf to ${value}: expected a number of 0 to ${MAX_LEAF}`,
  );
}
