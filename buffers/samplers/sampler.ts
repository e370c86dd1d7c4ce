import { checkOptions, FLAG } from "@bellman/files/options";
import type { RandomSource, StateTree } from "@bellman/types";

/** Random stream of samples. */
export type Random = Pick<RandomSource, "integer" | "uniform">;

/** Rows that can be sampled: slots `first`, `first + 1`, ... modulo `capacity`. */
export interface RowRange {
  /** Slot of the oldest row. */
  readonly first: number;
  /** Number of rows. */
  readonly length: number;
  /** Number of slots. */
  readonly capacity: number;
}

/** Slots and weights of a batch. */
export interface Drawn {
  /** Slots of the sampled rows. */
  readonly slots: Int32Array;
  /** Importance weights of the rows; 1 for uniform sampling. */
  readonly weights: Float32Array;
}

/** Rows to sample from, and random stream. */
export interface DrawContext {
  /** Rows that can be sampled. */
  readonly rows: RowRange;
  /** Random stream. */
  readonly random: Random;
}

/**
 * Sampler: chooses the rows of a batch. A buffer tells it which slots are available;
 * uniform sampling only needs the range of rows.
 */
export interface Sampler {
  /**
   * Called when slots become available; their former rows were removed.
   *
   * @param first The first of them.
   * @param count Number of consecutive slots, without a wrap.
   */
  added(first: number, count: number): void;
  /**
   * Called when slots become unavailable: replaced, or only kept as history of other
   * rows.
   *
   * @param first The first of them.
   * @param count Number of consecutive slots, without a wrap.
   */
  removed(first: number, count: number): void;
  /**
   * Samples rows: fills `drawn.slots` and `drawn.weights`.
   *
   * @param drawn Arrays to fill.
   * @param context Rows and random stream.
   * @throws {RangeError} If it cannot draw that many.
   */
  draw(drawn: Drawn, context: DrawContext): void;
  /**
   * Called with the number of slots before the first row and whenever it grows.
   *
   * @param capacity New number of slots.
   */
  resize?(capacity: number): void;
  /**
   * Saves its state.
   *
   * @returns Plain data.
   */
  save(): StateTree;
  /**
   * Restores a saved state. One that does not fit changes nothing.
   *
   * @param state Plain data; copied.
   * @throws {TypeError} If it is not such a state.
   * @throws {RangeError} If its sizes differ.
   */
  load(state: StateTree): void;
}

/** Options of a {@linkcode UniformSampler}. */
export interface UniformSamplerOptions {
  /**
   * Sample with replacement, so that a row may occur more than once in a batch.
   *
   * @default true
   */
  readonly replacement?: boolean;
}

/**
 * Samples uniformly. Without replacement it needs time and memory in proportion to the
 * batch, not to the buffer.
 *
 * @example
 * ```ts
 * import { ReplayBuffer, UniformSampler } from "@bellman/buffers";
 * import { assertEquals, assertThrows } from "@std/assert";
 *
 * const buffer = new ReplayBuffer({
 *   capacity: 3,
 *   fields: { x: { shape: [], dtype: "int32" } },
 *   sampler: new UniformSampler({ replacement: false }),
 * });
 * buffer.addBatch({ x: [5, 6, 7] }, 3);
 * const random = { integer: (n: number) => n >> 1, uniform: () => 0 };
 * const { x } = buffer.sample(random, { size: 3 });
 * assertEquals(x.toSorted(), Int32Array.of(5, 6, 7));
 * assertThrows(() => buffer.sample(random, { size: 4 }), RangeError);
 * ```
 */
export class UniformSampler implements Sampler {
  readonly #shuffle: SparseShuffle | undefined;

  /**
   * Makes a sampler.
   *
   * @param options Drawing with or without replacement.
   */
  constructor(options: UniformSamplerOptions = {}) {
    const kinds = { replacement: FLAG };
    const { replacement = true } = checkOptions("a sampler", options, kinds);
    if (!replacement) this.#shuffle = new SparseShuffle();
  }

  /** Does nothing: sampling is uniform. */
  added(): void {}

  /** Does nothing: sampling is uniform. */
  removed(): void {}

  /**
   * Samples rows.
   *
   * @param drawn Arrays to fill with slots, and weights of 1.
   * @param context Rows and random stream.
   * @throws {RangeError} If there is no row, or without replacement fewer than
   * are drawn.
   */
  draw({ slots, weights }: Drawn, { rows, random }: DrawContext): void {
    const least = this.#shuffle === undefined ? 1 : slots.length;
    if (rows.length < least) {
      throw new RangeError(
        `Cannot sample ${slots.length} rows as the buffer holds ${rows.length}`,
      );
    }
    if (this.#shuffle !== undefined) {
      this.#shuffle.draw(slots, rows.length, random);
    } else {
      drawRows(slots, rows.length, random);
    }
    if (rows.first > 0) countFrom(slots, rows);
    weights.fill(1);
  }

  /**
   * Saves nothing: it has no state.
   *
   * @returns Plain data.
   */
  save(): Record<string, StateTree> {
    return {};
  }

  /** Restores nothing: it has no state. */
  load(): void {}
}

/** Draws rows by uniform numbers, which take no division, and are as even to 22 bits. */
function drawRows(rows: Int32Array, length: number, random: Random): void {
  for (let i = 0; i < rows.length; i++) {
    rows[i] = Math.min(length - 1, Math.floor(random.uniform() * length));
  }
}

/** Turns row numbers into slots. */
function countFrom(
  slots: Int32Array,
  { first, capacity }: RowRange,
): void {
  for (let i = 0; i < slots.length; i++) {
    const slot = first + slots[i];
    slots[i] = slot < capacity ? slot : slot - capacity;
  }
}

/**
 * Draws different numbers below a large one: the first steps of a Fisher-Yates
 * shuffle of all of them, of which only those that were moved are noted, in a
 * hash table of a size by how many are drawn.
 */
class SparseShuffle {
  /** Places of moved numbers; -1 for a free entry. */
  #places = new Int32Array(0);
  /** The numbers at these places. */
  #numbers = new Int32Array(0);

  /** Fills an array with different numbers below `n`, in random order. */
  draw(numbers: Int32Array, n: number, random: Random): void {
    this.#clear(numbers.length);
    for (let i = 0; i < numbers.length; i++) {
      const place = i + random.integer(n - i);
      const entry = this.#find(place);
      const isMoved = this.#places[entry] === place;
      numbers[i] = isMoved ? this.#numbers[entry] : place;
      const own = this.#find(i);
      const moved = this.#places[own] === i ? this.#numbers[own] : i;
      this.#places[entry] = place;
      this.#numbers[entry] = moved;
    }
  }

  #clear(count: number): void {
    if (this.#places.length < 2 * count) {
      const size = 2 ** Math.ceil(Math.log2(2 * count));
      this.#places = new Int32Array(size);
      this.#numbers = new Int32Array(size);
    }
    this.#places.fill(-1);
  }

  /** Finds the entry of a place, or the free one where it belongs. */
  #find(place: number): number {
    const mask = this.#places.length - 1;
    // Multiplied by 2^32 over the golden ratio, close places lie apart.
    let entry = (Math.imul(place, 0x9e3779b1) >>> 8) & mask;
    while (this.#places[entry] !== -1 && this.#places[entry] !== place) {
      entry = (entry + 1) & mask;
    }
    return entry;
  }
}
