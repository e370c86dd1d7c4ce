import { Batches, type BoundBatch, Gatherer } from "./gather.ts";
import { makeParts, partsOf, type ReplayParts, SharedReads } from "./memory.ts";
import type {
  Accumulator,
  Batch,
  ReplayBufferOptions,
  ReplayBufferState,
  SharedReplay,
} from "./options.ts";
import { collect, type FieldValues, type Purpose } from "../fields.ts";
import type { Random, RowRange, Sampler } from "../samplers/sampler.ts";
import { makeLayout, makeReplaySchema } from "./plan.ts";
import { ReservoirWriter } from "./write.ts";
import { SamplerFeed } from "./ring.ts";
import { UniformSampler } from "../samplers/uniform.ts";
import { checkRing, loadRing, saveRing } from "./state.ts";

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

/** How often rows are read that writers overwrite each time. */
const MAX_ATTEMPTS = 1000;

/** The rows of a replay buffer: how they come in and how they are drawn. */
class ReplayCore {
  readonly capacity: number;
  readonly numEnvs: number;
  readonly parts: ReplayParts;
  readonly sampler: Sampler;
  readonly feed: SamplerFeed;
  readonly reservoir: ReservoirWriter | undefined;
  /** Rows that there is room for by now. */
  allocated: number;
  /** What may be drawn of all rings. */
  readonly #rows: RowRange;
  readonly #gatherer: Gatherer;
  /** Where others write meanwhile. */
  readonly #reads: SharedReads | undefined;

  constructor(options: ReplayBufferOptions) {
    const schema = makeReplaySchema(options);
    const layout = makeLayout(options, schema);
    const { capacity, numEnvs, initialCapacity: allocated } = layout;
    const { storage } = options;
    const reserve = (rows: number) => this.reserve(rows);
    this.capacity = capacity;
    this.numEnvs = numEnvs;
    this.allocated = allocated;
    this.parts = makeParts(schema, { layout, storage, allocated, reserve });
    this.sampler = options.sampler ?? new UniformSampler();
    this.feed = new SamplerFeed(this.sampler, this.parts.rings);
    this.reservoir = this.#makeReservoir(options);
    const { rings, rows, episodes, control } = this.parts;
    this.#rows = rings.length === 1 ? rings[0] : allRings(rings);
    this.#gatherer = new Gatherer(schema, rows, episodes);
    if (control !== undefined) this.#reads = new SharedReads(this.parts);
    this.sampler.resize?.(allocated);
  }

  #makeReservoir(
    { eviction, random }: ReplayBufferOptions,
  ): ReservoirWriter | undefined {
    if (eviction !== "reservoir" || random === undefined) return undefined;
    const { sampler, feed } = this;
    return new ReservoirWriter(this.parts.writer, { random, sampler, feed });
  }

  /** Rows that may be drawn. */
  get length(): number {
    return this.#rows.length;
  }

  /** Bytes that rows, and what is kept at their side, take up in memory. */
  get byteLength(): number {
    const { rows, sides, control } = this.parts;
    const arrays = [...rows.map(({ column }) => column), ...sides];
    const first = control?.byteLength ?? 0;
    return arrays.reduce((sum, { byteLength }) => sum + byteLength, first);
  }

  /** Brings rings that others write to up to date. */
  refresh(): void {
    if (this.#reads === undefined) return;
    this.#reads.begin();
    this.feed.tell();
  }

  /** Makes room for rows, by doubling. */
  reserve(rows: number): void {
    if (rows <= this.allocated) return;
    const twice = Math.min(this.capacity, 2 * this.allocated);
    this.allocated = Math.max(rows, twice);
    for (const leaf of this.parts.rows) leaf.resize(this.allocated);
    this.sampler.resize?.(this.allocated);
  }

  /** Writes checked rows, one array for each added leaf. */
  write(values: readonly ArrayLike<number>[], rows: number): void {
    const { writer } = this.parts;
    if (this.reservoir !== undefined) this.reservoir.write(values, rows);
    else writer.write(values, rows / writer.ring.numEnvs);
    if (this.#reads === undefined) this.feed.tell();
  }

  /** Draws rows into a batch. */
  draw(bound: BoundBatch, random: Random): void {
    const { drawn } = bound, { rings } = this.parts;
    const parts = rings.length > 1 ? rings : undefined;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      this.refresh();
      if (this.length === 0) {
        throw new RangeError(
          `Cannot sample ${drawn.slots.length} rows as the buffer holds 0`,
        );
      }
      this.sampler.draw(drawn, { rows: this.#rows, parts, random });
      if (this.#read(bound)) return;
    }
    throw overtaken(drawn.slots.length);
  }

  /** Reads rows into a batch; they are held, or it throws. */
  gather(bound: BoundBatch, wanted: ArrayLike<number>): void {
    const { slots } = bound.drawn;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      this.refresh();
      for (let i = 0; i < wanted.length; i++) this.#checkHeld(wanted[i]);
      slots.set(wanted);
      if (this.#read(bound)) return;
    }
    throw overtaken(slots.length);
  }

  /** Fills a batch from its slots; whether none was overwritten meanwhile. */
  #read(bound: BoundBatch): boolean {
    this.#gatherer.gather(bound);
    return this.#reads?.isIntact(bound.drawn.slots) ?? true;
  }

  #checkHeld(slot: number): void {
    const { rings } = this.parts;
    const ring = rings[Math.floor(slot / rings[0].rows)];
    if (Number.isInteger(slot) && ring?.holds(slot)) return;
    throw new RangeError(
      `Cannot gather slot ${slot}: expected one of the ${this.length} rows that may be drawn`,
    );
  }

  /** Slots of all rows that may be drawn, of each ring the oldest first. */
  slots(): Int32Array {
    this.refresh();
    const slots = new Int32Array(this.length);
    let at = 0;
    for (const { base, first, length, rows } of this.parts.rings) {
      for (let i = 0; i < length; i++) slots[at++] = base + (first + i) % rows;
    }
    return slots;
  }

  /** Removes all rows. */
  clear(): void {
    this.refresh();
    const { rings, sides, links } = this.parts;
    this.feed.clear();
    rings.forEach((ring, i) => {
      ring.setTotal(0);
      sides[i]?.clear();
      links[i]?.reset(ring, sides[i]);
    });
    if (this.reservoir !== undefined) this.reservoir.seen = 0;
  }
}

function overtaken(size: number): RangeError {
  return new RangeError(
    `Cannot read ${size} rows while writers overwrite them all: expected a larger capacity`,
  );
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

/** Numbers by field. */
type Values = { readonly [field: string]: FieldValues };

/** Checks what a replay buffer is given, and writes it if all of it fits. */
class RowIntake {
  readonly #core: ReplayCore;
  readonly #accumulator: Accumulator | undefined;
  readonly #adding: Purpose;
  /** The arrays of the rows that are added. */
  readonly #values: ArrayLike<number>[] = [];

  constructor(core: ReplayCore, accumulator: Accumulator | undefined) {
    this.#core = core;
    this.#accumulator = accumulator;
    this.#adding = { action: "add", rows: core.numEnvs };
  }

  /** Takes one step of all streams. */
  addStep(step: Values): void {
    if (this.#accumulator === undefined) this.#add(step, this.#adding);
    else this.#addFinished(this.#accumulator, this.#accumulator.add(step));
  }

  /** Takes rows that no accumulator has to see. */
  addRows(rows: Values, count: number): void {
    this.#checkCount(count);
    this.#add(rows, { action: "add", rows: count });
  }

  /** Takes what an accumulator holds, and ends the episodes of the newest step. */
  interrupt(): void {
    const accumulator = this.#accumulator;
    if (accumulator) this.#addFinished(accumulator, accumulator.flush());
    this.#core.parts.writer.truncate();
  }

  /** An accumulator's arrays have room for more rows than those it finished. */
  #addFinished({ rows }: Accumulator, count: number): void {
    this.#checkCount(count);
    if (count > 0) {
      this.#add(rows, { action: "add", rows: count, atLeast: true });
    }
  }

  #add(values: Values, purpose: Purpose): void {
    const { added } = this.#core.parts.schema;
    collect(added.root, values, purpose, this.#values);
    this.#core.write(this.#values, purpose.rows);
  }

  #checkCount(count: number): void {
    const { numEnvs } = this.#core.parts.writer.ring;
    if (Number.isSafeInteger(count) && count >= 0 && count % numEnvs === 0) {
      return;
    }
    throw new RangeError(
      `Cannot add ${count} rows: expected a whole multiple of ${numEnvs}`,
    );
  }
}

/** The memory of a buffer as a message to a writer. */
function shareParts(
  { parts, capacity, numEnvs }: ReplayCore,
  { fields, episodes }: ReplayBufferOptions,
  writer: number,
): SharedReplay {
  const { rings, rows, sides, control } = parts;
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
  return {
    options: { capacity, numEnvs, fields, episodes, writers: rings.length },
    writer,
    columns: rows.map(({ data }) => data!.buffer as SharedArrayBuffer),
    sides: sides.map(({ memory }) => memory),
    control,
  };
}

/** What a buffer's state is made of. */
interface Saved {
  readonly core: ReplayCore;
  readonly accumulator: Accumulator | undefined;
}

/** Everything that a buffer holds, with or without a copy of its rows. */
function saveReplay(
  { core, accumulator }: Saved,
  copy: boolean,
): ReplayBufferState {
  core.refresh();
  const { capacity, numEnvs, allocated, parts, sampler, reservoir } = core;
  return {
    capacity,
    numEnvs,
    allocated,
    seen: reservoir?.seen ?? 0,
    rings: parts.rings.map((_, i) => saveRing(parts, i, copy)),
    sampler: sampler.save(),
    accumulator: accumulator?.save() ?? null,
  };
}

/** Takes over a state, or throws and changes nothing. */
function loadReplay(
  { core, accumulator }: Saved,
  state: ReplayBufferState,
): void {
  const { parts, capacity } = core;
  core.refresh();
  checkSizes(state, core);
  const rings = state.rings.map((ring, i) =>
    checkRing(ring, parts, parts.rings[i])
  );
  core.reserve(Math.min(capacity, state.allocated));
  loadPlugins({ core, accumulator }, state);
  rings.forEach((ring, i) => loadRing(parts, i, ring));
  if (core.reservoir !== undefined) core.reservoir.seen = state.seen;
  core.feed.skip();
}

function checkSizes(state: ReplayBufferState, core: ReplayCore): void {
  if (typeof state !== "object" || !Array.isArray(state?.rings)) {
    throw new TypeError(
      `Cannot load a buffer from ${state}: expected what save() gave`,
    );
  }
  checkSame("capacity", state.capacity, core.capacity);
  checkSame("numEnvs", state.numEnvs, core.numEnvs);
  checkSame("writers", state.rings.length, core.parts.rings.length);
  checkCounter("allocated", state.allocated);
  checkCounter("seen", state.seen);
}

function checkSame(name: string, saved: number, own: number): void {
  if (saved === own) return;
  throw new RangeError(
    `Cannot load a buffer with ${name} ${saved} into one with ${own}`,
  );
}

function checkCounter(name: string, value: number): void {
  if (Number.isSafeInteger(value) && value >= 0) return;
  throw new TypeError(
    `Cannot load a buffer with ${name} ${value}: expected what save() gave`,
  );
}

/** Loads what may refuse its state, both or none. */
function loadPlugins(
  { core: { sampler }, accumulator }: Saved,
  state: ReplayBufferState,
): void {
  const before = accumulator && sampler.save();
  sampler.load(state.sampler);
  try {
    if (state.accumulator) accumulator?.load(state.accumulator);
  } catch (error) {
    sampler.load(before!);
    throw error;
  }
}
