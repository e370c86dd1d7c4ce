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

/**
 * Rows of one ring of several that may be drawn: slots `base + first`,
 * `base + first + 1`, ..., where what is added to `base` is modulo `capacity`.
 */
export interface RingRange extends RowRange {
  /** The ring's first slot. */
  readonly base: number;
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
  /**
   * Only where several writers have a ring each: the rows of every ring; `rows`
   * then counts all of them.
   */
  readonly parts?: readonly RingRange[];
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
