import type { NpyArray, NpyData } from "@bellman/files";
import { sliceNumbers } from "../copy.ts";
import {
  type ArrayField,
  closest,
  type Field,
  type FieldData,
  type FieldValues,
} from "../fields.ts";
import type { Episode } from "./episodes.ts";

/** An array of a data set; an `NpyArray` is one. */
export interface DataSetArray {
  /** The numbers, row-major. */
  readonly data: ArrayLike<number>;
  /** The length of each axis; the first one is that of steps. */
  readonly shape: readonly number[];
}

/** Names of an array, the first of which is D4RL's. */
const NAMES = {
  observations: ["observations"],
  actions: ["actions"],
  rewards: ["rewards"],
  terminations: ["terminals", "terminations"],
  truncations: ["timeouts", "truncations"],
  next: ["next_observations"],
} as const;

/** The arrays of all steps. */
interface Steps {
  readonly count: number;
  readonly observations: ArrayLike<number>;
  readonly next: ArrayLike<number> | undefined;
  readonly actions: ArrayLike<number>;
  readonly rewards: ArrayLike<number>;
  readonly terminations: ArrayLike<number>;
  readonly truncations: ArrayLike<number>;
}

/**
 * Cuts the arrays of a data set in D4RL's form, all steps of all episodes one
 * after the other, into episodes: `observations`, `actions`, `rewards`,
 * `terminals` (or `terminations`), and where there are such `timeouts` (or
 * `truncations`) and `next_observations`; other arrays are left out.
 *
 * Without `next_observations` nothing tells what was observed after an episode
 * that was cut off. Its last step is then left out, and the one before it is the
 * one that is cut off, with the observation before the last step as the final
 * one. After a step that ended an episode for good, whose next observation counts
 * for nothing, the observation before it stands again.
 *
 * Source: Fu et al. 2020, "D4RL: Datasets for Deep Data-Driven Reinforcement
 * Learning", whose `qlearning_dataset` leaves out the same steps.
 *
 * @param arrays Arrays by name, such as {@linkcode loadNpz} gives.
 * @returns The episodes in turn; views of typed arrays where possible.
 * @throws {RangeError} If an array is missing, or has not as many rows as there
 * are rewards.
 *
 * @example
 * ```ts
 * import { episodesFromArrays } from "@bellman/buffers/datasets";
 * import { assertEquals } from "@std/assert";
 *
 * const row = (...data: number[]) => ({ data, shape: [data.length] });
 * const [first, second] = episodesFromArrays({
 *   observations: row(0, 1, 2, 10, 11, 12),
 *   actions: row(5, 6, 7, 8, 9, 10),
 *   rewards: row(0, 0, 1, 0, 0, 0),
 *   terminals: row(0, 0, 1, 0, 0, 0),
 *   timeouts: row(0, 0, 0, 0, 0, 1),
 * });
 * assertEquals(first.observations, [0, 1, 2, 2]);
 * assertEquals(second.observations, [10, 11, 12]);
 * assertEquals(second.truncations, Uint8Array.of(0, 1));
 * ```
 */
export function episodesFromArrays(
  arrays: Readonly<Record<string, DataSetArray>>,
): Iterable<Episode> {
  return cut(readSteps(arrays));
}

function readSteps(arrays: Readonly<Record<string, DataSetArray>>): Steps {
  const rewards = take(arrays, NAMES.rewards);
  const count = rewards.shape[0] ?? 1;
  const read = (names: readonly string[]) => {
    const { data, shape } = take(arrays, names);
    if (shape[0] === count) return data;
    throw new RangeError(
      `Cannot read episodes with ${shape[0]} rows of '${
        nameIn(arrays, names)
      }': expected ${count} as there are rewards`,
    );
  };
  const orNothing = (names: readonly string[]) =>
    nameIn(arrays, names) === undefined ? undefined : read(names);
  return {
    count,
    observations: read(NAMES.observations),
    next: orNothing(NAMES.next),
    actions: read(NAMES.actions),
    rewards: rewards.data,
    terminations: read(NAMES.terminations),
    truncations: orNothing(NAMES.truncations) ?? new Uint8Array(count),
  };
}

function nameIn(
  arrays: Readonly<Record<string, DataSetArray>>,
  names: readonly string[],
): string | undefined {
  return names.find((name) => Object.hasOwn(arrays, name));
}

function take(
  arrays: Readonly<Record<string, DataSetArray>>,
  names: readonly string[],
): DataSetArray {
  const name = nameIn(arrays, names);
  if (name !== undefined) return arrays[name];
  const known = Object.keys(arrays);
  const hint = known.length === 0
    ? "there is no array"
    : `did you mean '${closest(names[0], known)}'?`;
  throw new RangeError(
    `Cannot read episodes without '${names[0]}': ${hint}`,
  );
}

function* cut(steps: Steps): Generator<Episode> {
  const { count, terminations, truncations } = steps;
  let start = 0;
  for (let step = 0; step < count; step++) {
    const terminated = Boolean(terminations[step]);
    if (!terminated && !truncations[step] && step + 1 < count) continue;
    yield* episode(steps, start, step + 1, terminated);
    start = step + 1;
  }
}

/** Steps `start` to `end - 1`; none where only a last step of unknown end is left. */
function* episode(
  steps: Steps,
  start: number,
  end: number,
  terminated: boolean,
): Generator<Episode> {
  const last = terminated || steps.next !== undefined ? end : end - 1;
  const length = last - start;
  if (length === 0) return;
  const flags = new Uint8Array(length);
  flags[length - 1] = 1;
  const none = new Uint8Array(length);
  const size = steps.actions.length / steps.count;
  yield {
    observations: observationsOf(steps, start, last, end),
    actions: sliceNumbers(steps.actions, start * size, last * size),
    rewards: sliceNumbers(steps.rewards, start, last),
    terminations: terminated ? flags : none,
    truncations: terminated ? none : flags,
  };
}

/** Observations of steps `start` to `last - 1`, and the one after them. */
function observationsOf(
  { observations, next, count }: Steps,
  start: number,
  last: number,
  end: number,
): ArrayLike<number> {
  const size = observations.length / count;
  if (last < end) return sliceNumbers(observations, start * size, end * size);
  const before = sliceNumbers(observations, start * size, end * size);
  const after = sliceNumbers(
    next ?? observations,
    (end - 1) * size,
    end * size,
  );
  if (!ArrayBuffer.isView(before)) {
    return [...Array.from(before), ...Array.from(after)];
  }
  const from = before as Float32Array;
  const all = new (from.constructor as typeof Float32Array)(
    from.length + size,
  );
  all.set(from);
  all.set(after, from.length);
  return all;
}

/** Buffer that {@linkcode exportRows} reads, such as a `ReplayBuffer`. */
export interface RowSource {
  /**
   * Reads rows by their slots.
   *
   * @param slots The rows' slots.
   * @returns The numbers of each field, `[row, ...shape]`.
   */
  gather(slots: ArrayLike<number>): { readonly [field: string]: FieldData };
  /**
   * Lists the slots of all its rows.
   *
   * @returns Older rows first.
   */
  slots?(): ArrayLike<number>;
}

/** Options of {@linkcode exportRows}. */
export interface ExportRowsOptions {
  /**
   * Rows to export, and their order.
   *
   * @default buffer.slots()
   */
  readonly slots?: ArrayLike<number>;
  /**
   * Fields whose shapes the arrays get, such as the buffer's. An array of another
   * name has one axis after that of rows, or none where a row is one number.
   *
   * @default {}
   */
  readonly fields?: Readonly<Record<string, Field>>;
}

/** Names of a batch that are no fields. */
const OWN_NAMES = ["slots", "weights"];

/**
 * Copies rows of a buffer to arrays by name, such as an npz file holds. A nested
 * field goes by its path, such as `observation.camera`. Values that a buffer puts
 * together as it is drawn from, such as next observations and stacks, are there
 * as well.
 *
 * @param buffer The buffer.
 * @param options Rows and shapes.
 * @returns The arrays `[row, ...shape]`; copies.
 * @throws {RangeError} If a row is not held, or numbers do not fit a shape.
 * @throws {TypeError} If it is not said which rows, and the buffer cannot tell.
 *
 * @example
 * ```ts
 * import { readNpz, ReplayBuffer, writeNpz } from "@bellman/buffers";
 * import { exportRows, importRows } from "@bellman/buffers/datasets";
 * import { assertEquals } from "@std/assert";
 *
 * const fields = { x: { shape: [2], dtype: "float32" } } as const;
 * const buffer = new ReplayBuffer({ capacity: 4, fields });
 * buffer.addBatch({ x: [1, 2, 3, 4] }, 2);
 * const stream = writeNpz(exportRows(buffer));
 *
 * const other = new ReplayBuffer({ capacity: 4, fields });
 * const arrays = await readNpz(await new Response(stream).bytes());
 * assertEquals(importRows(other, arrays), 2);
 * assertEquals(other.gather([1]).x, Float32Array.of(3, 4));
 * ```
 */
export function exportRows(
  buffer: RowSource,
  options: ExportRowsOptions = {},
): Record<string, NpyArray> {
  const slots = options.slots ?? buffer.slots?.();
  if (slots === undefined) {
    throw new TypeError(
      "Cannot export rows of a buffer that does not list them: expected the option 'slots'",
    );
  }
  const arrays: Record<string, NpyArray> = {};
  const add = (data: FieldData, path: string, field: Field | undefined) => {
    if (ArrayBuffer.isView(data)) {
      const shape = shapeOf(data, path, { rows: slots.length, field });
      arrays[path] = { data, shape };
      return;
    }
    for (const [key, child] of Object.entries(data)) {
      const inner = (field as Record<string, Field> | undefined)?.[key];
      add(child, `${path}.${key}`, inner);
    }
  };
  for (const [name, data] of Object.entries(buffer.gather(slots))) {
    if (!OWN_NAMES.includes(name)) add(data, name, options.fields?.[name]);
  }
  return arrays;
}

function shapeOf(
  data: NpyData,
  path: string,
  { rows, field }: { rows: number; field: Field | undefined },
): number[] {
  const size = rows === 0 ? 1 : data.length / rows;
  const { shape } = (field ?? {}) as Partial<ArrayField>;
  if (!Array.isArray(shape)) return size === 1 ? [rows] : [rows, size];
  const wanted = shape.reduce<number>((product, it) => product * it, 1);
  if (wanted === size || rows === 0) return [rows, ...shape];
  throw new RangeError(
    `Cannot export '${path}' in the shape [${shape}]: its rows have ${size} numbers`,
  );
}

/** Buffer that {@linkcode importRows} adds to, such as a `ReplayBuffer`. */
export interface RowTarget {
  /**
   * Records rows.
   *
   * @param rows For each field its numbers `[row, ...shape]`; copied.
   * @param count Number of rows.
   */
  addBatch(
    rows: { readonly [field: string]: FieldValues },
    count: number,
  ): void;
}

/**
 * Adds arrays such as {@linkcode loadNpz} gives to a buffer as rows. Names with
 * dots become nested fields, and places such as `joints.0` lists.
 *
 * @param buffer The buffer; numbers become what its fields are.
 * @param arrays Arrays `[row, ...shape]` for each of its fields.
 * @returns Rows that were added.
 * @throws {RangeError} If arrays have other numbers of rows, or the buffer other
 * fields; nothing is added.
 * @throws {TypeError} If a field is missing or nested otherwise.
 *
 * @example
 * ```ts
 * import { ReplayBuffer } from "@bellman/buffers";
 * import { importRows } from "@bellman/buffers/datasets";
 * import { assertEquals, assertThrows } from "@std/assert";
 *
 * const fields = { x: { shape: [], dtype: "float32" } } as const;
 * const buffer = new ReplayBuffer({ capacity: 4, fields });
 * const y = { data: Float32Array.of(1, 2), shape: [2] };
 * assertThrows(() => importRows(buffer, { y }), RangeError, "did you mean 'x'?");
 * assertEquals(importRows(buffer, { x: y }), 2);
 * ```
 */
export function importRows(
  buffer: RowTarget,
  arrays: Readonly<Record<string, NpyArray>>,
): number {
  const entries = Object.entries(arrays);
  const count = entries[0]?.[1].shape[0] ?? 0;
  const root: Tree = new Map();
  for (const [path, { data, shape }] of entries) {
    if (shape[0] !== count) {
      throw new RangeError(
        `Cannot import ${
          shape[0] ?? "no"
        } rows of '${path}': expected ${count} as of '${entries[0][0]}'`,
      );
    }
    insert(root, path, data);
  }
  buffer.addBatch(
    Object.fromEntries([...root].map(([key, node]) => [key, nested(node)])),
    count,
  );
  return count;
}

/** Values by the parts of their paths. */
type Tree = Map<string, NpyData | Tree>;

function insert(root: Tree, path: string, data: NpyData): void {
  const keys = path.split(".");
  const last = keys.pop()!;
  let tree = root;
  for (const key of keys) {
    const child = tree.get(key) ?? new Map();
    if (!(child instanceof Map)) throw taken(path);
    tree.set(key, child);
    tree = child;
  }
  if (tree.has(last)) throw taken(path);
  tree.set(last, data);
}

function taken(path: string): RangeError {
  return new RangeError(
    `Cannot import '${path}': another array has a part of its path as its name`,
  );
}

function nested(node: NpyData | Tree): FieldValues {
  if (!(node instanceof Map)) return node;
  const isList = [...node.keys()].every((key) =>
    /^\d+$/.test(key) && Number(key) < node.size
  );
  return isList
    ? Array.from({ length: node.size }, (_, i) => nested(node.get(`${i}`)!))
    : Object.fromEntries([...node].map(([key, child]) => [key, nested(child)]));
}
