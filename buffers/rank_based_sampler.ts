import { Generations } from "./_generations.ts";
import {
  checkDrawable,
  checkExponent,
  checkPriorities,
  Masses,
  prioritization,
  savedNumber,
  savedNumbers,
} from "./_prioritization.ts";
import { RankDistribution } from "./_rank_distribution.ts";
import { Ranking } from "./_ranking.ts";
import type {
  PrioritizationOptions,
  PrioritySampler,
} from "./priority_sampler.ts";
import type { DrawContext, Drawn, SamplerState } from "./sampler.ts";

/**
 * Draws the row with the `r`-th largest priority with probability
 * `r^-alpha / sum_j j^-alpha`, and gives it the weight `(N P(r))^-beta` over the
 * largest such weight. How much larger a priority is than another does not
 * matter, so that outliers do no harm. New rows get the largest priority so far.
 *
 * Ranks are always exact, where the paper lets a heap stand in for the sorted
 * array; of equal priorities the lower slot comes first. A new priority is put
 * in its place by bisection, and a rank is drawn in closed form; it takes about 15
 * bytes for each row in all.
 *
 * Source: Schaul et al., "Prioritized Experience Replay", 2016, section 3.3,
 * the rank-based variant.
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
export class RankBasedSampler implements PrioritySampler {
  readonly #options: Required<PrioritizationOptions>;
  readonly #masses: Masses;
  readonly #generations = new Generations();
  #ranking = new Ranking(0);
  #distribution: RankDistribution;
  #maxPriority = 1;
  #alpha: number;
  #beta: number;

  /**
   * Makes a sampler; whoever uses it gives it slots with {@link resize}.
   *
   * @param options How it draws.
   * @throws {RangeError} If an exponent is below 0 or not finite.
   * @throws {TypeError} If weights are to be relative to something else.
   */
  constructor(options: PrioritizationOptions = {}) {
    this.#options = prioritization(options);
    this.#masses = new Masses(this.#options);
    this.#alpha = this.#options.alpha;
    this.#beta = this.#options.beta;
    this.#distribution = new RankDistribution(this.#alpha);
  }

  /** How much the importance weights make up for; each draw may have another. */
  get beta(): number {
    return this.#beta;
  }

  set beta(beta: number) {
    checkExponent("beta", beta);
    this.#beta = beta;
  }

  /** How much priorities count; each draw may have another. */
  get alpha(): number {
    return this.#alpha;
  }

  set alpha(alpha: number) {
    checkExponent("alpha", alpha);
    if (alpha === this.#alpha) return;
    this.#alpha = alpha;
    this.#distribution = new RankDistribution(alpha);
  }

  /** The largest priority so far, that new rows get; 1 at first. */
  get maxPriority(): number {
    return this.#maxPriority;
  }

  /**
   * Makes room for slots; those that there are keep their priorities.
   *
   * @param capacity Slots from now on.
   */
  resize(capacity: number): void {
    const ranking = new Ranking(capacity);
    ranking.load(this.#ranking.priorities.subarray(0, capacity));
    this.#ranking = ranking;
    this.#generations.resize(capacity);
  }

  /**
   * Lets slots be drawn, with the largest priority so far.
   *
   * @param first The first of them.
   * @param count How many, side by side.
   */
  added(first: number, count: number): void {
    this.#fill(this.#maxPriority, first, count);
    this.#generations.replace(first, count);
  }

  /**
   * Lets slots no longer be drawn.
   *
   * @param first The first of them.
   * @param count How many, side by side.
   */
  removed(first: number, count: number): void {
    this.#fill(0, first, count);
  }

  #fill(priority: number, first: number, count: number): void {
    for (let slot = first; slot < first + count; slot++) {
      this.#ranking.set(slot, priority);
    }
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
  updatePriorities(
    slots: ArrayLike<number>,
    priorities: ArrayLike<number>,
  ): void {
    const ranking = this.#ranking;
    checkPriorities(slots, priorities, ranking.priorities.length);
    const replaced = this.#generations.replaced(slots);
    for (let i = 0; i < slots.length; i++) {
      if (ranking.priorities[slots[i]] === 0 || replaced(i)) continue;
      ranking.set(slots[i], priorities[i]);
      this.#maxPriority = Math.max(this.#maxPriority, priorities[i]);
    }
  }

  /**
   * Draws rows by the ranks of their priorities.
   *
   * @param drawn Takes slots and weights.
   * @param context The randomness.
   * @throws {RangeError} If there is no row that can be drawn.
   */
  draw({ slots, weights }: Drawn, { random }: DrawContext): void {
    const { length } = this.#ranking;
    checkDrawable(slots.length, length > 0);
    const total = this.#distribution.total(length);
    const masses = this.#masses.draw(slots.length, { total, random });
    let lowest = this.#options.weightsRelativeTo === "buffer" ? length : 1;
    for (let i = 0; i < slots.length; i++) {
      const rank = this.#distribution.find(masses[i], length);
      slots[i] = this.#ranking.at(rank - 1);
      masses[i] = rank; // The mass itself has served.
      if (rank > lowest) lowest = rank;
    }
    // The lowest rank has the largest weight; numbers and sums cancel out.
    const exponent = this.#alpha * this.#beta;
    for (let i = 0; i < slots.length; i++) {
      weights[i] = (masses[i] / lowest) ** exponent;
    }
    this.#generations.remember(slots);
  }

  /**
   * Priorities, alpha and the largest priority so far.
   *
   * @returns Plain data, owned by the caller.
   */
  save(): SamplerState {
    return {
      alpha: this.#alpha,
      maxPriority: this.#maxPriority,
      priorities: this.#ranking.priorities.slice(),
    };
  }

  /**
   * Continues from what {@link save} gave, bit for bit.
   *
   * @param state Plain data; copied.
   * @throws {TypeError} If it is not such a state.
   * @throws {RangeError} If it has more slots, or other numbers than priorities.
   */
  load(state: SamplerState): void {
    const alpha = savedNumber(state, "alpha", (it) => it >= 0 && it < Infinity);
    const max = savedNumber(state, "maxPriority", (it) => it > 0);
    const { length } = this.#ranking.priorities;
    const priorities = savedNumbers(state, "priorities", length);
    const wrong = priorities.find((it) => !(it >= 0 && it < Infinity));
    if (wrong !== undefined) {
      throw new RangeError(
        `Cannot load a sampler with priority ${wrong}: expected finite numbers of at least 0`,
      );
    }
    this.#ranking.load(priorities);
    this.alpha = alpha;
    this.#maxPriority = max;
    this.#generations.replaceAll();
  }
}
