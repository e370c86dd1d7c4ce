/** Children of a node: as many as two cache lines hold. */
const FAN_OUT_BITS = 4;
const FAN_OUT = 1 << FAN_OUT_BITS;

/** So that the sum of as many as 2^53 leaves is finite. */
const MAX_LEAF = Number.MAX_VALUE / 2 ** 53;

/**
 * Numbers of 0 and above, with their sum, the smallest above 0, and the index at
 * which their running sum passes a given mass, each in logarithmic time. This is
 * what draws rows in proportion to their priorities.
 *
 * Each node has 16 children, so that a million leaves lie five levels deep, and
 * the nodes take little more than one byte for each leaf of 8 bytes. A node is
 * always computed anew from its children: sums do not drift, and follow from
 * the leaves alone.
 *
 * @example
 * ```ts
 * import { SumTree } from "@bellman/buffers";
 * import { assertEquals } from "@std/assert";
 *
 * const tree = new SumTree(1000);
 * tree.setMany([3, 5, 8], [0.5, 2, 1]);
 * assertEquals([tree.total, tree.min], [3.5, 0.5]);
 * assertEquals([tree.find(0.4), tree.find(0.5), tree.find(2.6)], [3, 5, 8]);
 * ```
 */
export class SumTree {
  /** Leaves that it has. */
  readonly capacity: number;
  /** Leaves, then the sums of the nodes level by level; the root is the last. */
  readonly #sums: Float64Array;
  /** The smallest leaf above 0 under each node; leaves have none. */
  readonly #mins: Float64Array;
  /** Where each level starts among the sums, leaves first. */
  readonly #starts: readonly number[];
  /** Nodes of a level that have to be computed. */
  #stale = new Int32Array(1);

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
    this.capacity = capacity;
    const starts = [0];
    let [nodes, end] = [capacity, 0];
    while (nodes > 1 || starts.length === 1) {
      nodes = wholeNodes(nodes);
      starts.push(end += nodes * FAN_OUT);
    }
    this.#starts = starts;
    this.#sums = new Float64Array(end + 1);
    this.#mins = new Float64Array(end + 1 - starts[1]).fill(Infinity);
  }

  /** The sum of all leaves. */
  get total(): number {
    return this.#sums[this.#sums.length - 1];
  }

  /** The smallest leaf above 0; `Infinity` if all are 0. */
  get min(): number {
    return this.#mins[this.#mins.length - 1];
  }

  /** The leaves: always the same array, to be read only. */
  get leaves(): Float64Array {
    return this.#sums.subarray(0, this.capacity);
  }

  /**
   * Changes a leaf.
   *
   * @param index Its index.
   * @param value Its number, finite and not below 0.
   * @throws {RangeError} If there is no such leaf, or the number is another.
   */
  set(index: number, value: number): void {
    this.#checkIndex(index);
    checkValue(value);
    this.#sums[index] = value;
    let node = index >> FAN_OUT_BITS;
    this.#sumLeaves(node);
    for (let level = 2; level < this.#starts.length; level++) {
      node >>= FAN_OUT_BITS;
      this.#sumNodes(level, node);
    }
  }

  /**
   * Changes many leaves. Indices in ascending order are fastest, as then a node
   * above several of them is computed once.
   *
   * @param indices Indices; of one that comes twice the last number stays.
   * @param values A number for each, finite and not below 0.
   * @throws {RangeError} If the lengths differ, there is no such leaf, or a number
   * is another; no leaf is changed then.
   */
  setMany(indices: ArrayLike<number>, values: ArrayLike<number>): void {
    const { length } = indices;
    if (values.length !== length) {
      throw new RangeError(
        `Cannot set ${length} leaves to ${values.length} numbers: expected as many`,
      );
    }
    for (let i = 0; i < length; i++) {
      this.#checkIndex(indices[i]);
      checkValue(values[i]);
    }
    if (this.#stale.length < length) this.#stale = new Int32Array(length);
    const stale = this.#stale;
    for (let i = 0; i < length; i++) {
      this.#sums[indices[i]] = values[i];
      stale[i] = indices[i] >> FAN_OUT_BITS;
    }
    this.#computeStale(length);
  }

  /**
   * Changes leaves that lie side by side to the same number.
   *
   * @param value The number, finite and not below 0.
   * @param range The leaves from `first` up to but not with `end`.
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
    this.#sums.fill(value, first, end);
    this.#compute(first >> FAN_OUT_BITS, (end - 1) >> FAN_OUT_BITS);
  }

  /**
   * The first index whose running sum, with its own leaf, exceeds a mass. A leaf
   * of 0 is never found.
   *
   * @param mass A number not below 0. From the total on, to which rounding may
   * lead, it finds the last leaf above 0.
   * @returns The index.
   * @throws {RangeError} If all leaves are 0 or the mass is below 0.
   */
  find(mass: number): number {
    this.#checkMass(mass);
    return this.#find(mass);
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

  #find(mass: number): number {
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

  /**
   * The leaf of each of many masses.
   *
   * @param masses What {@link find} takes; in ascending order it is fastest.
   * @param into Takes the indices; as long as `masses`.
   * @throws {RangeError} If all leaves are 0 or a mass is below 0.
   */
  findMany(masses: ArrayLike<number>, into: Int32Array): void {
    for (let i = 0; i < masses.length; i++) into[i] = this.find(masses[i]);
  }

  /**
   * Takes over leaves; those beyond them become 0.
   *
   * @param leaves Numbers, finite and not below 0; copied.
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
    this.#sums.fill(0, 0, this.capacity);
    this.#sums.set(leaves);
    this.#compute(0, wholeNodes(this.capacity) - 1);
  }

  #checkIndex(index: number): void {
    if (index >= 0 && index < this.capacity && Number.isInteger(index)) return;
    throw new RangeError(
      `Cannot set leaf ${index} of a tree with leaves 0 to ${
        this.capacity - 1
      }`,
    );
  }

  /** Nodes `first` to `last` above the leaves, and all above them. */
  #compute(first: number, last: number): void {
    for (let node = first; node <= last; node++) this.#sumLeaves(node);
    for (let level = 2; level < this.#starts.length; level++) {
      first >>= FAN_OUT_BITS;
      last >>= FAN_OUT_BITS;
      for (let node = first; node <= last; node++) this.#sumNodes(level, node);
    }
  }

  /** The listed nodes above the leaves, and all above them. */
  #computeStale(count: number): void {
    const stale = this.#stale;
    count = dropRepeats(stale, count);
    for (let i = 0; i < count; i++) this.#sumLeaves(stale[i]);
    for (let level = 2; level < this.#starts.length; level++) {
      for (let i = 0; i < count; i++) stale[i] >>= FAN_OUT_BITS;
      count = dropRepeats(stale, count);
      for (let i = 0; i < count; i++) this.#sumNodes(level, stale[i]);
    }
  }

  /** A node above leaves. */
  #sumLeaves(node: number): void {
    const leaves = this.#sums;
    const first = node * FAN_OUT;
    // Two of each, as one addition would wait for the one before.
    let [even, odd, min, oddMin] = [0, 0, Infinity, Infinity];
    for (let i = first; i < first + FAN_OUT; i += 2) {
      const a = leaves[i];
      const b = leaves[i + 1];
      even += a;
      odd += b;
      if (a > 0 && a < min) min = a;
      if (b > 0 && b < oddMin) oddMin = b;
    }
    this.#sums[this.#starts[1] + node] = even + odd;
    this.#mins[node] = min < oddMin ? min : oddMin;
  }

  /** A node above nodes. */
  #sumNodes(level: number, node: number): void {
    const sums = this.#sums;
    const mins = this.#mins;
    const first = this.#starts[level - 1] + node * FAN_OUT;
    const leaves = this.#starts[1];
    let [even, odd, min, oddMin] = [0, 0, Infinity, Infinity];
    for (let i = first; i < first + FAN_OUT; i += 2) {
      even += sums[i];
      odd += sums[i + 1];
      const a = mins[i - leaves];
      const b = mins[i + 1 - leaves];
      if (a < min) min = a;
      if (b < oddMin) oddMin = b;
    }
    const at = this.#starts[level] + node;
    sums[at] = even + odd;
    mins[at - leaves] = min < oddMin ? min : oddMin;
  }
}

function wholeNodes(children: number): number {
  return Math.ceil(children / FAN_OUT);
}

function checkValue(value: number): void {
  if (value >= 0 && value <= MAX_LEAF) return;
  throw new RangeError(
    `Cannot set a leaf to ${value}: expected a number of 0 to ${MAX_LEAF}`,
  );
}

/** Moves entries forward over those equal to the one before; how many stay. */
function dropRepeats(nodes: Int32Array, count: number): number {
  let kept = 0;
  for (let i = 0; i < count; i++) {
    if (kept === 0 || nodes[i] !== nodes[kept - 1]) nodes[kept++] = nodes[i];
  }
  return kept;
}
