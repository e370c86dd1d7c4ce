import {
  type ArrayCheck,
  collect,
  type Fields,
  type FieldValues,
} from "../fields.ts";
import {
  type Random,
  type Sampler,
  UniformSampler,
} from "../samplers/sampler.ts";
import { BatchCache, Gatherer } from "./gatherer.ts";
import type {
  Batch,
  Names,
  ReplayBufferOptions,
  ReplayBufferState,
  Rows,
} from "./options.ts";
import { internals, ReplayMemory, RowWriter } from "./replay_memory.ts";
import { makeReplaySchema } from "./replay_schema.ts";
import type { Ring } from "./rows.ts";

/**
 * Keeps the last rows that were added, and draws batches of them by chance.
 *
 * Each field is one array, allocated once; row numbers (slots) begin again at 0
 * after `capacity`. A row may be independent, or be the step of an episode:
 * then what comes next is stored once, stacks of frames and returns of several
 * steps are put together when they are drawn, and nothing reaches over the end
 * of an episode, be it terminated or truncated. Adding, and drawing into the
 * caller's arrays, makes no new array but a view for each row of 128 numbers or
 * more.
 *
 * A {@linkcode Storage} keeps the rows, a {@linkcode Sampler} chooses among them.
 * TypeScript knows the fields: one that is missing or unknown does not compile, and
 * the array of an int32 field is an `Int32Array`.
 *
 * @typeParam F Fields of a row.
 * @typeParam N Names of values after a step, and their fields.
 *
 * @example
 * ```ts
 * import { ReplayBuffer } from "@bellman/buffers";
 * import { assertEquals } from "@std/assert";
 *
 * const buffer = new ReplayBuffer({
 *   capacity: 1000,
 *   numEnvs: 2,
 *   fields: {
 *     observation: { shape: [], dtype: "float32" },
 *     reward: { shape: [], dtype: "float32" },
 *     terminated: { shape: [], dtype: "uint8" },
 *     truncated: { shape: [], dtype: "uint8" },
 *   },
 *   episodes: { next: { nextObservation: "observation" } },
 * });
 * buffer.add({
 *   observation: [1, 10],
 *   reward: [0.5, 0.25],
 *   terminated: [0, 1],
 *   truncated: [0, 0],
 *   nextObservation: [2, 99], // The second environment's is its final one.
 * });
 * const batch = buffer.gather([1, 0]);
 * assertEquals(batch.observation, Float32Array.of(10, 1));
 * assertEquals(batch.nextObservation, Float32Array.of(99, 2));
 * ```
 */
export class ReplayBuffer<
  const F extends Fields = Fields,
  const N extends Names = Names,
> {
  readonly #memory: ReplayMemory;
  readonly #sampler: Sampler;
  readonly #writer: RowWriter;
  readonly #gatherer: Gatherer;
  readonly #batches: BatchCache;
  readonly #ring: Ring;
  readonly #adding: ArrayCheck;
  /** The arrays of the rows that are added. */
  readonly #values: ArrayLike<number>[] = [];

  /**
   * Allocates the arrays of all fields.
   *
   * @param options Sizes, fields, and how rows are kept and drawn.
   * @throws {RangeError} If a size, a shape or a name does not fit.
   * @throws {TypeError} If a dtype is unknown, or flags and rewards
   * are not single numbers.
   */
  constructor(options: ReplayBufferOptions<F, N>) {
    const { sampler = new UniformSampler() } = options;
    const schema = makeReplaySchema(options);
    const memory = new ReplayMemory(schema, options);
    this.#memory = memory;
    this.#sampler = sampler;
    this.#writer = new RowWriter(memory, sampler);
    this.#gatherer = new Gatherer(schema, memory);
    this.#batches = new BatchCache(schema);
    this.#ring = memory.ring;
    this.#adding = { action: "add", rows: memory.numEnvs };
    internals.set(this, memory);
  }

  /** Rows that fit in. */
  get capacity(): number {
    return this.#ring.capacity;
  }

  /** Streams that are added side by side. */
  get numEnvs(): number {
    return this.#memory.numEnvs;
  }

  /** Rows that may be drawn. */
  get length(): number {
    return this.#ring.length;
  }

  /** Rows that were added since it was made or cleared, those that are gone included. */
  get added(): number {
    return this.#ring.total * this.#ring.numEnvs;
  }

  /** True where each further row takes the place of another. */
  get full(): boolean {
    return this.#ring.held === this.#ring.steps;
  }

  /** Bytes of memory that its rows, and what is stored in addition to them, take up. */
  get byteLength(): number {
    return this.#memory.byteLength;
  }

  /**
   * Adds one step of all streams, one row each; a step that cannot be added
   * changes nothing.
   *
   * A step of an episode must follow the one before: unless that ended its
   * episode, its next values are taken to be the values of this one.
   *
   * @param step For each field, and each name of next values, its numbers
   * `[env, ...shape]`; copied. Next values are the true ones: where an episode
   * ended, those of its end.
   * @throws {RangeError} If an array's length is wrong, a field of integers would hold
   * another number than it is given, or there is no such field.
   * @throws {TypeError} If a field is missing or nested otherwise.
   */
  add(step: Rows<F, N>): void {
    this.#add(step, this.#adding);
  }

  /**
   * Adds rows that follow each other, faster than one by one; rows that cannot
   * be added change nothing.
   *
   * @param rows For each field its numbers `[row, ...shape]`, or, of steps of
   * episodes, `[step, env, ...shape]`; copied.
   * @param count Number of rows: where they are steps of episodes, a multiple of
   * `numEnvs`.
   * @throws {RangeError} If an array has not the numbers of so many rows, a field of
   * integers would hold another number than it is given, or there is no such
   * field.
   * @throws {TypeError} If a field is missing or nested otherwise.
   */
  addBatch(rows: Rows<F, N>, count: number): void {
    this.#checkCount(count);
    this.#add(rows, { action: "add", rows: count });
  }

  #add(values: Rows<F, N>, check: ArrayCheck): void {
    const { root } = this.#memory.schema.added;
    collect(root, values as FieldValues, check, this.#values);
    this.#writer.write(this.#values, check.rows);
  }

  #checkCount(count: number): void {
    const { numEnvs } = this.#ring;
    if (Number.isSafeInteger(count) && count >= 0 && count % numEnvs === 0) {
      return;
    }
    throw new RangeError(
      `Cannot add ${count} rows: expected a whole multiple of ${numEnvs}`,
    );
  }

  /**
   * Allocates arrays to draw into.
   *
   * @param size Rows of the batch.
   * @returns Zeros for each field `[row, ...shape]`, slots, and weights of 1.
   * @throws {RangeError} If the size is not a whole number above 0.
   */
  batch(size: number): Batch<F, N> {
    return this.#batches.make(size) as Batch<F, N>;
  }

  /**
   * Draws rows by chance.
   *
   * @param random Random stream; the same stream gives the same rows.
   * @param options The batch to draw into, or the size of a new one.
   * @returns The batch.
   * @throws {RangeError} If there are no rows, or not enough for the sampler.
   * @throws {TypeError} If the batch is not as {@link batch} makes them.
   */
  sample(
    random: Random,
    options: { readonly size: number } | { readonly into: Batch<F, N> },
  ): Batch<F, N> {
    const batch = "into" in options ? options.into : this.batch(options.size);
    const checked = this.#batches.check(batch as Batch);
    if (this.#ring.length === 0) {
      throw new RangeError(
        `Cannot sample ${batch.slots.length} rows as the buffer holds 0`,
      );
    }
    this.#sampler.draw(checked.drawn, { rows: this.#ring, random });
    this.#gatherer.gather(checked);
    return batch;
  }

  /**
   * Reads rows by their slots, as {@link sample} does after it has drawn them.
   *
   * @param slots Numbers of rows, as in a batch's `slots`.
   * @param into The batch to read into; a new one without it. Its weights stay.
   * @returns The batch, with these slots.
   * @throws {RangeError} If a row is not held, or the batch has another size.
   * @throws {TypeError} If the batch is not as {@link batch} makes them.
   */
  gather(slots: ArrayLike<number>, into?: Batch<F, N>): Batch<F, N> {
    const batch = into ?? this.batch(slots.length);
    const checked = this.#batches.check(batch as Batch);
    if (batch.slots.length !== slots.length) {
      throw new RangeError(
        `Cannot gather ${slots.length} slots into a batch of ${batch.slots.length}: expected as many`,
      );
    }
    for (let i = 0; i < slots.length; i++) this.#checkHeld(slots[i]);
    batch.slots.set(slots);
    this.#gatherer.gather(checked);
    return batch;
  }

  #checkHeld(slot: number): void {
    if (Number.isInteger(slot) && this.#ring.holds(slot)) return;
    throw new RangeError(
      `Cannot gather slot ${slot}: expected one of the ${this.#ring.length} rows that may be drawn`,
    );
  }

  /**
   * Lists the slots of all rows that may be drawn.
   *
   * @returns Older rows first.
   */
  slots(): Int32Array {
    const slots = new Int32Array(this.#ring.length);
    return slots.map((_, row) => this.#ring.slotAt(row));
  }

  /**
   * Ends the episodes that the latest step left running, as the next step begins
   * others: what comes next stays the value that was added as such.
   *
   * @param flag Field that says so: cut off, or ended for good.
   *
   * @example
   * ```ts
   * import { ReplayBuffer } from "@bellman/buffers";
   * import { assertEquals } from "@std/assert";
   *
   * const number = { shape: [], dtype: "float32" } as const;
   * const flag = { shape: [], dtype: "uint8" } as const;
   * const buffer = new ReplayBuffer({
   *   capacity: 10,
   *   fields: { observation: number, terminated: flag, truncated: flag },
   *   episodes: { next: { nextObservation: "observation" } },
   * });
   * const goesOn = { terminated: [0], truncated: [0] };
   * buffer.add({ observation: [0], nextObservation: [1], ...goesOn });
   * buffer.endEpisodes();
   * buffer.add({ observation: [7], nextObservation: [8], ...goesOn });
   * const { nextObservation, truncated } = buffer.gather([0, 1]);
   * assertEquals(nextObservation, Float32Array.of(1, 8));
   * assertEquals(truncated, Uint8Array.of(1, 0));
   * ```
   */
  endEpisodes(flag: "truncated" | "terminated" = "truncated"): void {
    this.#memory.endEpisodes(flag);
  }

  /** Removes all rows; its arrays stay. */
  clear(): void {
    this.#writer.clear();
  }

  /**
   * Saves all rows that are held, and the state of the sampler. It
   * takes as much memory as these rows; without a copy next to none. Rows in a
   * file are brought to the disk there, and left out.
   *
   * @param options Rows are copied unless `copy` is false: their arrays are then
   * the buffer's own memory, to be written somewhere before the next change.
   * @returns Plain data.
   */
  save({ copy = true }: { readonly copy?: boolean } = {}): ReplayBufferState {
    return this.#memory.save(this.#sampler, copy);
  }

  /**
   * Restores what {@link save} returned, bit for bit. A state that does not fit
   * changes nothing.
   *
   * @param state The state of a buffer for the same options; copied.
   * @throws {RangeError} If sizes or names differ.
   * @throws {TypeError} If it is not such a state.
   * @throws {SyntaxError} If its rows in a file are damaged, or were overwritten.
   */
  load(state: ReplayBufferState): void {
    this.#memory.load(state, this.#sampler);
  }

  /** Frees what the storage holds besides memory, such as files. */
  close(): void {
    for (const { column } of this.#memory.rows) column.close?.();
  }
}
