/**
 * The stream that samples are drawn from; `RandomStream` of `@bellman/compute`
 * is one.
 *
 * @example
 * ```ts
 * import type { Random } from "@bellman/buffers";
 * import { assertEquals } from "@std/assert";
 *
 * const alwaysFirst: Random = { integer: () => 0, uniform: () => 0 };
 * assertEquals(alwaysFirst.integer(5), 0);
 * ```
 */
export interface Random {
  /**
   * Draws a whole number.
   *
   * @param n How many there are to choose from.
   * @returns One of 0 to `n - 1`, each as likely.
   */
  integer(n: number): number;
  /**
   * Draws a number from 0 up to and without 1.
   *
   * @returns The number.
   */
  uniform(): number;
}

/**
 * Rows that may be drawn: slots `first`, `first + 1`, ... modulo `capacity`.
 *
 * @example
 * ```ts
 * import type { RowRange } from "@bellman/buffers";
 * import { assertEquals } from "@std/assert";
 *
 * const { first, length, capacity }: RowRange = { first: 3, length: 2, capacity: 4 };
 * const slots = Array.from({ length }, (_, i) => (first + i) % capacity);
 * assertEquals(slots, [3, 0]);
 * ```
 */
export interface RowRange {
  /** The oldest row's slot. */
  readonly first: number;
  /** How many rows there are. */
  readonly length: number;
  /** Slots until they begin again at the first. */
  readonly capacity: number;
}

/**
 * Rows of one ring of several that may be drawn: slots `base + first`,
 * `base + first + 1`, ..., where what is added to `base` is modulo `capacity`.
 *
 * @example
 * ```ts
 * import type { RingRange } from "@bellman/buffers";
 * import { assertEquals } from "@std/assert";
 *
 * const ring: RingRange = { base: 4, first: 3, length: 2, capacity: 4 };
 * const { base, first, length, capacity } = ring;
 * const slots = Array.from({ length }, (_, i) => base + (first + i) % capacity);
 * assertEquals(slots, [7, 4]);
 * ```
 */
export interface RingRange extends RowRange {
  /** The ring's first slot. */
  readonly base: number;
}

/**
 * Where a {@linkcode Sampler} puts what it draws.
 *
 * @example
 * ```ts
 * import type { Drawn } from "@bellman/buffers";
 * import { assertEquals } from "@std/assert";
 *
 * const drawn: Drawn = { slots: new Int32Array(2), weights: new Float32Array(2) };
 * assertEquals(drawn.slots.length, drawn.weights.length);
 * ```
 */
export interface Drawn {
  /** A slot for each row that is drawn. */
  readonly slots: Int32Array;
  /** Importance weights of the rows; all 1 where each row is as likely. */
  readonly weights: Float32Array;
}

/**
 * What a {@linkcode Sampler} draws from.
 *
 * @example
 * ```ts
 * import type { DrawContext } from "@bellman/buffers";
 * import { assertEquals } from "@std/assert";
 *
 * const context: DrawContext = {
 *   rows: { first: 0, length: 10, capacity: 16 },
 *   random: { integer: () => 0, uniform: () => 0 },
 * };
 * assertEquals(context.rows.length, 10);
 * ```
 */
export interface DrawContext {
  /** Rows that may be drawn. */
  readonly rows: RowRange;
  /**
   * Only where several writers have a ring each: the rows of every ring; `rows`
   * then counts all of them.
   */
  readonly parts?: readonly RingRange[];
  /** Where randomness comes from. */
  readonly random: Random;
}

/**
 * Plain data that a sampler saves.
 *
 * @example
 * ```ts
 * import { type SamplerState, UniformSampler } from "@bellman/buffers";
 * import { assertEquals } from "@std/assert";
 *
 * const state: SamplerState = new UniformSampler().save();
 * assertEquals(state, {});
 * ```
 */
export type SamplerState = {
  [name: string]:
    | null
    | boolean
    | number
    | string
    | Float32Array
    | Float64Array
    | Int32Array
    | Uint8Array
    | SamplerState
    | SamplerState[];
};

/**
 * Chooses the rows of a batch. A buffer tells it which slots can be drawn;
 * sampling that treats all rows alike needs only the range that each draw is
 * given.
 *
 * @example
 * ```ts
 * import { ReplayBuffer, type Sampler } from "@bellman/buffers";
 * import { assertEquals } from "@std/assert";
 *
 * const newest: Sampler = {
 *   added() {},
 *   removed() {},
 *   draw({ slots, weights }, { rows: { first, length, capacity } }) {
 *     slots.fill((first + length - 1) % capacity);
 *     weights.fill(1);
 *   },
 *   save: () => ({}),
 *   load() {},
 * };
 * const fields = { x: { shape: [], dtype: "int32" } } as const;
 * const buffer = new ReplayBuffer({ capacity: 4, fields, sampler: newest });
 * buffer.addBatch({ x: [1, 2, 3] }, 3);
 * const random = { integer: () => 0, uniform: () => 0 };
 * assertEquals(buffer.sample(random, { size: 2 }).x, Int32Array.of(3, 3));
 * ```
 */
export interface Sampler {
  /**
   * Slots became drawable; what they held before was removed.
   *
   * @param first The first of them.
   * @param count How many; they follow each other without a wrap.
   */
  added(first: number, count: number): void;
  /**
   * Slots stopped being drawable: evicted, or only kept as the history of
   * others.
   *
   * @param first The first of them.
   * @param count How many; they follow each other without a wrap.
   */
  removed(first: number, count: number): void;
  /**
   * Fills all of `drawn.slots` and `drawn.weights`.
   *
   * @param drawn Where to.
   * @param context What from.
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
   * What it knows.
   *
   * @returns Plain data, owned by the caller.
   */
  save(): SamplerState;
  /**
   * Continues from what {@link save} gave. A state that it cannot take changes
   * nothing.
   *
   * @param state Plain data; copied.
   * @throws {TypeError} If it is not such a state.
   * @throws {RangeError} If its sizes differ.
   */
  load(state: SamplerState): void;
}
