import { SparseShuffle } from "./_sparse_shuffle.ts";
import type {
  DrawContext,
  Drawn,
  Random,
  RingRange,
  RowRange,
  Sampler,
  SamplerState,
} from "./sampler.ts";

/** How a {@linkcode UniformSampler} draws. */
export interface UniformSamplerOptions {
  /**
   * Whether a row may come more than once in a batch.
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
   * @param options Whether rows may come more than once.
   */
  constructor(options: UniformSamplerOptions = {}) {
    const { replacement = true } = options;
    if (!replacement) this.#shuffle = new SparseShuffle();
  }

  /** All rows are as likely: there is nothing to note. */
  added(): void {}

  /** All rows are as likely: there is nothing to note. */
  removed(): void {}

  /**
   * Draws rows.
   *
   * @param drawn Takes slots, and weights of 1.
   * @param context The rows and the randomness.
   * @throws {RangeError} If there is no row, or without replacement fewer than
   * are drawn.
   */
  draw(
    { slots, weights }: Drawn,
    { rows, parts, random }: DrawContext,
  ): void {
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
    if (parts !== undefined) countInParts(slots, parts);
    else if (rows.first > 0) countFrom(slots, rows);
    weights.fill(1);
  }

  /**
   * Nothing: it draws anew each time.
   *
   * @returns Plain data.
   */
  save(): SamplerState {
    return {};
  }

  /** Takes any state: it draws anew each time. */
  load(): void {}
}

/** By a uniform number, which takes no division, and is as even to 22 bits. */
function drawRows(rows: Int32Array, length: number, random: Random): void {
  for (let i = 0; i < rows.length; i++) {
    rows[i] = Math.min(length - 1, Math.floor(random.uniform() * length));
  }
}

/** Makes slots of row numbers. */
function countFrom(
  slots: Int32Array,
  { first, capacity }: RowRange,
): void {
  for (let i = 0; i < slots.length; i++) {
    const slot = first + slots[i];
    slots[i] = slot < capacity ? slot : slot - capacity;
  }
}

/** Makes slots of row numbers that go through several rings. */
function countInParts(
  slots: Int32Array,
  parts: readonly RingRange[],
): void {
  for (let i = 0; i < slots.length; i++) {
    let row = slots[i], part = 0;
    while (row >= parts[part].length) row -= parts[part++].length;
    const { base, first, capacity } = parts[part];
    slots[i] = base + (first + row) % capacity;
  }
}
