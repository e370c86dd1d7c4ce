import { inspect } from "@bellman/files";
import { hintAt } from "@bellman/files/options";

/** Types of numbers in a field. */
export type FieldDtype = "float32" | "float64" | "int32" | "uint8";

/** Array field: numbers of each row. */
export interface ArrayField {
  /** Shape of a row; `[]` for a scalar. */
  readonly shape: readonly number[];
  /** Type of the numbers. Integer fields reject other numbers, and those out of range. */
  readonly dtype: FieldDtype;
}

/** Field: an array, or fields by name or in a list. */
export type Field =
  | ArrayField
  | { readonly [name: string]: Field }
  | readonly Field[];

/** Typed arrays that store fields. */
export type FieldArray = Float32Array | Float64Array | Int32Array | Uint8Array;

/** Stored numbers of a field, nested as the field. */
export type FieldData =
  | FieldArray
  | { [name: string]: FieldData }
  | FieldData[];

/** Numbers to store, nested as the field. */
export type FieldValues =
  | ArrayLike<number>
  | { readonly [name: string]: FieldValues }
  | readonly FieldValues[];

/** Fields of a row, by name. */
export type Fields = Readonly<Record<string, Field>>;

/**
 * Typed array of a field in a batch, or arrays nested as the field.
 *
 * @typeParam F The field.
 */
export type DataOf<F> = Field extends F ? FieldData
  : F extends { readonly dtype: infer D extends FieldDtype } ? {
      float32: Float32Array;
      float64: Float64Array;
      int32: Int32Array;
      uint8: Uint8Array;
    }[D]
  : F extends readonly unknown[] ? { -readonly [I in keyof F]: DataOf<F[I]> }
  : F extends object ? { -readonly [K in keyof F]: DataOf<F[K]> }
  : never;

/**
 * Numbers of a field to store, nested as the field.
 *
 * @typeParam F The field.
 */
export type ValuesOf<F> = Field extends F ? FieldValues
  : F extends { readonly dtype: FieldDtype } ? ArrayLike<number>
  : F extends readonly unknown[] ? { readonly [I in keyof F]: ValuesOf<F[I]> }
  : F extends object ? { readonly [K in keyof F]: ValuesOf<F[K]> }
  : never;

/** One array field. */
export interface Leaf {
  /** Its place among all leaves of its schema. */
  readonly index: number;
  /** Names and places in lists that lead to it. */
  readonly path: readonly string[];
  /** The same in one: `observation.camera`. */
  readonly name: string;
  readonly shape: readonly number[];
  readonly dtype: FieldDtype;
  /** Numbers of a row. */
  readonly size: number;
  /** Of integers, the kind of arrays that hold no other numbers. */
  readonly integers?: Uint8ArrayConstructor | Int32ArrayConstructor;
}

/** Fields by name or in a list. */
export interface Group {
  readonly name: string;
  readonly isList: boolean;
  readonly keys: readonly string[];
  readonly children: readonly (Leaf | Group)[];
}

/** Fields as a tree, and their arrays one after the other. */
export interface Schema {
  readonly root: Group;
  readonly leaves: readonly Leaf[];
}

/** Arrays of each dtype. */
export const ARRAYS = {
  float32: Float32Array,
  float64: Float64Array,
  int32: Int32Array,
  uint8: Uint8Array,
} as const;

const DTYPES = Object.keys(ARRAYS) as FieldDtype[];

function isArrayField(field: Field): field is ArrayField {
  return typeof (field as ArrayField).dtype === "string";
}

function isLeaf(node: Leaf | Group): node is Leaf {
  return "dtype" in node;
}

/** Throws unless every field is an array of a known kind. */
export function makeSchema(fields: Readonly<Record<string, Field>>): Schema {
  if (typeof fields !== "object" || fields === null) {
    throw new TypeError(
      `Cannot make a buffer with fields ${
        inspect(fields)
      }: expected an object of fields by name`,
    );
  }
  const leaves: Leaf[] = [];
  const root = addGroup(fields, [], leaves);
  if (leaves.length === 0) {
    throw new TypeError(
      "Cannot make a buffer without a field: expected one or more",
    );
  }
  const names = leaves.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice === undefined) return { root, leaves };
  throw new RangeError(
    `Cannot store two fields as '${twice}': expected another name for one`,
  );
}

function addGroup(
  fields: Exclude<Field, ArrayField>,
  path: readonly string[],
  leaves: Leaf[],
): Group {
  const children = Object.entries(fields).map(([key, field]) =>
    isArrayField(field) ? addLeaf(field, [...path, key], leaves) : addGroup(
      field as Exclude<Field, ArrayField>,
      [...path, key],
      leaves,
    )
  );
  const keys = Object.keys(fields);
  const name = path.join(".");
  return { name, isList: Array.isArray(fields), keys, children };
}

function addLeaf(
  { shape, dtype }: ArrayField,
  path: readonly string[],
  leaves: Leaf[],
): Leaf {
  const name = path.join(".");
  checkChoice(dtype, DTYPES, `store '${name}' as`);
  const size = shape.reduce((product, length) => product * length, 1);
  if (!Number.isSafeInteger(size) || size < 1 || shape.some((it) => it < 1)) {
    throw new RangeError(
      `Cannot store '${name}' of shape [${shape}]: expected whole numbers above 0`,
    );
  }
  const integers = { uint8: Uint8Array, int32: Int32Array }[dtype as string];
  const index = leaves.length;
  const leaf = { index, path, name, shape, dtype, size, integers };
  leaves.push(leaf);
  return leaf;
}

/** Makes the error for a name that a group does not have. */
export function unknownField(
  action: string,
  { name, keys }: Group,
  key: string,
): RangeError {
  const prefix = name === "" ? "" : `${name}.`;
  const hint = hintAt(prefix + key, keys.map((it) => prefix + it));
  return new RangeError(
    `Cannot ${action} unknown field '${prefix}${key}': ${hint}`,
  );
}

/** Throws unless names are those of top fields. */
export function checkNames(
  names: readonly string[],
  { root }: Schema,
  action: string,
): void {
  const name = names.find((it) => !root.keys.includes(it));
  if (name !== undefined) throw unknownField(action, root, name);
}

/** Finds a leaf by its path; throws if there is none. */
export function findLeaf(
  path: string,
  { root, leaves }: Schema,
  action: string,
): Leaf {
  const leaf = leaves.find(({ name }) => name === path);
  if (leaf !== undefined) return leaf;
  const keys = leaves.map(({ name }) => name);
  throw unknownField(action, { ...root, keys }, path);
}

/** Demands on the arrays of values. */
export interface ArrayCheck {
  /** Use that is made of them, for error messages. */
  readonly action: string;
  /** Rows that each array must have. */
  readonly rows: number;
  /** True where arrays may have more rows than that. */
  readonly atLeast?: boolean;
}

/**
 * Collects the arrays of nested values, each at the index of its leaf; throws
 * unless they are as the group is, with so many rows each.
 */
export function collect(
  group: Group,
  values: FieldValues,
  check: ArrayCheck,
  into: ArrayLike<number>[],
): void {
  checkIsGroup(group, values, check);
  const { keys, children } = group;
  if (countKeys(group, values) !== keys.length) {
    checkKeys(group, values, check);
  }
  const record = values as Record<string, FieldValues>;
  for (let i = 0; i < keys.length; i++) {
    const child = children[i];
    const value = record[keys[i]];
    if (value === undefined) checkKeys(group, values, check);
    if (isLeaf(child)) {
      checkLeaf(child, value, check);
      into[child.index] = value as ArrayLike<number>;
    } else collect(child, value, check, into);
  }
}

function countKeys({ isList }: Group, values: FieldValues): number {
  if (isList) return (values as readonly unknown[]).length;
  let count = 0;
  for (const _ in values) count++;
  return count;
}

function checkKeys(
  group: Group,
  values: FieldValues,
  { action }: ArrayCheck,
): void {
  for (const key of Object.keys(values)) {
    if (!group.keys.includes(key)) throw unknownField(action, group, key);
  }
}

function checkIsGroup(
  group: Group,
  values: FieldValues,
  { action }: ArrayCheck,
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
  leaf: Leaf,
  values: FieldValues,
  { action, rows, atLeast }: ArrayCheck,
): void {
  const length = (values as ArrayLike<number> | undefined | null)?.length;
  const { name, size, integers } = leaf, wanted = rows * size;
  // An array of the field's own kind holds no other numbers.
  if (
    length === wanted &&
    (integers === undefined || values.constructor === integers)
  ) return;
  if (typeof length !== "number") {
    throw new TypeError(
      `Cannot ${action} '${name}' from ${
        describe(values)
      }: expected ${wanted} numbers`,
    );
  }
  if (length !== wanted && !(atLeast && length > wanted)) {
    throw new RangeError(
      `Cannot ${action} ${length} numbers as '${name}': expected ${
        atLeast ? "at least " : ""
      }${wanted}`,
    );
  }
  if (integers === undefined || values instanceof integers) return;
  checkIntegers(leaf, values as ArrayLike<number>, action, wanted);
}

/** Throws unless an array, such as one that is to be sampled into, is of its field's kind. */
export function checkKind(
  { name, dtype }: Leaf,
  array: unknown,
  [action, preposition]: readonly [string, string],
): asserts array is FieldArray {
  if (array instanceof ARRAYS[dtype]) return;
  throw new TypeError(
    `Cannot ${action} '${name}' ${preposition} another kind of array: expected one of ${dtype}`,
  );
}

/** Throws where an integer field would hold another number than it is given. */
function checkIntegers(
  { name, dtype }: Leaf,
  values: ArrayLike<number>,
  action: string,
  count: number,
): void {
  const [lowest, highest] = dtype === "uint8"
    ? [0, 255]
    : [-(2 ** 31), 2 ** 31 - 1];
  for (let i = 0; i < count; i++) {
    const value: unknown = values[i];
    if (
      Number.isInteger(value) && value as number >= lowest &&
      value as number <= highest
    ) continue;
    const ErrorClass = typeof value === "number" ? RangeError : TypeError;
    throw new ErrorClass(
      `Cannot ${action} ${value} as number ${i} of '${name}': expected a whole number from ${lowest} to ${highest}`,
    );
  }
}

/** Something for each array field, nested as the fields are. */
type Nested<T> = T | { [name: string]: Nested<T> } | Nested<T>[];

/** Makes something for each leaf, nested as the fields are. */
export function nest<T>(
  { root }: Schema,
  make: (leaf: Leaf) => T,
): { [name: string]: Nested<T> } {
  return nestNode(root, make) as { [name: string]: Nested<T> };
}

/** Makes something for each leaf of a field. */
export function nestNode<T>(
  node: Leaf | Group,
  make: (leaf: Leaf) => T,
): Nested<T> {
  if (isLeaf(node)) return make(node);
  const data = node.children.map((child) => nestNode(child, make));
  if (node.isList) return data;
  return Object.fromEntries(node.keys.map((key, i) => [key, data[i]]));
}

/** Makes arrays of zeros for rows of each leaf. */
export function allocateRows(
  leaves: readonly Leaf[],
  rows: number,
): FieldArray[] {
  return leaves.map(({ dtype, size }) => new ARRAYS[dtype](rows * size));
}

/** Returns the kind of an array. */
export function dtypeOf(array: FieldArray): FieldDtype {
  return DTYPES.find((dtype) => array instanceof ARRAYS[dtype])!;
}

/** Throws unless a size is a whole number above 0. */
export function checkCount(name: string, count: number): void {
  checkWhole(count, `make a buffer with ${name} ${count}`);
}

/** Throws unless a number, which the action names, is a whole one above 0. */
export function checkWhole(value: number, action: string): void {
  if (Number.isSafeInteger(value) && value > 0) return;
  throw new RangeError(`Cannot ${action}: expected a whole number above 0`);
}

/** Throws unless a value is one of those that there are. */
export function checkChoice(
  value: string,
  choices: readonly string[],
  action: string,
): void {
  if (choices.includes(value)) return;
  throw new TypeError(
    `Cannot ${action} '${value}': ${hintAt(String(value), choices)}`,
  );
}

/** Returns an error about a state that no `save` returned. */
export function foreignState(what: string): TypeError {
  return new TypeError(`Cannot load ${what}: expected what save() gave`);
}
