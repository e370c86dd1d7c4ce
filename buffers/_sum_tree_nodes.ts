/** Children of a node: as many as two cache lines hold. */
const FAN_OUT_BITS = 4;
const FAN_OUT = 1 << FAN_OUT_BITS;

/**
 * The numbers of a sum tree, unchecked: each node is the sum of 16 children, and
 * knows the smallest leaf above 0 under it. Whoever changes leaves says so; the
 * nodes above them are computed from their children when one is asked for, once
 * for all changes until then.
 */
export class SumTreeNodes {
  /** Leaves, then the sums of the nodes level by level; the root is the last. */
  readonly #sums: Float64Array;
  /** The smallest leaf above 0 under each node; leaves have none. */
  readonly #mins: Float64Array;
  /** Where each level starts among the sums, leaves first. */
  readonly #starts: readonly number[];
  /** Nodes above leaves that are to be computed, each once. */
  readonly #stale: Int32Array;
  #staleCount = 0;
  /** Whether each node is to be computed. */
  readonly #isStale: Uint8Array;

  /** All leaves are 0 at first. */
  constructor(leaves: number) {
    const starts = [0];
    let [nodes, end] = [leaves, 0];
    while (nodes > 1 || starts.length === 1) {
      nodes = Math.ceil(nodes / FAN_OUT);
      starts.push(end += nodes * FAN_OUT);
    }
    this.#starts = starts;
    this.#sums = new Float64Array(end + 1);
    this.#mins = new Float64Array(end + 1 - starts[1]).fill(Infinity);
    this.#stale = new Int32Array(starts[1] >> FAN_OUT_BITS);
    this.#isStale = new Uint8Array(this.#mins.length);
  }

  /** The leaves; those beyond the tree's own are 0. */
  get leaves(): Float64Array {
    return this.#sums.subarray(0, this.#starts[1]);
  }

  /** The sum of all leaves. */
  get total(): number {
    this.#refresh();
    return this.#sums[this.#sums.length - 1];
  }

  /** The smallest leaf above 0; `Infinity` if all are 0. */
  get min(): number {
    this.#refresh();
    return this.#mins[this.#mins.length - 1];
  }

  /** The leaf at a mass, where one is above 0. */
  find(mass: number): number {
    this.#refresh();
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

  /** Says that a leaf has changed. */
  changed(leaf: number): void {
    const node = leaf >> FAN_OUT_BITS;
    if (this.#isStale[node] !== 0) return;
    this.#isStale[node] = 1;
    this.#stale[this.#staleCount++] = node;
  }

  /** Says that leaves that lie side by side have changed. */
  changedRange(first: number, last: number): void {
    const end = (last >> FAN_OUT_BITS) + 1;
    for (let node = first >> FAN_OUT_BITS; node < end; node++) {
      this.changed(node << FAN_OUT_BITS);
    }
  }

  /** Computes what is above leaves that have changed, each node once. */
  #refresh(): void {
    let count = this.#staleCount;
    if (count === 0) return;
    this.#staleCount = 0;
    const stale = this.#stale, isStale = this.#isStale, starts = this.#starts;
    for (let i = 0; i < count; i++) {
      this.#sumLeaves(stale[i]);
      isStale[stale[i]] = 0;
    }
    for (let level = 2; level < starts.length; level++) {
      const flags = starts[level] - starts[1];
      let parents = 0;
      for (let i = 0; i < count; i++) {
        const parent = stale[i] >> FAN_OUT_BITS;
        if (isStale[flags + parent] !== 0) continue;
        isStale[flags + parent] = 1;
        stale[parents++] = parent;
      }
      count = parents;
      for (let i = 0; i < count; i++) {
        this.#sumNodes(level, stale[i]);
        isStale[flags + stale[i]] = 0;
      }
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
