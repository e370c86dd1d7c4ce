import { checkOptions, NUMBER } from "@bellman/files/options";
import type { StateTree } from "@bellman/types";
import { foreignState } from "../fields.ts";
import type {
  DrawContext,
  Drawn,
  Random,
  RowRange,
  Sampler,
} from "./sampler.ts";

/** Options of prioritized sampling. */
export interface PrioritizationOptions {
  /**
   * Exponent of the priorities: 0 samples uniformly.
   *
   * @default 0.6
   */
  readonly alpha?: number;
  /**
   * Exponent of the importance weights: 0 corrects none of the bias, 1 all of it.
   *
   * @default 0.4
   */
  readonly beta?: number;
}

/**
 * Prioritized sampler. Subclasses store priorities and sample.
 *
 * @example
 * ```ts
 * import { type PrioritySampler, RankBasedSampler } from "@bellman/buffers";
 * import { assertEquals } from "@std/assert";
 *
 * const sampler: PrioritySampler = new RankBasedSampler({ alpha: 0.7 });
 * assertEquals(sampler.alpha, 0.7);
 * ```
 */
export abstract class PrioritySampler implements Sampler {
  /**
   * A slot with the largest of the kept numbers; -1 where none is known. Rows that are
   * added between two draws then need no sums, which take a microsecond.
   */
  #largestAt = -1;
  readonly #generations = new Generations();
  #masses = new Float64Array(0);
  #alpha: number;
  #beta: number;

  /**
   * Creates a sampler without slots; see {@link resize}.
   *
   * @param options Exponents.
   * @throws {RangeError} If an exponent is below 0 or not finite.
   */
  constructor(options: PrioritizationOptions = {}) {
    checkOptions("a sampler", options, { alpha: NUMBER, beta: NUMBER });
    const { alpha = 0.6, beta = 0.4 } = options;
    checkExponent("alpha", alpha);
    checkExponent("beta", beta);
    this.#alpha = alpha;
    this.#beta = beta;
  }

  /** Exponent of the importance weights; may change between samples. */
  get beta(): number {
    return this.#beta;
  }

  set beta(beta: number) {
    checkExponent("beta", beta);
    this.#beta = beta;
  }

  /** Exponent of the priorities. */
  get alpha(): number {
    return this.#alpha;
  }

  /**
   * Resizes the sampler; existing slots keep their priorities.
   *
   * @param capacity New number of slots.
   */
  resize(capacity: number): void {
    this.rebuild(this.kept.subarray(0, capacity), capacity);
    this.#largestAt = -1;
    this.#generations.resize(capacity);
  }

  /**
   * Makes slots available, with the largest existing priority, or 1.
   *
   * @param first The first of them.
   * @param count Number of consecutive slots.
   */
  added(first: number, count: number): void {
    const at = this.#largestAt;
    const largest = at < 0 ? this.largest : this.kept[at];
    this.fill(largest || this.keptOf(1), first, count);
    if (count > 0) this.#largestAt = first;
    this.#generations.replace(first, count);
  }

  /**
   * Makes slots unavailable.
   *
   * @param first The first of them.
   * @param count Number of consecutive slots.
   */
  removed(first: number, count: number): void {
    const at = this.#largestAt;
    if (at >= first && at < first + count) this.#largestAt = -1;
    this.fill(0, first, count);
  }

  /**
   * Updates priorities. Unavailable slots are ignored and, if `slots` is the array of a
   * sampled batch itself, those whose rows were replaced since then.
   *
   * @param slots Slots; for duplicates the last priority counts.
   * @param priorities A number above 0 for each.
   * @throws {RangeError} If the lengths differ, there is no such slot, or a
   * priority is not finite and above 0; nothing is changed then.
   */
  updatePriorities(
    slots: ArrayLike<number>,
    priorities: ArrayLike<number>,
  ): void {
    const { kept } = this;
    checkPriorities(slots, priorities, kept.length);
    const replaced = this.#generations.replaced(slots);
    let at = this.#largestAt;
    for (let i = 0; i < slots.length; i++) {
      const before = kept[slots[i]];
      if (before === 0 || replaced(i)) continue;
      const after = this.keptOf(priorities[i]);
      this.fill(after, slots[i], 1);
      if (slots[i] === at) {
        if (after < before) at = -1;
      } else if (at >= 0 && after > kept[at]) at = slots[i];
    }
    this.#largestAt = at;
  }

  /**
   * Samples rows by priority.
   *
   * @param drawn Arrays to fill with slots and weights.
   * @param context Rows and random stream.
   * @throws {RangeError} If there is no row that can be drawn.
   */
  draw(drawn: Drawn, { rows, random }: DrawContext): void {
    const total = this.massOf(rows), { slots } = drawn;
    if (total === 0) {
      throw new RangeError(
        `Cannot sample ${slots.length} rows as there is none that can be drawn`,
      );
    }
    this.choose(this.#drawMasses(slots.length, total, random), drawn);
    this.#generations.remember(slots);
  }

  /**
   * Saves priorities and alpha.
   *
   * @returns Plain data, owned by the caller.
   */
  save(): Record<string, StateTree> {
    return {
      alpha: this.#alpha,
      [this.keptName]: this.kept.slice(),
    };
  }

  /**
   * Restores what {@link save} returned, bit for bit.
   *
   * @param state Plain data; copied.
   * @throws {TypeError} If it is not such a state.
   * @throws {RangeError} If it has more slots, or other numbers than priorities.
   */
  load(state: StateTree): void {
    const saved = (state ?? {}) as Record<string, unknown>;
    const { alpha, [this.keptName]: kept } = saved;
    if (!(typeof alpha === "number" && alpha >= 0 && alpha < Infinity)) {
      throw foreignState(`a sampler with alpha ${alpha}`);
    }
    if (!(kept instanceof Float64Array)) {
      throw foreignState(`a sampler without '${this.keptName}'`);
    }
    const { length } = this.kept;
    if (kept.length > length) {
      throw new RangeError(
        `Cannot load a sampler of ${kept.length} slots into one of ${length}`,
      );
    }
    this.rebuild(kept, length);
    this.#alpha = alpha;
    this.#largestAt = -1;
    this.#generations.replaceAll();
  }

  /** A number for each slot; 0 where it cannot be drawn. */
  protected abstract readonly kept: Float64Array;

  /** Name that these numbers are saved under. */
  protected abstract readonly keptName: string;

  /** Makes room for so many slots, and takes over checked numbers of the first. */
  protected abstract rebuild(kept: Float64Array, capacity: number): void;

  /** The largest of these numbers; 0 where there is none. */
  protected abstract readonly largest: number;

  /** Turns a priority above 0 into such a number. */
  protected abstract keptOf(priority: number): number;

  /** Gives slots side by side such a number, or 0 where they cannot be drawn. */
  protected abstract fill(kept: number, first: number, count: number): void;

  /** Sums the probability of all rows, in any unit; 0 where there is none. */
  protected abstract massOf(rows: RowRange): number;

  /** Finds and weighs the slot at each place in the summed probability. */
  protected abstract choose(masses: Float64Array, drawn: Drawn): void;

  /** Draws places in the summed probability of all rows, valid until the next call. */
  #drawMasses(count: number, total: number, random: Random): Float64Array {
    if (this.#masses.length !== count) this.#masses = new Float64Array(count);
    const masses = this.#masses;
    for (let i = 0; i < count; i++) {
      masses[i] = (random.uniform() + i) * total / count;
    }
    return masses;
  }
}

/** Throws unless an exponent is finite and not below 0. */
function checkExponent(name: string, value: number): void {
  if (value >= 0 && value < Infinity) return;
  throw new RangeError(
    `Cannot prioritize with ${name} ${value}: expected a number of at least 0`,
  );
}

/** Throws unless each slot exists and has a priority that is finite and above 0. */
function checkPriorities(
  slots: ArrayLike<number>,
  priorities: ArrayLike<number>,
  capacity: number,
): void {
  if (slots.length !== priorities.length) {
    throw new RangeError(
      `Cannot update the priorities of ${slots.length} slots with ${priorities.length}: expected as many`,
    );
  }
  for (let i = 0; i < slots.length; i++) {
    const slot = slots[i];
    if (!(slot >= 0 && slot < capacity && Number.isInteger(slot))) {
      throw new RangeError(
        `Cannot update the priority of slot ${slot}: expected 0 to ${
          capacity - 1
        }`,
      );
    }
    if (!(priorities[i] > 0 && priorities[i] < Infinity)) {
      throw new RangeError(
        `Cannot update the priority of slot ${slot} to ${
          priorities[i]
        }: expected a finite number above 0`,
      );
    }
  }
}

/** Slots of a batch, and their generations at the draw. */
interface Snapshot {
  readonly slots: Int32Array;
  readonly generations: Uint8Array;
}

/**
 * Finds rows that were replaced since they were drawn: each slot counts, in one
 * byte, how often it got a new row. (A row that was replaced a
 * multiple of 256 times passes for the same.)
 */
class Generations {
  #generations = new Uint8Array(0);
  /** By the caller's array of slots that a batch was drawn into. */
  readonly #drawn = new WeakMap<object, Snapshot>();

  /** Makes room for slots. */
  resize(capacity: number): void {
    const generations = new Uint8Array(capacity);
    generations.set(this.#generations.subarray(0, capacity));
    this.#generations = generations;
  }

  /** Notes that slots have new rows. */
  replace(first: number, count: number): void {
    const end = first + count;
    for (let slot = first; slot < end; slot++) this.#generations[slot]++;
  }

  /** Notes that all slots may have new rows. */
  replaceAll(): void {
    this.replace(0, this.#generations.length);
  }

  /** Remembers the rows of a batch as long as its slots are in this array. */
  remember(slots: Int32Array): void {
    let snapshot = this.#drawn.get(slots);
    if (snapshot === undefined) {
      const generations = new Uint8Array(slots.length);
      snapshot = { slots: new Int32Array(slots.length), generations };
      this.#drawn.set(slots, snapshot);
    }
    snapshot.slots.set(slots);
    for (let i = 0; i < slots.length; i++) {
      snapshot.generations[i] = this.#generations[slots[i]];
    }
  }

  /**
   * Returns a test of each place in an array of slots: true where its row was
   * replaced since it was drawn. Rows of other arrays pass for the same.
   */
  replaced(slots: ArrayLike<number>): (i: number) => boolean {
    const snapshot = this.#drawn.get(slots);
    if (snapshot === undefined) return () => false;
    const { slots: drawn, generations } = snapshot;
    return (i) =>
      drawn[i] === slots[i] && generations[i] !== this.#generations[slots[i]];
  }
}
