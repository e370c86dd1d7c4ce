import { closest } from "fastest-levenshtein";
import type {
  ArrayField,
  Field,
  FieldArray,
  FieldData,
  FieldDtype,
  FieldValues,
} from "./field.ts";

/** Where the numbers of one array field are. */
interface Leaf {
  readonly name: string;
  /** Numbers of a row. */
  readonly size: number;
  readonly data: FieldArray;
  /** The array that `rows` are views of. */
  source?: ArrayLike<number>;
  /** Rows of the last step that was written in blocks, `[env]`. */
  rows: readonly FieldArray[];
}

/** Fields by name or in a list. */
export interface Group {
  readonly name: string;
  readonly isList: boolean;
  readonly keys: readonly string[];
  readonly children: Readonly<Record<string, Leaf | Group>>;
}

const ARRAYS: Readonly<
  Record<FieldDtype, new (length: number) => FieldArray>
> = {
  float32: Float32Array,
  float64: Float64Array,
  int32: Int32Array,
  uint8: Uint8Array,
};

function isArrayField(field: Field): field is ArrayField {
  return typeof (field as ArrayField).dtype === "string";
}

function isLeaf(node: Leaf | Group): node is Leaf {
  return "data" in node;
}

/** Arrays for a number of rows. */
export function allocateGroup(
  fields: Exclude<Field, ArrayField>,
  { rows, name = "" }: { rows: number; name?: string },
): Group {
  const children: Record<string, Leaf | Group> = {};
  for (const [key, field] of Object.entries(fields)) {
    const path = name === "" ? key : `${name}.${key}`;
    children[key] = isArrayField(field)
      ? allocateLeaf(field, { rows, name: path })
      : allocateGroup(field as Exclude<Field, ArrayField>, {
        rows,
        name: path,
      });
  }
  const keys = Object.keys(children);
  return { name, isList: Array.isArray(fields), keys, children };
}

function allocateLeaf(
  { shape, dtype }: ArrayField,
  { rows, name }: { rows: number; name: string },
): Leaf {
  if (!Object.hasOwn(ARRAYS, dtype)) {
    throw new TypeError(
      `Cannot store '${name}' as '${dtype}': did you mean '${
        closest(dtype, Object.keys(ARRAYS))
      }'?`,
    );
  }
  const size = shape.reduce((product, length) => product * length, 1);
  if (!Number.isSafeInteger(size) || size < 1) {
    throw new RangeError(
      `Cannot store '${name}' of shape [${shape}]: expected whole numbers above 0`,
    );
  }
  return { name, size, data: new ARRAYS[dtype](rows * size), rows: [] };
}

/** The error for a name that a group does not have. */
export function unknownField(
  action: string,
  { name, keys }: Group,
  key: string,
): RangeError {
  const prefix = name === "" ? "" : `${name}.`;
  const hint = `did you mean '${prefix}${closest(key, [...keys])}'?`;
  return new RangeError(
    `Cannot ${action} unknown field '${prefix}${key}': ${hint}`,
  );
}

/** What values are checked for. */
export interface Purpose {
  /** What is done with them, for error messages. */
  readonly action: string;
  /** Rows that each array must have. */
  readonly rows: number;
}

/** Throws unless values are as a group is, with so many rows in each array. */
export function checkGroup(
  group: Group,
  values: FieldValues,
  purpose: Purpose,
): void {
  checkIsGroup(group, values, purpose);
  checkKeys(group, values, purpose);
  const record = values as Record<string, FieldValues>;
  for (const key of group.keys) {
    const child = group.children[key];
    if (isLeaf(child)) checkLeaf(child, record[key], purpose);
    else checkGroup(child, record[key], purpose);
  }
}

function checkKeys(
  group: Group,
  values: FieldValues,
  { action }: Purpose,
): void {
  const { keys, children } = group;
  if (group.isList) { // Its keys are not gone through: that would allocate.
    if ((values as readonly unknown[]).length <= keys.length) return;
    throw unknownField(action, group, String(keys.length));
  }
  for (const key in values) {
    if (!Object.hasOwn(children, key)) throw unknownField(action, group, key);
  }
}

function checkIsGroup(
  group: Group,
  values: FieldValues,
  { action }: Purpose,
): void {
  const isGroup = typeof values === "object" && values !== null &&
    !ArrayBuffer.isView(values) && Array.isArray(values) === group.isList;
  if (isGroup) return;
  const what = group.name === "" ? "a record of fields" : `'${group.name}'`;
  const wanted = group.isList ? "a list" : "a record";
  throw new TypeError(
    `Cannot ${action} ${what} from ${describe(values)}: expected ${wanted}`,
  );
}

function describe(values: unknown): string {
  if (values === undefined) return "nothing";
  if (values === null || typeof values !== "object") return String(values);
  if (Array.isArray(values)) return "a list";
  return ArrayBuffer.isView(values) ? "an array of numbers" : "a record";
}

function checkLeaf(
  { name, size }: Leaf,
  values: FieldValues,
  { action, rows }: Purpose,
): void {
  const length = (values as ArrayLike<number> | undefined | null)?.length;
  if (typeof length !== "number") {
    throw new TypeError(
      `Cannot ${action} '${name}' from ${describe(values)}: expected ${
        rows * size
      } numbers`,
    );
  }
  if (length !== rows * size) {
    throw new RangeError(
      `Cannot ${action} ${length} numbers as '${name}': expected ${
        rows * size
      }`,
    );
  }
}

/** Where a step goes: row `env * stride + offset` for each environment. */
export interface Place {
  readonly numEnvs: number;
  readonly stride: number;
  /** The step. */
  readonly offset: number;
}

/** Copies checked values of one step, `[env, ...shape]`, to their rows. */
export function writeGroup(
  group: Group,
  values: FieldValues,
  place: Place,
): void {
  const record = values as Record<string, FieldValues>;
  for (const key of group.keys) {
    const child = group.children[key];
    if (isLeaf(child)) {
      writeLeaf(child, record[key] as ArrayLike<number>, place);
    } else writeGroup(child, record[key], place);
  }
}

/** Numbers of a row from which on a copy as a block is faster. */
const BLOCK_SIZE = 128;

function writeLeaf(
  leaf: Leaf,
  values: ArrayLike<number>,
  { numEnvs, stride, offset }: Place,
): void {
  const { data, size } = leaf;
  const isBlock = size >= BLOCK_SIZE && ArrayBuffer.isView(values);
  if (isBlock) viewRows(leaf, values as FieldArray);
  for (let env = 0; env < numEnvs; env++) {
    const from = env * size;
    const to = (env * stride + offset) * size;
    if (isBlock) data.set(leaf.rows[env], to);
    else for (let i = 0; i < size; i++) data[to + i] = values[from + i];
  }
}

/** Environments reuse their arrays, and then the views of rows serve again. */
function viewRows(leaf: Leaf, values: FieldArray): void {
  if (leaf.source === values) return;
  const { size } = leaf;
  leaf.source = values;
  leaf.rows = Array.from(
    { length: values.length / size },
    (_, env) => values.subarray(env * size, (env + 1) * size),
  );
}

/** A group's arrays, or what is made of each, nested as the group is. */
export function mapGroup(
  group: Group,
  transform: (data: FieldArray) => FieldArray,
): { [name: string]: FieldData } | FieldData[] {
  const entries = group.keys.map((key): [string, FieldData] => {
    const child = group.children[key];
    return [
      key,
      isLeaf(child) ? transform(child.data) : mapGroup(child, transform),
    ];
  });
  return group.isList
    ? entries.map(([, data]) => data)
    : Object.fromEntries(entries);
}

/** Takes over checked values for all rows. */
export function loadGroup(group: Group, values: FieldValues): void {
  const record = values as Record<string, FieldValues>;
  for (const key of group.keys) {
    const child = group.children[key];
    if (isLeaf(child)) child.data.set(record[key] as ArrayLike<number>);
    else loadGroup(child, record[key]);
  }
}
