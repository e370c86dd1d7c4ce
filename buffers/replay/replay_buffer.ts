import { type ArrayCheck, collect, type FieldValues } from "../fields.ts";
import {
  type Random,
  type RingRange,
  type RowRange,
  type Sampler,
  UniformSampler,
} from "../samplers/sampler.ts";
import { BatchCache, type CheckedBatch, Gatherer } from "./gather.ts";
import {
  checkState,
  internals,
  loadRing,
  ReplayMemory,
  saveRing,
} from "./memory.ts";
import type {
  Batch,
  ReplayBufferOptions,
  ReplayBufferState,
  SharedReplay,
} from "./options.ts";
import { makeReplaySchema } from "./plan.ts";
import { type Ring, SamplerFeed } from "./ring.ts";
import { RowWriter } from "./write.ts";

/** Attempts to read rows that writers overwrite each time. */
const MAX_ATTEMPTS = 1000;

/**
 * Keeps the last rows that were added, and draws batches of them by chance.
 *
 * Each field is one array, allocated once; row numbers (slots) begin again at 0
 * after `capacity`. A row may stand for itself, or be the step of an episode:
 * then what comes next is stored once, stacks of frames and returns of several
 * steps are put together when they are drawn, and nothing reaches over the end
 * of an episode, be it terminated or truncated. Adding, and drawing into the
 * caller's arrays, makes no new array but a view for each row of 128 numbers or
 * more.
 *
 * A {@linkcode Storage} keeps the rows, a {@linkcode Sampler} chooses among them.
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
export class ReplayBuffer {
  readonly #options: ReplayBufferOptions;
  readonly #memory: ReplayMemory;
  readonly #sampler: Sampler;
  readonly #feed: SamplerFeed;
  readonly #writer: RowWriter;
  readonly #gatherer: Gatherer;
  readonly #batches: BatchCache;
  /** Rows of all rings that may be drawn. */
  readonly #rows: RowRange;
  /** The rings, if there are several. */
  readonly #parts: readonly RingRange[] | undefined;
  readonly #adding: ArrayCheck;
  /** The arrays of the rows that are added. */
  readonly #values: ArrayLike<number>[] = [];

  /**
   * Allocates the arrays of all fields.
   *
   * @param options Sizes, fields, and how rows are kept and drawn.
   * @throws {RangeError} If a size, a shape or a name does not fit.
   * @throws {TypeError} If a dtype is unknown or options exclude each other.
   */
  constructor(options: ReplayBufferOptions) {
    const { sampler = new UniformSampler() } = options;
    const schema = makeReplaySchema(options);
    const memory = new ReplayMemory(schema, options);
    const { rings, allocated, numEnvs } = memory;
    this.#options = options;
    this.#memory = memory;
    this.#sampler = sampler;
    this.#feed = new SamplerFeed(sampler, rings);
    this.#writer = new RowWriter(memory, this.#feed);
    this.#gatherer = new Gatherer(schema, memory);
    this.#batches = new BatchCache(schema);
    this.#rows = rings.length === 1 ? rings[0] : allRings(rings);
    this.#parts = rings.length === 1 ? undefined : rings;
    this.#adding = { action: "add", rows: numEnvs };
    this.#feed.resize(allocated);
    internals.set(this, memory);
  }

  /** Rows that fit in. */
  get capacity(): number {
    return this.#memory.capacity;
  }

  /** Streams that are added side by side. */
  get numEnvs(): number {
    return this.#memory.numEnvs;
  }

  /** Rows that may be drawn; in shared memory as of now. */
  get length(): number {
    this.#refresh();
    return this.#rows.length;
  }

  /** True where each further row takes the place of another. */
  get full(): boolean {
    this.#refresh();
    return this.#memory.rings.every(({ held, steps }) => held === steps);
  }

  /** Bytes of memory that its rows, and what is kept beside them, take up. */
  get byteLength(): number {
    return this.#memory.byteLength;
  }

  /** Finds out how far other writers are. */
  #refresh(): void {
    if (!this.#memory.isShared) return;
    this.#memory.refresh();
    this.#feed.tell();
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
  add(step: { readonly [field: string]: FieldValues }): void {
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
  addBatch(
    rows: { readonly [field: string]: FieldValues },
    count: number,
  ): void {
    this.#checkCount(count);
    this.#add(rows, { action: "add", rows: count });
  }

  /**
   * Ends the episodes of the newest step, as where environments were reset in
   * the middle of them: they become truncated.
   */
  interrupt(): void {
    this.#writer.truncate();
  }

  #add(
    values: { readonly [field: string]: FieldValues },
    check: ArrayCheck,
  ): void {
    collect(this.#memory.schema.added.root, values, check, this.#values);
    this.#writer.write(this.#values, check.rows);
  }

  #checkCount(count: number): void {
    const [{ numEnvs }] = this.#memory.rings;
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
  batch(size: number): Batch {
    return this.#batches.make(size);
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
    options: { readonly size: number } | { readonly into: Batch },
  ): Batch {
    const batch = "into" in options ? options.into : this.batch(options.size);
    const checked = this.#batches.check(batch);
    const { drawn } = checked, rows = this.#rows, parts = this.#parts;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      this.#refresh();
      if (rows.length === 0) {
        throw new RangeError(
          `Cannot sample ${batch.slots.length} rows as the buffer holds 0`,
        );
      }
      this.#sampler.draw(drawn, { rows, parts, random });
      if (this.#read(checked)) return batch;
    }
    throw overtaken(batch);
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
    const checked = this.#batches.check(batch);
    if (batch.slots.length !== slots.length) {
      throw new RangeError(
        `Cannot gather ${slots.length} slots into a batch of ${batch.slots.length}: expected as many`,
      );
    }
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      this.#refresh();
      for (let i = 0; i < slots.length; i++) this.#checkHeld(slots[i]);
      batch.slots.set(slots);
      if (this.#read(checked)) return batch;
    }
    throw overtaken(batch);
  }

  /** Fills a batch from its slots; false if one was overwritten meanwhile. */
  #read(batch: CheckedBatch): boolean {
    this.#gatherer.gather(batch);
    return this.#memory.isIntact(batch.drawn.slots);
  }

  #checkHeld(slot: number): void {
    const { rings } = this.#memory;
    const ring = rings[Math.floor(slot / rings[0].capacity)];
    if (Number.isInteger(slot) && ring?.holds(slot)) return;
    throw new RangeError(
      `Cannot gather slot ${slot}: expected one of the ${this.#rows.length} rows that may be drawn`,
    );
  }

  /**
   * Lists the slots of all rows that may be drawn.
   *
   * @returns Older rows first, of each writer.
   */
  slots(): Int32Array {
    this.#refresh();
    const slots = new Int32Array(this.#rows.length);
    let at = 0;
    for (const ring of this.#memory.rings) {
      for (let i = 0; i < ring.length; i++) slots[at++] = ring.slotAt(i);
    }
    return slots;
  }

  /**
   * Removes all rows; its arrays stay. In shared memory no other worker may
   * write or draw meanwhile.
   */
  clear(): void {
    this.#refresh();
    this.#feed.clear();
    this.#memory.clear();
    this.#options.storage?.clear?.();
  }

  /**
   * Saves all rows that are held, and the state of the sampler. It
   * takes as much memory as these rows; without a copy next to none. Rows in a
   * file are brought to the disk there, and left out. In shared memory no other
   * worker may write meanwhile.
   *
   * @param options Rows are copied unless `copy` is false: their arrays are then
   * the buffer's own memory, to be written somewhere before the next change.
   * @returns Plain data.
   */
  save({ copy = true }: { readonly copy?: boolean } = {}): ReplayBufferState {
    this.#refresh();
    const { capacity, numEnvs, allocated, rings } = this.#memory;
    const storage = this.#options.storage?.save?.();
    return {
      capacity,
      numEnvs,
      allocated,
      rings: rings.map((_, i) => saveRing(this.#memory, i, copy)),
      sampler: this.#sampler.save(),
      seen: 0,
      accumulator: null,
      ...(storage !== undefined && { storage }),
    };
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
    this.#refresh();
    const { storage } = this.#options;
    const rings = checkState(state, this.#memory);
    storage?.check?.(state.storage);
    this.#writer.reserve(Math.min(this.capacity, state.allocated));
    this.#sampler.load(state.sampler);
    storage?.load?.(state.storage!);
    rings.forEach((ring, i) => loadRing(this.#memory, i, ring));
    this.#feed.skip();
  }

  /**
   * Returns the memory of a buffer that was made with `shared`, for another
   * worker: post it, and give it to {@link attach} there. Nothing is copied.
   *
   * Each writer must be one worker only, and each has rows of its own: writers
   * never wait for each other. A row may be drawn once it is whole, and, where
   * next values are kept, once its environments' next step is there. Rows that
   * are overwritten while they are drawn are drawn anew. The order is kept by
   * sequentially consistent atomics: a writer first takes back the rows that it
   * overwrites, writes, and then counts what it wrote.
   *
   * @param writer Index of the part of the slots that the other worker writes to;
   * this buffer itself writes to part 0.
   * @returns A message.
   * @throws {TypeError} If the memory is not shared.
   * @throws {RangeError} If there is no such writer.
   */
  share(writer = 0): SharedReplay {
    const memory = this.#memory.share(writer);
    const { fields, episodes } = this.#options;
    const { capacity, numEnvs, rings } = this.#memory;
    const writers = rings.length;
    return {
      options: { capacity, numEnvs, fields, episodes, writers },
      ...memory,
    };
  }

  /**
   * Makes a buffer in the memory of another worker's.
   *
   * @param message The result of {@link share} there.
   * @param options Sampler of this worker.
   * @returns The buffer; it adds to the writer's part of the slots, and draws
   * from all.
   */
  static attach(
    message: SharedReplay,
    options: Pick<ReplayBufferOptions, "sampler"> = {},
  ): ReplayBuffer {
    return new ReplayBuffer({
      ...message.options,
      ...options,
      shared: message,
    });
  }

  /** Frees what the storage holds besides memory, such as files. */
  close(): void {
    for (const { column } of this.#memory.rows) column.close?.();
  }
}

function overtaken({ slots }: Batch): RangeError {
  return new RangeError(
    `Cannot read ${slots.length} rows while writers overwrite them all: expected a larger capacity`,
  );
}

/** Counts the rows of several rings together. */
function allRings(rings: readonly Ring[]): RowRange {
  return {
    first: 0,
    get length(): number {
      return rings.reduce((sum, { length }) => sum + length, 0);
    },
    capacity: rings.reduce((sum, { capacity }) => sum + capacity, 0),
  };
}
