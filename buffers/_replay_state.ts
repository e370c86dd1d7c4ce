import { isArrayOf } from "./_arrays.ts";
import type { ReplayParts } from "./_replay_parts.ts";
import type { Ring } from "./_ring.ts";
import { collect, type Leaf, nest, type Schema } from "./_schema.ts";
import type { SavedSide } from "./_side_values.ts";
import type { FieldArray, FieldData, FieldValues } from "./field.ts";
import type {
  ReplayBufferState,
  ReplayRingState,
} from "./replay_buffer_state.ts";

/** The rows that a ring holds, and what is at its side. */
export function saveRing(
  { schema, rows, rings, sides }: ReplayParts,
  index: number,
  copy: boolean,
): ReplayRingState {
  const ring = rings[index];
  const count = ring.held * ring.numEnvs;
  const slice = ({ index }: Leaf) => rows[index].slice(ring.base, count, copy);
  return {
    total: ring.total,
    fields: nestRecord(schema.stored, slice),
    side: schema.after === undefined
      ? null
      : saveSide(schema.after, sides[index]),
  };
}

function saveSide(
  after: Schema,
  side: { save(): Omit<SavedSide, "newest">; newest(): FieldArray[] },
): ReplayRingState["side"] {
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
export interface CheckedRing {
  readonly total: number;
  /** Rows of each stored leaf. */
  readonly values: readonly FieldArray[];
  readonly side: SavedSide | undefined;
}

/** Throws unless a state fits the parts; changes nothing. */
export function checkState(
  state: ReplayBufferState,
  parts: ReplayParts,
  sizes: { readonly capacity: number; readonly numEnvs: number },
): CheckedRing[] {
  if (typeof state !== "object" || !Array.isArray(state?.rings)) {
    throw new TypeError(
      `Cannot load a buffer from ${state}: expected what save() gave`,
    );
  }
  checkSame("capacity", state.capacity, sizes.capacity);
  checkSame("numEnvs", state.numEnvs, sizes.numEnvs);
  checkSame("writers", state.rings.length, parts.rings.length);
  checkNumber("allocated", state.allocated);
  checkNumber("seen", state.seen);
  return state.rings.map((ring, i) => checkRing(ring, parts, parts.rings[i]));
}

function checkSame(name: string, saved: number, own: number): void {
  if (saved === own) return;
  throw new RangeError(
    `Cannot load a buffer with ${name} ${saved} into one with ${own}`,
  );
}

function checkNumber(name: string, value: number): void {
  if (Number.isSafeInteger(value) && value >= 0) return;
  throw new TypeError(
    `Cannot load a buffer with ${name} ${value}: expected what save() gave`,
  );
}

function checkRing(
  state: ReplayRingState,
  parts: ReplayParts,
  ring: Ring,
): CheckedRing {
  checkNumber("a total of", state?.total);
  const { schema } = parts;
  const { total } = state;
  const rows = Math.min(total, ring.steps) * ring.numEnvs;
  const values = checkArrays(schema.stored, state.fields, rows);
  if (schema.after === undefined) return { total, values, side: undefined };
  const side = checkSide(state, schema.after, ring.numEnvs);
  checkEnds(values, side.slots, { ring, total, parts });
  return { total, values, side };
}

function checkArrays(
  { root, leaves }: Schema,
  values: FieldValues,
  rows: number,
): FieldArray[] {
  const arrays: ArrayLike<number>[] = [];
  collect(root, values, { action: "load", rows }, arrays);
  return leaves.map(({ dtype, name }, i) => {
    const array: unknown = arrays[i];
    if (isArrayOf(dtype, array)) return array;
    throw new TypeError(
      `Cannot load '${name}' from another kind of array: expected one of ${dtype}`,
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
  const ended = checkArrays(after, side.ended, slots.length);
  return { slots, ended, newest: checkArrays(after, side.newest, numEnvs) };
}

/** The slots at the side are those of ended rows, older steps first. */
function checkEnds(
  values: readonly FieldArray[],
  slots: Int32Array,
  { ring, total, parts }: { ring: Ring; total: number; parts: ReplayParts },
): void {
  const { terminated, truncated } = parts.schema.episodes!;
  const flags = [terminated, truncated].map((it) => values[it] as Uint8Array);
  const ends = flags[0].map((flag, row) => flag | flags[1][row]);
  const count = ends.reduce((sum, it) => sum + (it === 0 ? 0 : 1), 0);
  if (slots.length !== count || new Set(slots).size !== count) {
    throw endsDiffer();
  }
  const oldest = Math.max(0, total - ring.steps) % ring.steps;
  let last = 0;
  for (const slot of slots) {
    const row = slot - ring.base;
    const step = Math.floor(row / ring.numEnvs) - oldest;
    const age = step < 0 ? step + ring.steps : step;
    const isEnd = row >= 0 && row < ends.length && ends[row] !== 0;
    if (!isEnd || age < last) throw endsDiffer();
    last = age;
  }
}

function endsDiffer(): TypeError {
  return new TypeError(
    "Cannot load next values of other rows than those that ended an episode: expected what save() gave",
  );
}

/** Takes over what was checked. */
export function loadRing(
  { rows, rings, sides, links }: ReplayParts,
  index: number,
  { total, values, side }: CheckedRing,
): void {
  const ring = rings[index];
  const count = Math.min(total, ring.steps) * ring.numEnvs;
  rows.forEach((leaf, i) =>
    leaf.write(ring.base, values[i], { from: 0, count })
  );
  ring.setTotal(total);
  if (side !== undefined) sides[index].load(side);
  links[index]?.reset(ring, sides[index]);
}
