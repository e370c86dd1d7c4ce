import {
  ARRAYS,
  checkKind,
  collect,
  type FieldArray,
  type FieldValues,
  foreignState,
  nest,
  type Schema,
} from "../fields.ts";
import type { Sampler } from "../samplers/sampler.ts";
import { MemoryStorage } from "../storage/memory_storage.ts";
import type { Storage } from "../storage/storage.ts";
import type {
  ReplayBufferOptions,
  ReplayBufferState,
  ReplayRows,
} from "./options.ts";
import { makeRing, type ReplaySchema } from "./replay_schema.ts";
import {
  Episodes,
  FieldRows,
  FinalValues,
  Ring,
  type SavedFinals,
} from "./rows.ts";

/** Memory of each replay buffer, for the parts of this package that read its rows. */
export const internals: WeakMap<object, ReplayMemory> = new WeakMap();

/** Rows of a replay buffer, and all that is known of them. */
export class ReplayMemory {
  readonly schema: ReplaySchema;
  readonly numEnvs: number;
  /** Stored leaves. */
  readonly rows: readonly FieldRows[];
  readonly ring: Ring;
  readonly finals: FinalValues | undefined;
  readonly episodes: Episodes | undefined;
  /** True where rows are in a file. */
  readonly isPersistent: boolean;
  readonly #storage: Storage | undefined;

  constructor(
    schema: ReplaySchema,
    options: Pick<ReplayBufferOptions, "capacity" | "numEnvs" | "storage">,
  ) {
    const { capacity, numEnvs = 1, storage } = options;
    const { finalLeaves, episodes } = schema;
    this.schema = schema;
    this.#storage = storage;
    this.ring = makeRing(options, schema);
    this.numEnvs = numEnvs;
    this.rows = makeColumns(schema, capacity, storage);
    this.isPersistent = this.rows.some(({ column }) => column.persistent);
    this.finals = finalLeaves.length === 0
      ? undefined
      : new FinalValues(finalLeaves, this.ring);
    this.episodes = episodes && new Episodes(this.ring, this.finals, {
      terminated: this.rows[episodes.terminated],
      truncated: this.rows[episodes.truncated],
    });
  }

  /** Bytes that rows, and what is stored in addition to them, take up in memory. */
  get byteLength(): number {
    const first = this.finals?.byteLength ?? 0;
    return this.rows.reduce((sum, it) => sum + it.column.byteLength, first);
  }

  /** Saves the rows that are held and a sampler of them. */
  save(sampler: Sampler, copy: boolean): ReplayBufferState {
    const storage = this.#storage?.save?.();
    return {
      capacity: this.ring.capacity,
      numEnvs: this.numEnvs,
      ...saveRows(this, copy),
      sampler: sampler.save(),
      ...(storage !== undefined && { storage }),
    };
  }

  /** Restores rows and their sampler; a state that does not fit changes nothing. */
  load(state: ReplayBufferState, sampler: Sampler): void {
    const rows = checkState(state, this);
    this.#storage?.check?.(state.storage);
    sampler.load(state.sampler);
    this.#storage?.load?.(state.storage!);
    loadRows(this, rows);
  }

  /** Ends the episodes that the latest step left running. */
  endEpisodes(flag: "terminated" | "truncated"): void {
    const { ring: { newest, numEnvs }, episodes, finals } = this;
    if (episodes === undefined || newest < 0) return;
    for (let env = 0; env < numEnvs; env++) {
      const slot = newest + env;
      if (episodes.ended(slot)) continue;
      episodes[flag][slot] = 1;
      finals?.pushNewest(slot, env);
    }
  }

  /** Gives up all rows, those in a storage too. */
  clear(): void {
    this.ring.setTotal(0);
    this.finals?.clear();
    this.#storage?.clear?.();
  }
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
  if (typeof state !== "object" || state === null) {
    throw foreignState(`a buffer from ${state}`);
  }
  const { ring, rows, schema: { stored, after, episodes } } = memory;
  checkSame("capacity", state.capacity, ring.capacity);
  checkSame("numEnvs", state.numEnvs, memory.numEnvs);
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

function checkSame(name: string, saved: number, own: number): void {
  if (saved === own) return;
  throw new RangeError(
    `Cannot load a buffer with ${name} ${saved} into one with ${own}`,
  );
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

/**
 * Writes the rows of a replay buffer, the newest over the oldest, and tells its
 * sampler which may be drawn.
 */
export class RowWriter {
  readonly #memory: ReplayMemory;
  readonly #sampler: Sampler;
  readonly #place = { from: 0, count: 0 };

  constructor(memory: ReplayMemory, sampler: Sampler) {
    this.#memory = memory;
    this.#sampler = sampler;
    sampler.resize?.(memory.ring.capacity);
  }

  /** Writes rows of checked values, one array for each added leaf. */
  write(values: readonly ArrayLike<number>[], rows: number): void {
    const { ring } = this.#memory, { total, firstStep } = ring;
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
    const { ring } = this.#memory, { steps, numEnvs } = ring;
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

  /** Gives up all rows. */
  clear(): void {
    const { ring } = this.#memory;
    this.#tell("removed", ring.firstStep, ring.total);
    this.#memory.clear();
  }
}
