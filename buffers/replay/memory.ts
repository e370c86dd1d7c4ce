import { MemoryColumn, MemoryStorage } from "../storage/memory_storage.ts";
import { FieldRows } from "./columns.ts";
import { Episodes } from "./episodes.ts";
import {
  FinalValues,
  type SavedFinals,
  SHARED_RING_BYTES,
  SharedRing,
} from "./final_values.ts";
import type {
  ReplayBufferOptions,
  ReplayBufferState,
  ReplayRingState,
  SharedReplay,
} from "./options.ts";
import { makeRings, type ReplaySchema } from "./plan.ts";
import { Ring } from "./ring.ts";
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

/** Memory of each replay buffer, for the parts of this package that read its rows. */
export const internals: WeakMap<object, ReplayMemory> = new WeakMap();

/** Rows of a replay buffer, and all that is known of them. */
export class ReplayMemory {
  readonly schema: ReplaySchema;
  readonly capacity: number;
  readonly numEnvs: number;
  /** Stored leaves. */
  readonly rows: readonly FieldRows[];
  /** Rows that may be drawn, of each writer. */
  readonly rings: readonly Ring[];
  /** Final values of each ring; empty without any. */
  readonly finals: readonly FinalValues[];
  readonly episodes: Episodes | undefined;
  /** Counters of each ring in shared memory; empty in memory of its own. */
  readonly links: readonly SharedRing[];
  /** Index of the ring that is written here. */
  readonly own: number;
  /** Rows that there is room for by now. */
  allocated: number;
  /** Memory of the links. */
  readonly #control: SharedArrayBuffer | undefined;
  /** Version of each ring at the last refresh. */
  readonly #versions: number[];

  /** Allocates memory, or takes that of another buffer. */
  constructor(schema: ReplaySchema, options: ReplayBufferOptions) {
    const { capacity, initialCapacity = capacity, shared = false } = options;
    const message = typeof shared === "object" ? shared : undefined;
    this.schema = schema;
    this.rings = makeRings(options, schema);
    this.capacity = capacity;
    this.numEnvs = options.numEnvs ?? 1;
    this.allocated = Math.min(capacity, initialCapacity);
    this.rows = makeColumns(schema, this.allocated, options);
    const { finalLeaves, episodes } = schema;
    this.finals = finalLeaves.length === 0
      ? []
      : this.rings.map((ring, i) =>
        new FinalValues(
          finalLeaves,
          ring,
          message?.finals[i] ?? shared !== false,
        )
      );
    this.episodes = episodes && new Episodes(this.rings, this.finals, {
      terminated: this.rows[episodes.terminated],
      truncated: this.rows[episodes.truncated],
    });
    const control = shared === false ? undefined : message?.control ??
      new SharedArrayBuffer(SHARED_RING_BYTES * this.rings.length);
    this.#control = control;
    this.links = control
      ? this.rings.map((_, i) => new SharedRing(control, i))
      : [];
    this.own = message?.writer ?? 0;
    this.#versions = this.rings.map(() => 0);
  }

  /** True where other workers may write and read. */
  get isShared(): boolean {
    return this.#control !== undefined;
  }

  /** Bytes that rows, and what is kept beside them, take up in memory. */
  get byteLength(): number {
    const arrays = [...this.rows.map(({ column }) => column), ...this.finals];
    const first = this.#control?.byteLength ?? 0;
    return arrays.reduce((sum, { byteLength }) => sum + byteLength, first);
  }

  /** Makes room for so many rows. */
  resize(rows: number): void {
    this.allocated = rows;
    for (const leaf of this.rows) leaf.resize(rows);
  }

  /** Brings shared rings up to date. */
  refresh(): void {
    if (this.episodes !== undefined) this.episodes.missed = false;
    for (let i = 0; i < this.links.length; i++) {
      this.#versions[i] = this.links[i].refresh(this.rings[i], this.finals[i]);
    }
  }

  /** Tells whether rows that were read since the last refresh were there all along. */
  isIntact(slots: Int32Array): boolean {
    const { rings, links } = this;
    if (links.length > 0 && this.episodes?.missed) return false;
    for (let i = 0; i < links.length; i++) {
      const ring = rings[i];
      if (!links[i].isVersion(this.#versions[i])) return false;
      const gone = links[i].firstStep - ring.firstStep;
      if (gone <= 0) continue;
      for (const slot of slots) {
        if (slot < ring.base || slot >= ring.end) continue;
        if (ring.rowOf(slot) < gone * ring.numEnvs) return false;
      }
    }
    return true;
  }

  /** Returns its memory, for one of the writers. */
  share(writer: number): Omit<SharedReplay, "options"> {
    if (this.#control === undefined) {
      throw new TypeError(
        "Cannot share a buffer in memory of its own: expected the option 'shared'",
      );
    }
    if (this.rings[writer] === undefined) {
      throw new RangeError(
        `Cannot share with writer ${writer}: expected one of ${this.rings.length}, from 0 on`,
      );
    }
    return {
      writer,
      columns: this.rows.map(({ data }) => data!.buffer as SharedArrayBuffer),
      finals: this.finals.map(({ memory }) => memory),
      control: this.#control,
    };
  }

  /** Gives up all rows. */
  clear(): void {
    this.rings.forEach((ring, i) => {
      ring.setTotal(0);
      this.finals[i]?.clear();
      this.links[i]?.reset(ring, this.finals[i]);
    });
  }
}

/** Makes the columns of all fields; numbers that are looked along stay in memory. */
function makeColumns(
  { stored, episodes }: ReplaySchema,
  allocated: number,
  { shared = false, storage }: ReplayBufferOptions,
): FieldRows[] {
  const memory = new MemoryStorage({ shared: shared !== false });
  const { terminated, truncated, nStep } = episodes ?? {};
  const inMemory = [terminated, truncated, nStep?.reward];
  return stored.leaves.map((leaf) => {
    const { index, name, dtype, size } = leaf;
    const spec = { name, dtype, size };
    const from = inMemory.includes(index) ? memory : storage ?? memory;
    return new FieldRows(
      leaf,
      typeof shared === "object"
        ? new MemoryColumn(spec, shared.columns[index])
        : from.allocate(spec, allocated),
    );
  });
}

/** Saves the rows that a ring holds, and its final values. */
export function saveRing(
  { schema: { stored, after }, rows, rings, finals }: ReplayMemory,
  index: number,
  copy: boolean,
): ReplayRingState {
  const ring = rings[index];
  const count = ring.held * ring.numEnvs;
  const fields = nest(
    stored,
    ({ index, dtype }) =>
      rows[index].column.persistent
        ? new ARRAYS[dtype](0)
        : rows[index].slice(ring.base, count, copy),
  );
  if (after === undefined) return { total: ring.total, fields, finals: null };
  const { slots, ended, newest } = finals[index].save();
  return {
    total: ring.total,
    fields,
    finals: {
      slots,
      ended: nest(after, ({ index }) => ended[index]),
      newest: nest(after, ({ index }) => newest[index]),
    },
  };
}

/** State of one ring, checked. */
type CheckedRing = ReturnType<typeof checkRing>;

/** Throws unless a state fits; returns its rings. */
export function checkState(
  state: ReplayBufferState,
  memory: ReplayMemory,
): CheckedRing[] {
  if (typeof state !== "object" || !Array.isArray(state?.rings)) {
    throw foreignState(`a buffer from ${state}`);
  }
  checkSame("capacity", state.capacity, memory.capacity);
  checkSame("numEnvs", state.numEnvs, memory.numEnvs);
  checkSame("writers", state.rings.length, memory.rings.length);
  checkCounter("allocated", state.allocated);
  return state.rings.map((ring, i) => checkRing(ring, memory, memory.rings[i]));
}

function checkSame(name: string, saved: number, own: number): void {
  if (saved === own) return;
  throw new RangeError(
    `Cannot load a buffer with ${name} ${saved} into one with ${own}`,
  );
}

function checkCounter(name: string, value: number): void {
  if (Number.isSafeInteger(value) && value >= 0) return;
  throw foreignState(`a buffer with ${name} ${value}`);
}

function checkRing(
  state: ReplayRingState,
  { schema: { stored, after, episodes }, rows }: ReplayMemory,
  ring: Ring,
) {
  const total = state?.total;
  checkCounter("total", total);
  const count = Math.min(total, ring.steps) * ring.numEnvs;
  const values = checkArrays(stored, state.fields, { count, rows });
  if (after === undefined) return { total, values, finals: undefined };
  const finals = checkFinals(state, after, ring.numEnvs);
  const flags = [episodes!.terminated, episodes!.truncated]
    .map((index) => values[index] as Uint8Array);
  const ends = flags[0].map((flag, row) => flag | flags[1][row]);
  const saved = new Ring(ring);
  saved.setTotal(total);
  if (!areEnds(finals.slots, ends, saved)) {
    throw foreignState(
      "next values of other rows than those that ended an episode",
    );
  }
  return { total, values, finals };
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
  { finals }: ReplayRingState,
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

/** Tells whether slots are those of all ended rows, older steps first. */
function areEnds(slots: Int32Array, ends: Uint8Array, ring: Ring): boolean {
  const count = ends.reduce((sum, it) => sum + (it === 0 ? 0 : 1), 0);
  const ages = slots.map((slot) => ring.stepAge(slot));
  return slots.length === count && new Set(slots).size === count &&
    slots.every((slot, i) =>
      ends[slot - ring.base] > 0 && (i === 0 || ages[i - 1] <= ages[i])
    );
}

/** Takes over the checked state of a ring. */
export function loadRing(
  { rows, rings, finals, links }: ReplayMemory,
  index: number,
  { total, values, finals: saved }: CheckedRing,
): void {
  const ring = rings[index];
  const count = Math.min(total, ring.steps) * ring.numEnvs;
  rows.forEach((leaf, i) => {
    if (values[i].length === 0) return;
    leaf.write(ring.base, values[i], { from: 0, count });
  });
  ring.setTotal(total);
  if (saved !== undefined) finals[index].load(saved);
  links[index]?.reset(ring, finals[index]);
}
