import {
  checkDrawable,
  checkPriorities,
  type PrioritizationOptions,
  PrioritySampler,
} from "./priorities.ts";
import type { DrawContext, Drawn, RowRange } from "./sampler.ts";
import { SumTree } from "./sum_tree.ts";

/** Options of a {@linkcode ProportionalSampler}. */
export interface ProportionalSamplerOptions extends PrioritizationOptions {
  /**
   * True to leave out the row in the highest slot, unless it is the only one, as
   * `deepq/replay_buffer.py` of OpenAI's baselines does. For comparisons only.
   *
   * @default false
   */
  readonly excludeLast?: boolean;
}

/**
 * Draws row `i` with probability `p_i^alpha / sum_j p_j^alpha`, where `p` are
 * priorities, and gives it the weight `(N P(i))^-beta` over the largest such
 * weight. New rows get the largest priority so far, so that each is likely to
 * be drawn soon.
 *
 * Priorities are kept in a {@linkcode SumTree}, about 10 bytes for each row in
 * all. Changing one takes constant time, drawing a row logarithmic time; the sums
 * above what has changed are computed at the next draw.
 *
 * Source: Schaul et al., "Prioritized Experience Replay", 2016, section 3.3,
 * the proportional variant.
 *
 * @example
 * ```ts
 * import { ProportionalSampler } from "@bellman/buffers";
 * import { assertEquals } from "@std/assert";
 *
 * const sampler = new ProportionalSampler({ alpha: 1, beta: 1 });
 * sampler.resize(4);
 * sampler.added(0, 2);
 * sampler.updatePriorities([0, 1], [1, 3]);
 *
 * const drawn = { slots: new Int32Array(4), weights: new Float32Array(4) };
 * const random = { integer: () => 0, uniform: () => 0.5 };
 * const rows = { first: 0, length: 2, capacity: 4 };
 * sampler.draw(drawn, { rows, random });
 * assertEquals(drawn.slots, Int32Array.of(0, 1, 1, 1));
 * assertEquals(drawn.weights, Float32Array.of(1, 1 / 3, 1 / 3, 1 / 3));
 * ```
 */
export class ProportionalSampler extends PrioritySampler {
  readonly #excludeLast: boolean;
  /** Priorities to the power of alpha; 0 where a slot cannot be drawn. */
  #tree = new SumTree(1);
  #changed = new Float64Array(0);

  /**
   * Makes a sampler without slots, which {@link resize} gives it.
   *
   * @param options Exponents, strata and weights.
   * @throws {RangeError} If an exponent is below 0 or not finite.
   * @throws {TypeError} If weights are to be relative to something else.
   */
  constructor(options: ProportionalSamplerOptions = {}) {
    super(options);
    this.#excludeLast = options.excludeLast ?? false;
  }

  /**
   * Raises all leaves to the new exponent.
   *
   * @throws {RangeError} After an alpha of 0, as then no priorities are known.
   */
  protected override changeAlpha(alpha: number): void {
    if (this.alpha === 0) {
      throw new RangeError(
        `Cannot change alpha to ${alpha}: with an alpha of 0 no priorities are kept`,
      );
    }
    const change = alpha / this.alpha;
    this.#tree.load(
      this.#tree.leaves.map((leaf) => leaf > 0 ? power(leaf, change) : 0),
    );
  }

  /** Sums the leaves that there is room for. */
  protected override makeRoom(capacity: number): void {
    const tree = new SumTree(capacity);
    tree.load(this.#tree.leaves.subarray(0, capacity));
    this.#tree = tree;
  }

  /** Sets the leaves of slots side by side. */
  protected override fill(
    priority: number,
    first: number,
    count: number,
  ): void {
    const leaf = priority > 0 ? power(priority, this.alpha) : 0;
    if (count === 1) this.#tree.set(first, leaf);
    else this.#tree.fill(leaf, { first, end: first + count });
  }

  /**
   * Gives rows new priorities. Slots that cannot be drawn are passed over, and,
   * where `slots` is the very array that a batch was drawn into, those whose rows
   * were replaced since then.
   *
   * @param slots Slots; of one that comes twice the last priority stays.
   * @param priorities A number above 0 for each.
   * @throws {RangeError} If the lengths differ, there is no such slot, or a
   * priority is not finite and above 0; nothing is changed then.
   */
  override updatePriorities(
    slots: ArrayLike<number>,
    priorities: ArrayLike<number>,
  ): void {
    const tree = this.#tree;
    checkPriorities(slots, priorities, tree.capacity);
    const { length } = slots;
    if (this.#changed.length !== length) {
      this.#changed = new Float64Array(length);
    }
    const { leaves } = tree;
    const replaced = this.replaced(slots);
    let max = this.max;
    for (let i = 0; i < length; i++) {
      const leaf = leaves[slots[i]];
      const isKept = leaf === 0 || replaced(i);
      this.#changed[i] = isKept ? leaf : power(priorities[i], this.alpha);
      if (!isKept && priorities[i] > max) max = priorities[i];
    }
    tree.setMany(slots, this.#changed);
    this.max = max;
  }

  /**
   * Draws rows by their priorities.
   *
   * @param drawn Takes slots and weights.
   * @param context The rows and the randomness.
   * @throws {RangeError} If there is no row that can be drawn.
   */
  override draw(
    { slots, weights }: Drawn,
    { rows, random }: DrawContext,
  ): void {
    const tree = this.#tree;
    checkDrawable(slots.length, tree.total > 0);
    const total = this.#excludeLast
      ? tree.total - lastLeaf(tree.leaves, rows)
      : tree.total;
    tree.findMany(this.drawMasses(slots.length, { total, random }), slots);
    this.#weigh(slots, weights);
    this.remember(slots);
  }

  /** The number of rows and the sum of the leaves cancel out. */
  #weigh(slots: Int32Array, weights: Float32Array): void {
    const { leaves } = this.#tree;
    let { min } = this.#tree;
    if (this.weightsRelativeTo === "batch") {
      min = Infinity;
      for (const slot of slots) min = Math.min(min, leaves[slot]);
    }
    for (let i = 0; i < slots.length; i++) {
      weights[i] = (min / leaves[slots[i]]) ** this.beta;
    }
  }

  /** Leaves by slot. */
  protected override get kept(): { name: string; values: Float64Array } {
    return { name: "leaves", values: this.#tree.leaves };
  }

  /** Sums saved leaves. */
  protected override restore(values: Float64Array): void {
    this.#tree.load(values);
  }
}

/** Never 0, which would be a slot that cannot be drawn. */
function power(priority: number, exponent: number): number {
  return Math.max(priority ** exponent, Number.MIN_VALUE);
}

/** Returns the leaf of the drawable row in the highest slot. */
function lastLeaf(
  leaves: Float64Array,
  { first, length, capacity }: RowRange,
): number {
  let slot = Math.min(first + length, capacity) - 1;
  while (leaves[slot] === 0) slot--;
  return leaves[slot];
}
