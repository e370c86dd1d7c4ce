import {
  allocateArray,
  collect,
  type FieldArray,
  type FieldValues,
  isArrayOf,
  nest,
  type Schema,
} from "../fields.ts";
import type { FieldRows } from "./columns.ts";
import type { SavedFinals } from "./final_values.ts";
import type { ReplayMemory } from "./memory.ts";
import type { ReplayBufferState, ReplayRingState } from "./options.ts";
import type { Ring } from "./ring.ts";

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
        ? allocateArray(dtype, 0)
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
export interface CheckedRing {
  readonly total: number;
  /** Rows of each stored leaf; none where its column has them already. */
  readonly values: readonly FieldArray[];
  readonly finals: SavedFinals | undefined;
}

/** Throws unless a state fits; returns its rings. */
export function checkState(
  state: ReplayBufferState,
  memory: ReplayMemory,
): CheckedRing[] {
  if (typeof state !== "object" || !Array.isArray(state?.rings)) {
    throw new TypeError(
      `Cannot load a buffer from ${state}: expected what save() gave`,
    );
  }
  checkSame("capacity", state.capacity, memory.capacity);
  checkSame("numEnvs", state.numEnvs, memory.numEnvs);
  checkSame("writers", state.rings.length, memory.rings.length);
  checkCounter("allocated", state.allocated);
  checkCounter("seen", state.seen);
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
  throw new TypeError(
    `Cannot load a buffer with ${name} ${value}: expected what save() gave`,
  );
}

function checkRing(
  state: ReplayRingState,
  { schema: { stored, after, episodes }, rows }: ReplayMemory,
  ring: Ring,
): CheckedRing {
  const total = state?.total;
  if (!Number.isSafeInteger(total) || total < 0) {
    throw new TypeError(
      `Cannot load a buffer of ${total} steps: expected what save() gave`,
    );
  }
  const count = Math.min(total, ring.steps) * ring.numEnvs;
  const values = checkArrays(stored, state.fields, { count, rows });
  if (after === undefined) return { total, values, finals: undefined };
  const finals = checkFinals(state, after, ring.numEnvs);
  const flags = [episodes!.terminated, episodes!.truncated]
    .map((index) => values[index] as Uint8Array);
  const ends = flags[0].map((flag, row) => flag | flags[1][row]);
  if (!areEnds(finals.slots, ends, { ring, total })) {
    throw new TypeError(
      "Cannot load next values of other rows than those that ended an episode: expected what save() gave",
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
  return leaves.map(({ dtype, name, size }, i) => {
    const array: unknown = arrays[i];
    if (!isArrayOf(dtype, array)) {
      throw new TypeError(
        `Cannot load '${name}' from another kind of array: expected one of ${dtype}`,
      );
    }
    const isLeftOut = array.length === 0 && rows?.[i].column.persistent;
    if (array.length === count * size || isLeftOut) return array;
    throw new RangeError(
      `Cannot load ${array.length} numbers as '${name}': expected ${
        count * size
      }`,
    );
  });
}

function checkFinals(
  { finals }: ReplayRingState,
  after: Schema,
  numEnvs: number,
): SavedFinals {
  if (!(finals?.slots instanceof Int32Array)) {
    throw new TypeError(
      "Cannot load a buffer without its next values: expected what save() gave",
    );
  }
  const { slots } = finals;
  const ended = checkArrays(after, finals.ended, { count: slots.length });
  const newest = checkArrays(after, finals.newest, { count: numEnvs });
  return { slots, ended, newest };
}

/** Tells whether slots are those of all ended rows, older steps first. */
function areEnds(
  slots: Int32Array,
  ends: Uint8Array,
  { ring, total }: { ring: Ring; total: number },
): boolean {
  const count = ends.reduce((sum, it) => sum + (it === 0 ? 0 : 1), 0);
  if (slots.length !== count || new Set(slots).size !== count) return false;
  const oldest = Math.max(0, total - ring.steps) % ring.steps;
  let last = 0;
  for (const slot of slots) {
    const row = slot - ring.base;
    const step = Math.floor(row / ring.numEnvs) - oldest;
    const age = step < 0 ? step + ring.steps : step;
    if (row < 0 || row >= ends.length || ends[row] === 0) return false;
    if (age < last) return false;
    last = age;
  }
  return true;
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
