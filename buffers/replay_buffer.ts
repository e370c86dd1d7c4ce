import { allocateArray } from "./_arrays.ts";
import { BoundBatch } from "./_bound_batch.ts";
import { Gatherer } from "./_gatherer.ts";
import { partsOf } from "./_parts_of.ts";
import { makeLayout } from "./_replay_layout.ts";
import { makeParts, type ReplayParts } from "./_replay_parts.ts";
import { makeReplaySchema } from "./_replay_schema.ts";
import { checkState, loadRing, saveRing } from "./_replay_state.ts";
import { ReservoirWriter } from "./_reservoir.ts";
import { SamplerFeed } from "./_sampler_feed.ts";
import { collect, nest, type Purpose } from "./_schema.ts";
import { SharedReads } from "./_shared_reads.ts";
import type { Accumulator } from "./accumulator.ts";
import type { Batch } from "./batch.ts";
import type { FieldValues } from "./field.ts";
import type { ReplayBufferOptions } from "./replay_buffer_options.ts";
import type { ReplayBufferState } from "./replay_buffer_state.ts";
import type { Random, RowRange, Sampler } from "./sampler.ts";
import type { SharedReplay } from "./shared_replay.ts";
import { UniformSampler } from "./uniform_sampler.ts";

/**
 * Keeps the last rows that were added, and draws batches of them by chance.
 *
 * Each field is one array, allocated once; row numbers (slots) begin again at 0
 * after `capacity`. A row may stand for itself, or be the step of an episode:
 * then what comes next is stored once, stacks of frames and returns of several
 * steps are put together when they are drawn, and nothing reaches over the end
 * of an episode, be it terminated or truncated. Adding and drawing into the
 * caller's arrays allocate nothing but a view for each row of 128 numbers or
 * more.
 *
 * Three parts make a buffer: an {@linkcode Accumulator} turns steps into rows, a
 * {@linkcode Storage} keeps them, a {@linkcode Sampler} chooses among them (the
 * division of Dopamine's replay buffer, Castro et al. 2018).
 *
 * @example Transitions of two environments
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
 *
 * @example An accumulator, a storage and a sampler
 * ```ts
 * import {
 *   MemoryStorage,
 *   NStepAccumulator,
 *   ReplayBuffer,
 *   UniformSampler,
 * } from "@bellman/buffers";
 * import { assertEquals } from "@std/assert";
 *
 * const fields = {
 *   state: { shape: [], dtype: "float32" },
 *   reward: { shape: [], dtype: "float32" },
 *   terminated: { shape: [], dtype: "uint8" },
 *   truncated: { shape: [], dtype: "uint8" },
 * } as const;
 * const accumulator = new NStepAccumulator({ fields, steps: 2, gamma: 0.5 });
 * const buffer = new ReplayBuffer({
 *   capacity: 100,
 *   fields: accumulator.fields,
 *   accumulator,
 *   storage: new MemoryStorage(),
 *   sampler: new UniformSampler({ replacement: false }),
 * });
 * for (const state of [0, 1, 2]) {
 *   buffer.add({ state: [state], reward: [4], terminated: [0], truncated: [0] });
 * }
 * assertEquals(buffer.length, 2);
 * const { reward, discount } = buffer.gather([0, 1]);
 * assertEquals(reward, Float32Array.of(6, 6));
 * assertEquals(discount, Float32Array.of(0.25, 0.25));
 * ```
 */
export class ReplayBuffer {
  /** Rows that fit in. */
  readonly capacity: number;
  /** Streams that are added side by side. */
  readonly numEnvs: number;
  readonly #options: ReplayBufferOptions;
  readonly #parts: ReplayParts;
  readonly #sampler: Sampler;
  readonly #accumulator: Accumulator | undefined;
  readonly #feed: SamplerFeed;
  readonly #reservoir: ReservoirWriter | undefined;
  readonly #gatherer: Gatherer;
  /** Where others write meanwhile. */
  readonly #reads: SharedReads | undefined;
  /** What may be drawn. */
  readonly #rows: RowRange;
  readonly #adding: Purpose;
  /** The arrays of the rows that are added. */
  readonly #values: ArrayLike<number>[] = [];
  readonly #bounds = new WeakMap<Batch, BoundBatch>();
  #bound: BoundBatch | undefined;
  #allocated: number;

  /**
   * Allocates the arrays of all fields.
   *
   * @param options Sizes, fields, and how rows are kept and drawn.
   * @throws {RangeError} If a size, a shape or a name does not fit.
   * @throws {TypeError} If a dtype is unknown or options exclude each other.
   */
  constructor(options: ReplayBufferOptions) {
    const { accumulator, storage } = options;
    const sampler: Sampler = options.sampler ?? new UniformSampler();
    const schema = makeReplaySchema(options);
    const layout = makeLayout(options, schema);
    this.capacity = layout.capacity;
    this.numEnvs = layout.numEnvs;
    this.#options = options;
    this.#sampler = sampler;
    this.#accumulator = accumulator;
    this.#allocated = layout.initialCapacity;
    const reserve = (rows: number) => this.#reserve(rows);
    const allocated = this.#allocated;
    this.#parts = makeParts(schema, { layout, storage, allocated, reserve });
    partsOf.set(this, this.#parts);
    const { rings, rows, episodes, writer, control } = this.#parts;
    this.#feed = new SamplerFeed(sampler, rings);
    if (options.eviction === "reservoir") {
      const { random } = options as { random: Random };
      const feed = this.#feed;
      this.#reservoir = new ReservoirWriter(writer, { random, sampler, feed });
    }
    this.#gatherer = new Gatherer(schema, rows, episodes);
    if (control) this.#reads = new SharedReads(this.#parts);
    this.#rows = rings.length === 1 ? rings[0] : allRings(rings);
    this.#adding = { action: "add", rows: layout.numEnvs };
    sampler.resize?.(allocated);
  }

  /** Rows that may be drawn; in shared memory as of now. */
  get length(): number {
    this.#refresh();
    return this.#rows.length;
  }

  /** Whether each further row takes the place of another. */
  get full(): boolean {
    this.#refresh();
    return this.#parts.rings.every(({ held, steps }) => held === steps);
  }

  /** Bytes that its rows, and what is kept at their side, take up in memory. */
  get byteLength(): number {
    const { rows, sides, control } = this.#parts;
    const arrays = [...rows.map(({ column }) => column), ...sides];
    const first = control?.byteLength ?? 0;
    return arrays.reduce((sum, { byteLength }) => sum + byteLength, first);
  }

  /** Brings rings that others write to up to date. */
  #refresh(): void {
    if (this.#reads === undefined) return;
    this.#reads.begin();
    this.#feed.tell();
  }

  /** Makes room for rows, in steps that double it. */
  #reserve(rows: number): void {
    if (rows <= this.#allocated) return;
    const twice = Math.min(this.capacity, 2 * this.#allocated);
    this.#allocated = Math.max(rows, twice);
    for (const leaf of this.#parts.rows) leaf.resize(this.#allocated);
    this.#sampler.resize?.(this.#allocated);
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
   * @throws {RangeError} If an array's length is wrong, or there is no such
   * field.
   * @throws {TypeError} If a field is missing or nested otherwise.
   */
  add(step: { readonly [field: string]: FieldValues }): void {
    if (this.#accumulator !== undefined) {
      const count = this.#accumulator.add(step);
      this.#addFinished(this.#accumulator, count);
      return;
    }
    collect(this.#parts.schema.added.root, step, this.#adding, this.#values);
    this.#write(this.numEnvs);
  }

  /**
   * Adds rows that follow each other, faster than one by one; rows that cannot
   * be added change nothing. An accumulator does not see them: they are finished
   * ones.
   *
   * @param rows For each field its numbers `[row, ...shape]`, or, of steps of
   * episodes, `[step, env, ...shape]`; arrays may be longer. Copied.
   * @param count How many rows: where they are steps of episodes, a multiple of
   * `numEnvs`.
   * @throws {RangeError} If there are fewer, or there is no such field.
   * @throws {TypeError} If a field is missing or nested otherwise.
   */
  addBatch(
    rows: { readonly [field: string]: FieldValues },
    count: number,
  ): void {
    const { numEnvs } = this.#parts.writer.ring;
    if (!Number.isSafeInteger(count) || count < 0 || count % numEnvs !== 0) {
      throw new RangeError(
        `Cannot add ${count} rows: expected a whole multiple of ${numEnvs}`,
      );
    }
    const purpose = { action: "add", rows: count, atLeast: true };
    collect(this.#parts.schema.added.root, rows, purpose, this.#values);
    this.#write(count);
  }

  #addFinished({ rows }: Accumulator, count: number): void {
    if (count > 0) this.addBatch(rows, count);
  }

  /** Writes rows that were collected. */
  #write(rows: number): void {
    const { writer } = this.#parts;
    if (this.#reservoir !== undefined) {
      this.#reservoir.write(this.#values, rows);
    } else writer.write(this.#values, rows / writer.ring.numEnvs);
    if (this.#reads === undefined) this.#feed.tell();
  }

  /**
   * Says that the next step does not follow the last one, as where environments
   * were reset in the middle of their episodes: these become truncated. An
   * accumulator finishes what it holds.
   */
  interrupt(): void {
    const accumulator = this.#accumulator;
    if (accumulator) this.#addFinished(accumulator, accumulator.flush());
    this.#parts.writer.truncate();
  }

  /**
   * Arrays to draw into.
   *
   * @param size Rows of the batch.
   * @returns Zeros for each field `[row, ...shape]`, slots, and weights of 1.
   * @throws {RangeError} If the size is not a whole number above 0.
   */
  batch(size: number): Batch {
    if (!Number.isSafeInteger(size) || size < 1) {
      throw new RangeError(
        `Cannot make a batch of ${size} rows: expected a whole number above 0`,
      );
    }
    const fields = nest(
      this.#parts.schema.drawn.root,
      (leaf) => allocateArray(leaf.dtype, size * leaf.size),
    ) as Omit<Batch, "slots" | "weights">;
    const weights = new Float32Array(size).fill(1);
    return { ...fields, slots: new Int32Array(size), weights };
  }

  #bind(batch: Batch): BoundBatch {
    if (this.#bound?.batch === batch && this.#bound.isCurrent) {
      return this.#bound;
    }
    let bound = this.#bounds.get(batch);
    if (bound === undefined || !bound.isCurrent) {
      bound = new BoundBatch(batch, this.#parts.schema);
      this.#bounds.set(batch, bound);
    }
    return this.#bound = bound;
  }

  /**
   * Draws rows by chance.
   *
   * @param random Where randomness comes from; the same stream gives the same
   * rows.
   * @param options The batch to draw into, or the size of a new one.
   * @returns The batch.
   * @throws {RangeError} If there are no rows, or not enough for the sampler.
   * @throws {TypeError} If the batch is not as {@link batch} makes them.
   */
  sample(
    random: Random,
    options: { readonly size: number } | { readonly into: Batch },
  ): Batch {
    const batch = "into" in options ? options.into : this.batch(options.size);
    const bound = this.#bind(batch);
    const { rings } = this.#parts;
    const parts = rings.length > 1 ? rings : undefined;
    do {
      this.#refresh();
      this.#checkAny(bound.drawn.slots.length);
      this.#sampler.draw(bound.drawn, { rows: this.#rows, parts, random });
      this.#gatherer.gather(bound);
    } while (this.#reads?.isIntact(bound.drawn.slots) === false);
    return batch;
  }

  #checkAny(size: number): void {
    if (this.#rows.length > 0) return;
    throw new RangeError(`Cannot sample ${size} rows as the buffer holds 0`);
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
  gather(slots: ArrayLike<number>, into?: Batch): Batch {
    const batch = into ?? this.batch(slots.length);
    const bound = this.#bind(batch);
    if (batch.slots.length !== slots.length) {
      throw new RangeError(
        `Cannot gather ${slots.length} slots into a batch of ${batch.slots.length}: expected as many`,
      );
    }
    do {
      this.#refresh();
      for (let i = 0; i < slots.length; i++) this.#checkHeld(slots[i]);
      batch.slots.set(slots);
      this.#gatherer.gather(bound);
    } while (this.#reads?.isIntact(batch.slots) === false);
    return batch;
  }

  #checkHeld(slot: number): void {
    const { rings } = this.#parts;
    const ring = rings[Math.floor(slot / rings[0].rows)];
    if (Number.isInteger(slot) && ring?.holds(slot)) return;
    throw new RangeError(
      `Cannot gather slot ${slot}: expected one of the ${this.#rows.length} rows that may be drawn`,
    );
  }

  /**
   * Removes all rows; its arrays stay. In shared memory no other worker may
   * write or draw meanwhile.
   */
  clear(): void {
    const { rings, sides, links } = this.#parts;
    this.#feed.clear();
    rings.forEach((ring, i) => {
      ring.setTotal(0);
      sides[i]?.clear();
      links[i]?.reset(ring, sides[i]);
    });
    if (this.#reservoir) this.#reservoir.seen = 0;
    this.#accumulator?.clear();
  }

  /**
   * Everything that it holds, and what the sampler knows. It takes as much
   * memory as the rows that are held; without a copy next to none. In shared
   * memory no other worker may write meanwhile.
   *
   * @param options Whether rows are copied (the default). Without it their
   * arrays are the buffer's own memory, to be written somewhere before the next
   * change.
   * @returns Plain data.
   */
  save(options: { readonly copy?: boolean } = {}): ReplayBufferState {
    this.#refresh();
    const { rings } = this.#parts;
    const copy = options.copy ?? true;
    return {
      capacity: this.capacity,
      numEnvs: this.numEnvs,
      allocated: this.#allocated,
      seen: this.#reservoir?.seen ?? 0,
      rings: rings.map((_, i) => saveRing(this.#parts, i, copy)),
      sampler: this.#sampler.save(),
      accumulator: this.#accumulator?.save() ?? null,
    };
  }

  /**
   * Continues from what {@link save} gave, bit for bit. A state that does not
   * fit changes nothing.
   *
   * @param state The state of a buffer for the same options; copied.
   * @throws {RangeError} If sizes or names differ.
   * @throws {TypeError} If it is not such a state.
   */
  load(state: ReplayBufferState): void {
    const { capacity, numEnvs } = this;
    const rings = checkState(state, this.#parts, { capacity, numEnvs });
    this.#reserve(Math.min(capacity, state.allocated));
    this.#loadPlugins(state);
    rings.forEach((ring, i) => loadRing(this.#parts, i, ring));
    if (this.#reservoir) this.#reservoir.seen = state.seen;
    this.#feed.skip();
  }

  /** Loads what may refuse its state, both or none. */
  #loadPlugins(state: ReplayBufferState): void {
    const before = this.#accumulator && this.#sampler.save();
    this.#sampler.load(state.sampler);
    try {
      if (state.accumulator) this.#accumulator?.load(state.accumulator);
    } catch (error) {
      this.#sampler.load(before!);
      throw error;
    }
  }

  /**
   * The memory of a buffer that was made with `shared`, for another worker: post
   * it, and give it to {@link attach} there. Nothing is copied.
   *
   * Each writer must be one worker only, and each has rows of its own: writers
   * never wait for each other. A row may be drawn once it is whole, and, where
   * next values are kept, once its environments' next step is there. Rows that
   * are overwritten while they are drawn are drawn anew. The order is kept by
   * sequentially consistent atomics: a writer first takes back the rows that it
   * overwrites, writes, and then counts what it wrote.
   *
   * @param writer Which part of the slots the other worker writes to, from 0 on;
   * this buffer itself writes to part 0.
   * @returns A message.
   * @throws {TypeError} If the memory is not shared.
   * @throws {RangeError} If there is no such writer.
   */
  share(writer = 0): SharedReplay {
    const { rings, rows, sides, control } = this.#parts;
    if (control === undefined) {
      throw new TypeError(
        "Cannot share a buffer in memory of its own: expected the option 'shared'",
      );
    }
    if (rings[writer] === undefined) {
      throw new RangeError(
        `Cannot share with writer ${writer}: expected one of ${rings.length}, from 0 on`,
      );
    }
    const { capacity, numEnvs } = this;
    const { fields, episodes } = this.#options;
    return {
      options: { capacity, numEnvs, fields, episodes, writers: rings.length },
      writer,
      columns: rows.map(({ data }) => data!.buffer as SharedArrayBuffer),
      sides: sides.map(({ memory }) => memory),
      control,
    };
  }

  /**
   * A buffer in the memory of another worker's.
   *
   * @param message What {@link share} gave there.
   * @param options How this worker draws.
   * @returns The buffer; it adds to the writer's part of the slots, and draws
   * from all.
   */
  static attach(
    message: SharedReplay,
    options: Pick<ReplayBufferOptions, "sampler" | "accumulator"> = {},
  ): ReplayBuffer {
    return new ReplayBuffer({
      ...message.options,
      ...options,
      shared: message,
    });
  }

  /** Gives back what the storage holds besides memory, such as files. */
  close(): void {
    for (const { column } of this.#parts.rows) column.close?.();
  }
}

/** The rows of several rings, counted together. */
function allRings(rings: readonly RowRange[]): RowRange {
  return {
    first: 0,
    get length(): number {
      return rings.reduce((sum, { length }) => sum + length, 0);
    },
    capacity: rings.reduce((sum, { capacity }) => sum + capacity, 0),
  };
}
