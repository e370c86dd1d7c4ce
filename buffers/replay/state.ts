import {
  allocateArray,
  collect,
  type FieldArray,
  type FieldData,
  type FieldValues,
  isArrayOf,
  type Leaf,
  nest,
  type Schema,
} from "../fields.ts";
import type { LeafRows } from "./columns.ts";
import type { ReplayParts } from "./memory.ts";
import type { Ring } from "./ring.ts";
import type { SavedSide, SideValues } from "./final_values.ts";
import type { ReplayRingState } from "./options.ts";

/** The rows that a ring holds, and what is at its side. */
export function saveRing(
  { schema, rows, rings, sides }: ReplayParts,
  index: number,
  copy: boolean,
): ReplayRingState {
  const ring = rings[index];
  const count = ring.held * ring.numEnvs;
  const slice = ({ index, dtype }: Leaf) =>
    rows[index].column.persistent
      ? allocateArray(dtype, 0)
      : rows[index].slice(ring.base, count, copy);
  return {
    total: ring.total,
    fields: nestRecord(schema.stored, slice),
    side: schema.after === undefined
      ? null
      : saveSide(schema.after, sides[index]),
  };
}

function saveSide(after: Schema, side: SideValues): ReplayRingState["side"] {
  const { slots, ended } = side.save();
  const newest = side.newest();
  return {
    slots,
    ended: nestRecord(after, ({ index }) => ended[index]),
    newest: nestRecord(after, ({ index }) => newest[index]),
  };
}

function nestRecord(
  { root }: Schema,
  make: (leaf: Leaf) => FieldArray,
): { [name: string]: FieldData } {
  return nest(root, make) as { [name: string]: FieldData };
}

/** The part of a state that belongs to one ring, checked. */
interface CheckedRing {
  readonly total: number;
  /** Rows of each stored leaf; none where its column has them already. */
  readonly values: readonly FieldArray[];
  readonly side: SavedSide | undefined;
}

/** Throws unless a ring's state fits the parts; changes nothing. */
export function checkRing(
  state: ReplayRingState,
  { schema, rows }: ReplayParts,
  ring: Ring,
): CheckedRing {
  const total = state?.total;
  if (!Number.isSafeInteger(total) || total < 0) {
    throw new TypeError(
      `Cannot load a buffer of ${total} steps: expected what save() gave`,
    );
  }
  const count = Math.min(total, ring.steps) * ring.numEnvs;
  const values = checkArrays(schema.stored, state.fields, { count, rows });
  if (schema.after === undefined) return { total, values, side: undefined };
  const side = checkSide(state, schema.after, ring.numEnvs);
  const { terminated, truncated } = schema.episodes!;
  const flags = [terminated, truncated].map((it) => values[it] as Uint8Array);
  const ends = flags[0].map((flag, row) => flag | flags[1][row]);
  if (!areEnds(side.slots, ends, { ring, total })) {
    throw new TypeError(
      "Cannot load next values of other rows than those that ended an episode: expected what save() gave",
    );
  }
  return { total, values, side };
}

function checkArrays(
  { root, leaves }: Schema,
  values: FieldValues,
  { count, rows }: { count: number; rows?: readonly LeafRows[] },
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

function checkSide(
  { side }: ReplayRingState,
  after: Schema,
  numEnvs: number,
): SavedSide {
  if (!(side?.slots instanceof Int32Array)) {
    throw new TypeError(
      "Cannot load a buffer without its next values: expected what save() gave",
    );
  }
  const { slots } = side;
  const ended = checkArrays(after, side.ended, { count: slots.length });
  const newest = checkArrays(after, side.newest, { count: numEnvs });
  return { slots, ended, newest };
}

/** Whether slots are those of all ended rows, older steps first. */
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

/** Takes over what was checked. */
export function loadRing(
  { rows, rings, sides, links }: ReplayParts,
  index: number,
  { total, values, side }: CheckedRing,
): void {
  const ring = rings[index];
  const count = Math.min(total, ring.steps) * ring.numEnvs;
  rows.forEach((leaf, i) => {
    if (values[i].length === 0) return;
    leaf.write(ring.base, values[i], { from: 0, count });
  });
  ring.setTotal(total);
  if (side !== undefined) sides[index].load(side);
  links[index]?.reset(ring, sides[index]);
}
