import {
  type ArrayCheck,
  ARRAYS,
  checkKind,
  collect,
  type FieldArray,
  type Fields,
  type FieldValues,
  foreignState,
  nest,
  type Schema,
} from "../fields.ts";
import {
  type Random,
  type Sampler,
  UniformSampler,
} from "../samplers/sampler.ts";
import { MemoryStorage } from "../storage/memory_storage.ts";
import type { Storage } from "../storage/storage.ts";
import { Gatherer } from "./gatherer.ts";
import type {
  Batch,
  EpisodeOptions,
  ReplayBufferOptions,
  ReplayBufferState,
  ReplayRows,
  Rows,
} from "./options.ts";
import {
  checkReplayOptions,
  makeReplaySchema,
  makeRing,
  type ReplaySchema,
} from "./replay_schema.ts";
import {
  Episodes,
  FieldRows,
  FinalValues,
  Ring,
  type SavedFinals,
  type StoredRows,
} from "./rows.ts";

/** Rows of a replay buffer, and all that is known of them. */
export interface ReplayMemory extends StoredRows {
  readonly schema: ReplaySchema;
  readonly ring: Ring;
  /** True where rows are in a file. */
  readonly isPersistent: boolean;
  /** Reads rows into batches. */
  readonly gatherer: Gatherer;
}

/** Memory of each replay buffer, for the parts of this package that read its rows. */
export const internals: WeakMap<object, ReplayMemory> = new WeakMap();

/**
 * Replay buffer: keeps the latest rows and samples batches of them.
 *
 * Each field is one array, allocated once; slots are reused after `capacity` rows. Rows
 * may be independent, or steps of episodes: then next values are stored once, frame
 * stacks and n-step returns are composed on sampling, and never cross the end of an
 * episode, terminated or truncated. Adding rows and sampling into a reused batch
 * allocate nothing but views of rows with 128 numbers or more.
 *
 * A {@linkcode Storage} keeps the rows, a {@linkcode Sampler} chooses among them.
 * Fields are typed: a missing or unknown one does not compile, and the array of an
 * int32 field is an `Int32Array`.
 *
 * @typeParam F Fields of a row.
 * @typeParam E Order of rows as steps of episodes.
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
  const E extends EpisodeOptions = EpisodeOptions,
> {
  /** Number of parallel streams. */
  readonly numEnvs: number;
  readonly #memory: ReplayMemory;
  readonly #ring: Ring;
  readonly #sampler: Sampler;
  readonly #storage: Storage | undefined;
  readonly #adding: ArrayCheck;
  /** The arrays of the rows that are added. */
  readonly #values: ArrayLike<number>[] = [];
  /** Rows of those arrays that are being written. */
  readonly #place = { from: 0, count: 0 };

  /**
   * Allocates the arrays of all fields.
   *
   * @param options Sizes, fields, storage and sampling.
   * @throws {RangeError} If a size, a shape or a name does not fit.
   * @throws {TypeError} If a dtype is unknown, or flags and rewards
   * are not single numbers.
   */
  constructor(options: ReplayBufferOptions<F, E>) {
    const memory = makeMemory(options);
    const { numEnvs = 1, storage } = options;
    const sampler: Sampler = options.sampler ?? new UniformSampler();
    this.numEnvs = numEnvs;
    this.#memory = memory;
    this.#ring = memory.ring;
    this.#sampler = sampler;
    this.#storage = storage;
    this.#adding = { action: "add", rows: numEnvs };
    sampler.resize?.(memory.ring.capacity);
    internals.set(this, memory);
  }

  /** Capacity in rows. */
  get capacity(): number {
    return this.#ring.capacity;
  }

  /** Number of rows that can be sampled. */
  get length(): number {
    return this.#ring.length;
  }

  /** Number of rows added since it was made or cleared. */
  get added(): number {
    return this.#ring.total * this.#ring.numEnvs;
  }

  /** True if each further row replaces an old one. */
  get full(): boolean {
    return this.#ring.held === this.#ring.steps;
  }

  /** Bytes of memory of its rows and bookkeeping. */
  get byteLength(): number {
    const { rows, finals } = this.#memory, first = finals?.byteLength ?? 0;
    return rows.reduce((sum, it) => sum + it.column.byteLength, first);
  }

  /**
   * Adds one step of all streams, one row each; an invalid step changes nothing.
   *
   * A step of an episode must follow the one before: unless that ended its episode, its
   * next values are assumed to be the values of this one.
   *
   * @param step Numbers of each field and next value `[env, ...shape]`; copied. Next
   * values are the true ones: final ones where an episode ended.
   * @throws {RangeError} If an array's length is wrong, a field of integers would hold
   * another number than it is given, or there is no such field.
   * @throws {TypeError} If a field is missing or nested otherwise.
   */
  add(step: Rows<F, E>): void {
    this.#add(step, this.#adding);
  }

  /**
   * Adds consecutive rows, faster than one by one; invalid rows change nothing.
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
  addBatch(rows: Rows<F, E>, count: number): void {
    this.#checkCount(count);
    this.#add(rows, { action: "add", rows: count });
  }

  #add(values: Rows<F, E>, check: ArrayCheck): void {
    const { root } = this.#memory.schema.added;
    collect(root, values as FieldValues, check, this.#values);
    this.#write(this.#values, check.rows);
  }

  /** Writes checked rows, one array for each added leaf, and tells the sampler. */
  #write(values: readonly ArrayLike<number>[], rows: number): void {
    const ring = this.#ring, { total, firstStep } = ring;
    const end = total + rows / ring.numEnvs;
    while (ring.total < end) {
      const room = ring.steps - ring.total % ring.steps;
      const count = Math.min(end - ring.total, room);
      this.#writeSteps(values, ring.total - total, count);
    }
    this.#tell("removed", firstStep, Math.min(ring.firstStep, total));
    this.#tell("added", Math.max(total, ring.firstStep), end);
  }

  /** Notifies the sampler of steps, in one or two parts that do not wrap. */
  #tell(what: "added" | "removed", first: number, end: number): void {
    if (first >= end) return;
    const ring = this.#ring, { steps, numEnvs } = ring;
    const count = Math.min(end - first, steps - first % steps);
    this.#sampler[what](ring.slotOf(first), count * numEnvs);
    if (count === end - first) return;
    this.#sampler[what](0, (end - first - count) * numEnvs);
  }

  /** Writes steps that lie side by side; their values begin at step `from`. */
  #writeSteps(
    values: readonly ArrayLike<number>[],
    from: number,
    steps: number,
  ): void {
    const { ring, finals, rows, schema: { origins } } = this.#memory;
    const slot = ring.slotOf(ring.total), count = steps * ring.numEnvs;
    finals?.evict(slot, count);
    const place = this.#place, first = from * ring.numEnvs;
    // Files keep all fields of a row together.
    const together = this.#memory.isPersistent ? 1 : count;
    for (let row = 0; row < count; row += together) {
      place.from = first + row;
      place.count = together;
      for (let i = 0; i < rows.length; i++) {
        rows[i].write(slot + row, values[origins[i]], place);
      }
    }
    place.from = first;
    place.count = count;
    if (finals !== undefined) this.#keepNext(finals, values, slot);
    ring.setTotal(ring.total + steps);
  }

  /** Keeps the values after steps that ended an episode, and after the newest. */
  #keepNext(
    finals: FinalValues,
    values: readonly ArrayLike<number>[],
    slot: number,
  ): void {
    const { episodes, ring: { numEnvs } } = this.#memory;
    const { from, count } = this.#place;
    for (let row = 0; row < count; row++) {
      if (episodes!.ended(slot + row)) {
        finals.push(slot + row, values, from + row);
      }
    }
    finals.setNewest(values, from + count - numEnvs);
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
   * Allocates a batch for reuse.
   *
   * @param size Number of rows.
   * @returns Zeros for each field `[row, ...shape]`, slots, and weights of 1.
   * @throws {RangeError} If the size is not a whole number above 0.
   */
  batch(size: number): Batch<F, E> {
    return this.#memory.gatherer.batch(size) as Batch<F, E>;
  }

  /**
   * Samples a batch.
   *
   * @param random Random stream; the same stream gives the same rows.
   * @param options Batch to reuse, or the size of a new one.
   * @returns The batch.
   * @throws {RangeError} If there are no rows, or not enough for the sampler.
   * @throws {TypeError} If the batch is not as {@link batch} makes them.
   */
  sample(
    random: Random,
    options: { readonly size: number } | { readonly into: Batch<F, E> },
  ): Batch<F, E> {
    const batch = "into" in options ? options.into : this.batch(options.size);
    const checked = this.#memory.gatherer.check(batch as Batch);
    if (this.#ring.length === 0) {
      throw new RangeError(
        `Cannot sample ${batch.slots.length} rows as the buffer holds 0`,
      );
    }
    this.#sampler.draw(checked.drawn, { rows: this.#ring, random });
    this.#memory.gatherer.gather(checked);
    return batch;
  }

  /**
   * Reads rows by their slots, as {@link sample} does.
   *
   * @param slots Slots, as in a batch's `slots`.
   * @param into Batch to reuse; a new one by default. Its weights stay.
   * @returns The batch, with these slots.
   * @throws {RangeError} If a row is not held, or the batch has another size.
   * @throws {TypeError} If the batch is not as {@link batch} makes them.
   */
  gather(slots: ArrayLike<number>, into?: Batch<F, E>): Batch<F, E> {
    const batch = into ?? this.batch(slots.length);
    const checked = this.#memory.gatherer.check(batch as Batch);
    if (batch.slots.length !== slots.length) {
      throw new RangeError(
        `Cannot gather ${slots.length} slots into a batch of ${batch.slots.length}: expected as many`,
      );
    }
    for (let i = 0; i < slots.length; i++) this.#checkHeld(slots[i]);
    batch.slots.set(slots);
    this.#memory.gatherer.gather(checked);
    return batch;
  }

  #checkHeld(slot: number): void {
    if (Number.isInteger(slot) && this.#ring.holds(slot)) return;
    throw new RangeError(
      `Cannot gather slot ${slot}: expected one of the ${this.#ring.length} rows that may be drawn`,
    );
  }

  /**
   * Lists the slots of all rows that can be sampled.
   *
   * @returns Older rows first.
   */
  slots(): Int32Array {
    const slots = new Int32Array(this.#ring.length);
    return slots.map((_, row) => this.#ring.slotAt(row));
  }

  /**
   * Ends all running episodes at the latest step, as the next step starts others: their
   * next values stay those that were added.
   *
   * @param flag Truncated or terminated.
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
    const { ring: { newest, numEnvs }, episodes, finals } = this.#memory;
    if (episodes === undefined || newest < 0) return;
    for (let env = 0; env < numEnvs; env++) {
      const slot = newest + env;
      if (episodes.ended(slot)) continue;
      episodes[flag][slot] = 1;
      finals?.pushNewest(slot, env);
    }
  }

  /** Removes all rows; its arrays stay. */
  clear(): void {
    const { firstStep, total } = this.#ring;
    this.#tell("removed", firstStep, total);
    this.#ring.setTotal(0);
    this.#memory.finals?.clear();
    this.#storage?.clear?.();
  }

  /**
   * Saves all rows and the state of the sampler, with a copy of the rows. Rows in a
   * file are flushed to disk and left out.
   *
   * @param options Without `copy` the arrays are the buffer's own memory, to be written
   * before the next change.
   * @returns Plain data.
   */
  save({ copy = true }: { readonly copy?: boolean } = {}): ReplayBufferState {
    const storage = this.#storage?.save?.();
    return {
      capacity: this.capacity,
      numEnvs: this.numEnvs,
      ...saveRows(this.#memory, copy),
      sampler: this.#sampler.save(),
      ...(storage !== undefined && { storage }),
    };
  }

  /**
   * Restores a saved state, bit for bit. One that does not fit changes nothing.
   *
   * @param state Saved state of a buffer with the same options; copied.
   * @throws {RangeError} If sizes or names differ.
   * @throws {TypeError} If it is not such a state.
   * @throws {SyntaxError} If its rows in a file are damaged, or were overwritten.
   */
  load(state: ReplayBufferState): void {
    checkSizes(state, this);
    const rows = checkState(state, this.#memory);
    this.#storage?.check?.(state.storage);
    this.#sampler.load(state.sampler);
    this.#storage?.load?.(state.storage!);
    loadRows(this.#memory, rows);
  }

  /** Frees the storage's resources, such as files. */
  close(): void {
    for (const { column } of this.#memory.rows) column.close?.();
  }
}

/** Allocates the rows of a buffer. */
function makeMemory(options: ReplayBufferOptions): ReplayMemory {
  checkReplayOptions(options);
  const schema = makeReplaySchema(options), ring = makeRing(options, schema);
  const rows = makeColumns(schema, options.capacity, options.storage);
  const { finalLeaves, episodes: ends } = schema;
  const finals = finalLeaves.length === 0
    ? undefined
    : new FinalValues(finalLeaves, ring);
  const episodes = ends && new Episodes(ring, finals, {
    terminated: rows[ends.terminated],
    truncated: rows[ends.truncated],
  });
  const isPersistent = rows.some(({ column }) => column.persistent);
  const gatherer = new Gatherer(schema, { rows, episodes, finals });
  return { schema, rows, ring, finals, episodes, isPersistent, gatherer };
}

/** Makes the columns of all fields; numbers that are looked along stay in memory. */
function makeColumns(
  { stored, episodes }: ReplaySchema,
  capacity: number,
  storage?: Storage,
): FieldRows[] {
  const memory = new MemoryStorage();
  const { terminated, truncated, nStep } = episodes ?? {};
  const inMemory = [terminated, truncated, nStep?.reward];
  return stored.leaves.map((leaf) => {
    const { index, name, dtype, size } = leaf;
    const from = inMemory.includes(index) ? memory : storage ?? memory;
    return new FieldRows(leaf, from.allocate({ name, dtype, size }, capacity));
  });
}

/** Saves the rows that are held, and their final values. */
function saveRows(
  { schema: { stored, after }, rows, ring, finals }: ReplayMemory,
  copy: boolean,
): ReplayRows {
  const { total } = ring, count = ring.held * ring.numEnvs;
  const fields = nest(
    stored,
    ({ index, dtype }) =>
      rows[index].column.persistent
        ? new ARRAYS[dtype](0)
        : rows[index].slice(0, count, copy),
  );
  if (finals === undefined) return { total, fields, finals: null };
  const { slots, ended, newest } = finals.save();
  return {
    total,
    fields,
    finals: {
      slots,
      ended: nest(after!, ({ index }) => ended[index]),
      newest: nest(after!, ({ index }) => newest[index]),
    },
  };
}

/** Rows of a state, checked. */
type CheckedRows = ReturnType<typeof checkState>;

/** Throws unless a state fits; returns its rows. */
function checkState(
  state: ReplayBufferState,
  memory: ReplayMemory,
) {
  const { ring, rows, schema: { stored, after, episodes } } = memory;
  const { total } = state;
  if (!(Number.isSafeInteger(total) && total >= 0)) {
    throw foreignState(`a buffer with total ${total}`);
  }
  const count = Math.min(total, ring.steps) * ring.numEnvs;
  const values = checkArrays(stored, state.fields, { count, rows });
  if (after === undefined) return { total, values, finals: undefined };
  const finals = checkFinals(state.finals, after, ring.numEnvs);
  const flags = [episodes!.terminated, episodes!.truncated]
    .map((index) => values[index] as Uint8Array);
  const ends = flags[0].map((flag, row) => flag | flags[1][row]);
  const savedRing = new Ring(ring);
  savedRing.setTotal(total);
  if (!areEnds(finals.slots, ends, savedRing)) {
    throw foreignState(
      "next values of other rows than those that ended an episode",
    );
  }
  return { total, values, finals };
}

/** Throws unless a state is one of a buffer of the same sizes. */
function checkSizes(
  state: ReplayBufferState,
  own: { readonly capacity: number; readonly numEnvs: number },
): void {
  if (typeof state !== "object" || state === null) {
    throw foreignState(`a buffer from ${state}`);
  }
  for (const name of ["capacity", "numEnvs"] as const) {
    if (state[name] === own[name]) continue;
    throw new RangeError(
      `Cannot load a buffer with ${name} ${state[name]} into one with ${
        own[name]
      }`,
    );
  }
}

function checkArrays(
  { root, leaves }: Schema,
  values: FieldValues,
  { count, rows }: { count: number; rows?: readonly FieldRows[] },
): FieldArray[] {
  const arrays: ArrayLike<number>[] = [];
  const any = { action: "load", rows: 0, atLeast: true };
  collect(root, values, any, arrays);
  return leaves.map((leaf, i) => {
    const array: unknown = arrays[i];
    checkKind(leaf, array, ["load", "from"]);
    const wanted = count * leaf.size;
    const isLeftOut = array.length === 0 && rows?.[i].column.persistent;
    if (array.length === wanted || isLeftOut) return array;
    throw new RangeError(
      `Cannot load ${array.length} numbers as '${leaf.name}': expected ${wanted}`,
    );
  });
}

function checkFinals(
  finals: ReplayRows["finals"],
  after: Schema,
  numEnvs: number,
): SavedFinals {
  if (!(finals?.slots instanceof Int32Array)) {
    throw foreignState("a buffer without its next values");
  }
  const { slots } = finals;
  const ended = checkArrays(after, finals.ended, { count: slots.length });
  const newest = checkArrays(after, finals.newest, { count: numEnvs });
  return { slots, ended, newest };
}

/** True where slots are those of all ended rows, older steps first. */
function areEnds(slots: Int32Array, ends: Uint8Array, ring: Ring): boolean {
  const count = ends.reduce((sum, it) => sum + (it === 0 ? 0 : 1), 0);
  const ages = slots.map((slot) => ring.stepAge(slot));
  return slots.length === count && new Set(slots).size === count &&
    slots.every((slot, i) =>
      ends[slot] > 0 && (i === 0 || ages[i - 1] <= ages[i])
    );
}

/** Takes over checked rows. */
function loadRows(
  { rows, ring, finals }: ReplayMemory,
  { total, values, finals: saved }: CheckedRows,
): void {
  const count = Math.min(total, ring.steps) * ring.numEnvs;
  rows.forEach((leaf, i) => {
    if (values[i].length === 0) return;
    leaf.write(0, values[i], { from: 0, count });
  });
  ring.setTotal(total);
  if (saved !== undefined) finals!.load(saved);
}
