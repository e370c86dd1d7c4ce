import type { NpyArray, NpyData } from "@bellman/files";
import type { ArrayField, Field, FieldData, FieldValues } from "../fields.ts";

/** Buffer for {@linkcode exportRows}, such as a `ReplayBuffer`. */
export interface RowSource {
  /**
   * Reads rows by their slots.
   *
   * @param slots The rows' slots.
   * @returns The numbers of each field, `[row, ...shape]`.
   */
  gather(slots: ArrayLike<number>): { readonly [field: string]: FieldData };
  /**
   * Lists the slots of all rows.
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
   * Fields with the shapes of the exported arrays, such as the buffer's. Other arrays
   * have one axis after that of rows, or none for scalars.
   *
   * @default {}
   */
  readonly fields?: Readonly<Record<string, Field>>;
}

/** Names of a batch that are no fields. */
const OWN_NAMES = ["slots", "weights"];

/**
 * Copies rows of a buffer to arrays by name, as for an npz file. Nested fields are
 * named by their path, such as `observation.camera`. Values composed on sampling, such
 * as next observations and frame stacks, are included.
 *
 * @param buffer The buffer.
 * @param options Rows and shapes.
 * @returns The arrays `[row, ...shape]`; copies.
 * @throws {RangeError} If a row is not held, or numbers do not fit a shape.
 * @throws {TypeError} If it is not said which rows, and the buffer cannot tell.
 *
 * @example
 * ```ts
 * import { ReplayBuffer } from "@bellman/buffers";
 * import { exportRows, importRows } from "@bellman/buffers/datasets";
 * import { readNpz, writeNpz } from "@bellman/files/npz";
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

/** Buffer for {@linkcode importRows}, such as a `ReplayBuffer`. */
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
 * Adds arrays by name, as from an npz file, to a buffer as rows. Names with dots become
 * nested fields, and indices such as `joints.0` lists.
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
 * assertThrows(() => importRows(buffer, { y }), RangeError, "expected x");
 * assertEquals(importRows(buffer, { x: y }), 2);
 * ```
 */
export function importRows(
  buffer: RowTarget,
  arrays: Readonly<Record<string, NpyArray>>,
): number {
  const entries = Object.entries(arrays);
  const count = entries[0]?.[1].shape[0] ?? 0;
  const rows = entries.map(([path, { data, shape }]): Entry => {
    if (shape[0] === count) return { path, keys: path.split("."), data };
    throw new RangeError(
      `Cannot import ${
        shape[0] ?? "no"
      } rows of '${path}': expected ${count} as of '${entries[0][0]}'`,
    );
  });
  buffer.addBatch(Object.fromEntries(children(rows)), count);
  return count;
}

/** Array by the rest of its path. */
interface Entry {
  readonly path: string;
  readonly keys: readonly string[];
  readonly data: NpyData;
}

/** Nests arrays by the first key of each path. */
function children(entries: readonly Entry[]): [string, FieldValues][] {
  const groups = Map.groupBy(entries, ({ keys }) => keys[0]);
  return [...groups].map(([key, group]) => [
    key,
    nested(group.map((it) => ({ ...it, keys: it.keys.slice(1) }))),
  ]);
}

/** Nests arrays: keys that count from 0 are places of a list. */
function nested(entries: readonly Entry[]): FieldValues {
  const whole = entries.find(({ keys }) => keys.length === 0);
  if (whole !== undefined && entries.length === 1) return whole.data;
  if (whole !== undefined) {
    throw new RangeError(
      `Cannot import '${
        entries.at(-1)!.path
      }': another array has a part of its path as its name`,
    );
  }
  const fields = Object.fromEntries(children(entries));
  const keys = Object.keys(fields);
  return keys.every((_, i) => Object.hasOwn(fields, i))
    ? keys.map((_, i) => fields[i])
    : fields;
}
