/** Children of a node: as many as two cache lines hold. */
const FAN_OUT_BITS = 4;
const FAN_OUT = 1 << FAN_OUT_BITS;

/**
 * The numbers of a sum tree, unchecked: each node is the sum of 16 children, and
 * knows the smallest leaf above 0 under it. Whoever changes leaves says so, and
 * the nodes above them are computed from their children.
 */
export class SumTreeNodes {
  /** Leaves, then the sums of the nodes level by level; the root is the last. */
  readonly sums: Float64Array;
  /** The smallest leaf above 0 under each node; leaves have none. */
  readonly #mins: Float64Array;
  /** Where each level starts among the sums, leaves first. */
  readonly #starts: readonly number[];
  /** Nodes of a level that have to be computed. */
  #stale = new Int32Array(1);

  /** All leaves are 0 at first. */
  constructor(leaves: number) {
    const starts = [0];
    let [nodes, end] = [leaves, 0];
    while (nodes > 1 || starts.length === 1) {
      nodes = Math.ceil(nodes / FAN_OUT);
      starts.push(end += nodes * FAN_OUT);
    }
    this.#starts = starts;
    this.sums = new Float64Array(end + 1);
    this.#mins = new Float64Array(end + 1 - starts[1]).fill(Infinity);
  }

  /** The sum of all leaves. */
  get total(): number {
    return this.sums[this.sums.length - 1];
  }

  /** The smallest leaf above 0; `Infinity` if all are 0. */
  get min(): number {
    return this.#mins[this.#mins.length - 1];
  }

  /** The leaf at a mass, where one is above 0. */
  find(mass: number): number {
    const sums = this.sums;
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

  /** Computes what is above a leaf. */
  update(leaf: number): void {
    let node = leaf >> FAN_OUT_BITS;
    this.#sumLeaves(node);
    for (let level = 2; level < this.#starts.length; level++) {
      node >>= FAN_OUT_BITS;
      this.#sumNodes(level, node);
    }
  }

  /** Computes what is above leaves that lie side by side. */
  updateRange(firstLeaf: number, lastLeaf: number): void {
    let first = firstLeaf >> FAN_OUT_BITS, last = lastLeaf >> FAN_OUT_BITS;
    for (let node = first; node <= last; node++) this.#sumLeaves(node);
    for (let level = 2; level < this.#starts.length; level++) {
      first >>= FAN_OUT_BITS;
      last >>= FAN_OUT_BITS;
      for (let node = first; node <= last; node++) this.#sumNodes(level, node);
    }
  }

  /** Computes what is above leaves, once where neighbours in the list share it. */
  updateMany(leaves: ArrayLike<number>): void {
    const { length } = leaves;
    if (this.#stale.length < length) this.#stale = new Int32Array(length);
    const stale = this.#stale;
    for (let i = 0; i < length; i++) stale[i] = leaves[i] >> FAN_OUT_BITS;
    let count = dropRepeats(stale, length);
    for (let i = 0; i < count; i++) this.#sumLeaves(stale[i]);
    for (let level = 2; level < this.#starts.length; level++) {
      for (let i = 0; i < count; i++) stale[i] >>= FAN_OUT_BITS;
      count = dropRepeats(stale, count);
      for (let i = 0; i < count; i++) this.#sumNodes(level, stale[i]);
    }
  }

  /** A node above leaves. */
  #sumLeaves(node: number): void {
    const leaves = this.sums;
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
    this.sums[this.#starts[1] + node] = even + odd;
    this.#mins[node] = min < oddMin ? min : oddMin;
  }

  /** A node above nodes. */
  #sumNodes(level: number, node: number): void {
    const sums = this.sums;
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

/** Moves entries forward over those equal to the one before; how many stay. */
function dropRepeats(nodes: Int32Array, count: number): number {
  let kept = 0;
  for (let i = 0; i < count; i++) {
    if (kept === 0 || nodes[i] !== nodes[kept - 1]) nodes[kept++] = nodes[i];
  }
  return kept;
}
