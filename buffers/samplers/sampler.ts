import type { RandomSource, StateTree } from "@bellman/types";

/** Random stream that samples are drawn from. */
export type Random = Pick<RandomSource, "integer" | "uniform">;

/**
 * Rows that may be drawn: slots `first`, `first + 1`, ... modulo `capacity`.
 */
export interface RowRange {
  /** The oldest row's slot. */
  readonly first: number;
  /** Number of rows. */
  readonly length: number;
  /** Slots until they begin again at the first. */
  readonly capacity: number;
}

/** Slots and weights that a {@linkcode Sampler} fills. */
export interface Drawn {
  /** A slot for each row that is drawn. */
  readonly slots: Int32Array;
  /** Importance weights of the rows; all 1 where each row is as likely. */
  readonly weights: Float32Array;
}

/** Rows and randomness that a {@linkcode Sampler} draws from. */
export interface DrawContext {
  /** Rows that may be drawn. */
  readonly rows: RowRange;
  /** Random stream. */
  readonly random: Random;
}

/**
 * Chooses the rows of a batch. A buffer tells it which slots can be drawn;
 * sampling that treats all rows alike needs only the range that each draw is
 * given.
 */
export interface Sampler {
  /**
   * Slots became drawable; what they held before was removed.
   *
   * @param first The first of them.
   * @param count Number of slots; they follow each other without a wrap.
   */
  added(first: number, count: number): void;
  /**
   * Slots stopped being drawable: evicted, or only kept as the history of
   * others.
   *
   * @param first The first of them.
   * @param count Number of slots; they follow each other without a wrap.
   */
  removed(first: number, count: number): void;
  /**
   * Fills all of `drawn.slots` and `drawn.weights`.
   *
   * @param drawn Arrays to fill.
   * @param context Rows to draw from.
   * @throws {RangeError} If it cannot draw that many.
   */
  draw(drawn: Drawn, context: DrawContext): void;
  /**
   * Called with the number of slots before the first row and whenever there are
   * more.
   *
   * @param capacity Slots from now on.
   */
  resize?(capacity: number): void;
  /**
   * Saves what it was told.
   *
   * @returns Plain data, owned by the caller.
   */
  save(): StateTree;
  /**
   * Restores what {@link save} returned. A state that it cannot take changes
   * nothing.
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
   * True where a row may come more than once in a batch.
   *
   * @default true
   */
  readonly replacement?: boolean;
}

/**
 * Draws each row as likely as any other.
 *
 * Without replacement it shuffles no more than it draws, and needs memory for
 * a batch, not for all rows.
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
 * assertEquals((x as Int32Array).toSorted(), Int32Array.of(5, 6, 7));
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
    const { replacement = true } = options;
    if (!replacement) this.#shuffle = new SparseShuffle();
  }

  /** Does nothing: all rows are as likely. */
  added(): void {}

  /** Does nothing: all rows are as likely. */
  removed(): void {}

  /**
   * Draws rows.
   *
   * @param drawn Takes slots, and weights of 1.
   * @param context The rows and the randomness.
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
   * Saves nothing: it draws again each time.
   *
   * @returns Plain data.
   */
  save(): Record<string, StateTree> {
    return {};
  }

  /** Restores nothing: it draws again each time. */
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
