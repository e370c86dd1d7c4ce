import {
  checkOptions,
  FLAG,
  NUMBER,
  type OptionKinds,
  TEXT,
} from "@bellman/files/options";
import {
  type PrioritizationOptions,
  PrioritySampler,
} from "./priority_sampler.ts";
import type { Drawn, RowRange } from "./sampler.ts";
import { MAX_LEAF, SumTree } from "./sum_tree.ts";

/** Options of a {@linkcode ProportionalSampler}. */
export interface ProportionalSamplerOptions extends PrioritizationOptions {
  /**
   * Exclude the row in the highest slot, unless it is the only one, as
   * `deepq/replay_buffer.py` of OpenAI's baselines does. For comparisons only.
   *
   * @default false
   */
  readonly excludeLast?: boolean;
  /**
   * Normalization of importance weights, so that the largest is 1: over the batch, as
   * in Dopamine and dqn_zoo, or over the whole buffer, as in OpenAI's baselines. There
   * a single row with a tiny priority makes all other weights tiny, and each sample is
   * slower: for comparisons only.
   *
   * @default "batch"
   */
  readonly weightsOver?: "batch" | "buffer";
}

const OPTIONS: OptionKinds<ProportionalSamplerOptions> = {
  alpha: NUMBER,
  beta: NUMBER,
  excludeLast: FLAG,
  weightsOver: TEXT,
};

/**
 * Samples row `i` with probability `p_i^alpha / sum_j p_j^alpha`, where `p` are
 * priorities, with the importance weight `(N P(i))^-beta` over the largest of the
 * batch. New rows get the largest existing priority, so that each is likely to be
 * sampled soon.
 *
 * Priorities are in a {@linkcode SumTree}, about 10 bytes for each row. Changing one
 * takes constant time, sampling a row logarithmic time; sums are updated at the next
 * sample.
 *
 * Source: Schaul et al., "Prioritized Experience Replay", 2016, section 3.3, the
 * proportional variant.
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
  readonly #weightsOver: "batch" | "buffer";
  /** Name of the priorities in a saved state. */
  protected override readonly keptName = "leaves";
  #tree = new SumTree(1);

  /**
   * Makes a sampler without slots, which {@link resize} gives it.
   *
   * @param options Exponents, whether the last row is left out, and the weights.
   * @throws {RangeError} If an exponent is below 0 or not finite.
   * @throws {TypeError} If weights are over something else.
   */
  constructor(options: ProportionalSamplerOptions = {}) {
    const given = checkOptions("a sampler", options, OPTIONS);
    const { excludeLast = false, weightsOver = "batch", ...exponents } = given;
    super(exponents);
    if (weightsOver !== "batch" && weightsOver !== "buffer") {
      throw new TypeError(
        `Cannot divide weights by the largest of '${weightsOver}': expected 'batch' or 'buffer'`,
      );
    }
    this.#excludeLast = excludeLast;
    this.#weightsOver = weightsOver;
  }

  /** Sums the leaves that there is room for. */
  protected override rebuild(leaves: Float64Array, capacity: number): void {
    const tree = new SumTree(capacity);
    tree.load(leaves);
    this.#tree = tree;
  }

  /** Priorities to the power of alpha. */
  protected override get kept(): Float64Array {
    return this.#tree.leaves;
  }

  /** The largest leaf. */
  protected override get largest(): number {
    return this.#tree.max;
  }

  /** Never 0, which would be a slot that cannot be drawn, nor more than a leaf may be. */
  protected override keptOf(priority: number): number {
    const leaf = priority ** this.alpha;
    return Math.min(Math.max(leaf, Number.MIN_VALUE), MAX_LEAF);
  }

  /** Sets the leaves of slots side by side. */
  protected override fill(leaf: number, first: number, count: number): void {
    if (count === 1) this.#tree.set(first, leaf);
    else this.#tree.fill(leaf, { first, end: first + count });
  }

  /** Leaves out the last row's leaf where that is wanted. */
  protected override massOf(rows: RowRange): number {
    const { total, leaves } = this.#tree;
    const last = this.#excludeLast && total > 0 ? lastLeaf(leaves, rows) : 0;
    return total > last ? total - last : total;
  }

  /** The number of rows and the sum of the leaves cancel out in weights. */
  protected override choose(
    masses: Float64Array,
    { slots, weights }: Drawn,
  ): void {
    this.#tree.findMany(masses, slots);
    const { leaves } = this.#tree;
    let min = Infinity;
    if (this.#weightsOver === "buffer") min = this.#tree.min;
    else for (const slot of slots) if (leaves[slot] < min) min = leaves[slot];
    for (let i = 0; i < slots.length; i++) {
      weights[i] = (min / leaves[slots[i]]) ** this.beta;
    }
  }
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
