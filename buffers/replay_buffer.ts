import { Batches } from "./_batches.ts";
import { partsOf } from "./_parts_of.ts";
import { ReplayCore } from "./_replay_core.ts";
import { loadReplay, type Saved, saveReplay } from "./_replay_state.ts";
import { RowIntake } from "./_row_intake.ts";
import { shareParts } from "./_share_parts.ts";
import type { Batch } from "./batch.ts";
import type { FieldValues } from "./field.ts";
import type { ReplayBufferOptions } from "./replay_buffer_options.ts";
import type { ReplayBufferState } from "./replay_buffer_state.ts";
import type { Random } from "./sampler.ts";
import type { SharedReplay } from "./shared_replay.ts";

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
 * Three parts make a buffer: an {@linkcode Accumulator} turns steps into rows, a
 * {@linkcode Storage} keeps them, a {@linkcode Sampler} chooses among them (the
 * division of Dopamine's replay buffer, Castro et al. 2018).
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
  readonly #core: ReplayCore;
  readonly #batches: Batches;
  readonly #intake: RowIntake;

  /**
   * Allocates the arrays of all fields.
   *
   * @param options Sizes, fields, and how rows are kept and drawn.
   * @throws {RangeError} If a size, a shape or a name does not fit.
   * @throws {TypeError} If a dtype is unknown or options exclude each other.
   */
  constructor(options: ReplayBufferOptions) {
    this.#options = options;
    this.#core = new ReplayCore(options);
    this.#batches = new Batches(this.#core.parts.schema);
    this.#intake = new RowIntake(this.#core, options.accumulator);
    partsOf.set(this, this.#core.parts);
  }

  /** Rows that fit in. */
  get capacity(): number {
    return this.#core.capacity;
  }

  /** Streams that are added side by side. */
  get numEnvs(): number {
    return this.#core.numEnvs;
  }

  /** Rows that may be drawn; in shared memory as of now. */
  get length(): number {
    this.#core.refresh();
    return this.#core.length;
  }

  /** Whether each further row takes the place of another. */
  get full(): boolean {
    this.#core.refresh();
    const { rings } = this.#core.parts;
    return rings.every(({ held, steps }) => held === steps);
  }

  /** Bytes that its rows, and what is kept at their side, take up in memory. */
  get byteLength(): number {
    return this.#core.byteLength;
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
    this.#intake.addStep(step);
  }

  /**
   * Adds rows that follow each other, faster than one by one; rows that cannot
   * be added change nothing. An accumulator does not see them: they are finished
   * ones.
   *
   * @param rows For each field its numbers `[row, ...shape]`, or, of steps of
   * episodes, `[step, env, ...shape]`; copied.
   * @param count How many rows: where they are steps of episodes, a multiple of
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
    this.#intake.addRows(rows, count);
  }

  /**
   * Says that the next step does not follow the last one, as where environments
   * were reset in the middle of their episodes: these become truncated. An
   * accumulator finishes what it holds.
   */
  interrupt(): void {
    this.#intake.interrupt();
  }

  /**
   * Arrays to draw into.
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
    this.#core.draw(this.#batches.bind(batch), random);
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
  gather(slots: ArrayLike<number>, into?: Batch): Batch {
    const batch = into ?? this.batch(slots.length);
    const bound = this.#batches.bind(batch);
    if (batch.slots.length !== slots.length) {
      throw new RangeError(
        `Cannot gather ${slots.length} slots into a batch of ${batch.slots.length}: expected as many`,
      );
    }
    this.#core.gather(bound, slots);
    return batch;
  }

  /**
   * Slots of all rows that may be drawn.
   *
   * @returns Older rows first, of each writer.
   */
  slots(): Int32Array {
    return this.#core.slots();
  }

  /**
   * Removes all rows; its arrays stay. In shared memory no other worker may
   * write or draw meanwhile.
   */
  clear(): void {
    this.#core.clear();
    this.#options.accumulator?.clear();
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
    return saveReplay(this.#saved, options.copy ?? true);
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
    loadReplay(this.#saved, state);
  }

  get #saved(): Saved {
    return { core: this.#core, accumulator: this.#options.accumulator };
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
    return shareParts(this.#core, this.#options, writer);
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
    for (const { column } of this.#core.parts.rows) column.close?.();
  }
}
