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

/**
 * Draws each row as likely as any other, with replacement.
 *
 * @example
 * ```ts
 * import { ReplayBuffer, UniformSampler } from "@bellman/buffers";
 * import { assertEquals } from "@std/assert";
 *
 * const buffer = new ReplayBuffer({
 *   capacity: 3,
 *   fields: { x: { shape: [], dtype: "int32" } },
 *   sampler: new UniformSampler(),
 * });
 * buffer.addBatch({ x: [5, 6, 7] }, 3);
 * const random = { integer: (n: number) => n >> 1, uniform: () => 0.5 };
 * assertEquals(buffer.sample(random, { size: 2 }).x, Int32Array.of(6, 6));
 * ```
 */
export class UniformSampler implements Sampler {
  /** Does nothing: all rows are as likely. */
  added(): void {}

  /** Does nothing: all rows are as likely. */
  removed(): void {}

  /**
   * Draws rows.
   *
   * @param drawn Takes slots, and weights of 1.
   * @param context The rows and the randomness.
   * @throws {RangeError} If there is no row.
   */
  draw({ slots, weights }: Drawn, { rows, random }: DrawContext): void {
    if (rows.length === 0) {
      throw new RangeError(
        `Cannot sample ${slots.length} rows as the buffer holds 0`,
      );
    }
    drawRows(slots, rows.length, random);
    if (rows.first > 0) countFrom(slots, rows);
    weights.fill(1);
  }

  /**
   * Saves nothing: it draws anew each time.
   *
   * @returns Plain data.
   */
  save(): Record<string, StateTree> {
    return {};
  }

  /** Restores nothing: it draws anew each time. */
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
