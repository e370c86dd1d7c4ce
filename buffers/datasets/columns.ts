import type {
  Batch,
  BoxArray,
  BoxSpace,
  RecordedValues,
  Space,
} from "@bellman/types";
import { BLOCK_UNITS } from "../copy.ts";
import { ARRAYS, type FieldDtype } from "../fields.ts";

/** Excess over a bound, relative to it, that rounding to 32 bits may cause. */
const ROUNDING = 1e-6;

/** One array of a space's values. */
interface Leaf {
  /** Its place in messages, such as `observations.position`. */
  readonly name: string;
  /** Names and places that lead to it. */
  readonly keys: readonly string[];
  readonly space: Space;
  /** Numbers of a value. */
  readonly size: number;
  readonly dtype: FieldDtype;
}

/** Numbers of all rows of one array of a space. */
export interface Column extends Leaf {
  readonly data: BoxArray;
}

/** Rows of an episode that are copied into a column. */
export interface Place {
  /** Number of the episode. */
  readonly episode: number;
  /** First row of the column. */
  readonly at: number;
  /** Number of rows. */
  readonly rows: number;
  /** True where numbers must lie within the bounds of boxes, too. */
  readonly bounded: boolean;
}

/** Describes a space by its kind and shape, for messages. */
export function shapeOf(space: Space): string {
  switch (space.type) {
    case "box":
      return `a box of shape [${space.shape}]`;
    case "discrete":
      return `a discrete space from ${space.start ?? 0} to ${
        (space.start ?? 0) + space.n - 1
      }`;
    case "multiDiscrete":
      return `a multiDiscrete space of [${space.nvec}]`;
    case "multiBinary":
      return `a multiBinary space of ${space.n}`;
    case "dict":
      return `a dict of ${Object.keys(space.spaces).join(", ")}`;
    case "tuple":
      return `a tuple of ${space.spaces.length}`;
  }
}

function leavesOf(
  space: Space,
  name: string,
  keys: readonly string[] = [],
): Leaf[] {
  switch (space.type) {
    case "dict":
    case "tuple":
      return Object.entries<Space>({ ...space.spaces }).flatMap((
        [key, inner],
      ) => leavesOf(inner, `${name}.${key}`, [...keys, key]));
    case "box": {
      const size = space.shape.reduce((product, it) => product * it, 1);
      return [{ name, keys, space, size, dtype: space.dtype }];
    }
    case "discrete":
      return [{ name, keys, space, size: 1, dtype: "int32" }];
    case "multiDiscrete":
      return [{ name, keys, space, size: space.nvec.length, dtype: "int32" }];
    case "multiBinary":
      return [{ name, keys, space, size: space.n, dtype: "uint8" }];
  }
}

/** Makes arrays of zeros for rows of a space, one for each of its leaves. */
export function columnsOf(space: Space, name: string, rows: number): Column[] {
  return leavesOf(space, name).map((leaf) => ({
    ...leaf,
    data: new ARRAYS[leaf.dtype](rows * leaf.size),
  }));
}

/** Nests arrays, in the order of the leaves, as a space is. */
export function nestArrays(space: Space, arrays: Iterator<BoxArray>): Batch {
  if (space.type === "tuple") {
    return space.spaces.map((inner) => nestArrays(inner, arrays));
  }
  if (space.type !== "dict") return arrays.next().value;
  const parts = Object.entries(space.spaces)
    .map(([key, inner]) => [key, nestArrays(inner, arrays)] as const);
  return Object.fromEntries(parts);
}

/** Copies a column's rows, by their numbers and so many further, to another array. */
export function copyRows(
  { data, size }: Column,
  rows: ArrayLike<number>,
  target: BoxArray,
  further = 0,
): void {
  for (let i = 0; i < rows.length; i++) {
    const from = (rows[i] + further) * size, to = i * size;
    if (size >= BLOCK_UNITS) target.set(data.subarray(from, from + size), to);
    else for (let j = 0; j < size; j++) target[to + j] = data[from + j];
  }
}

/** Makes the error of an episode that cannot be used. */
export function refusal(episode: number, problem: string): RangeError {
  return new RangeError(`Cannot use episode ${episode}: ${problem}`);
}

/** Copies the values of an episode into a column, and checks them. */
export function fillColumn(
  column: Column,
  values: RecordedValues,
  place: Place,
): void {
  const numbers = numbersOf(column, values, place);
  const { data, size, name, space } = column;
  const first = place.at * size;
  const isWhole = !column.dtype.startsWith("float");
  for (let i = 0, at = first; i < numbers.length; i++, at++) {
    const number = data[at] = numbers[i];
    const isHeld = isWhole ? number === numbers[i] : Number.isFinite(number);
    if (isHeld && isInside(space, number, i % size, place.bounded)) continue;
    throw refusal(
      place.episode,
      `its ${name} at step ${Math.floor(i / size)} have ${
        numbers[i]
      }, expected ${wanted(column, i % size, place.bounded)}`,
    );
  }
}

function numbersOf(
  { keys, name, size, space }: Leaf,
  values: RecordedValues,
  { episode, rows }: Place,
): ArrayLike<number> {
  let part: unknown = values;
  for (const key of keys) {
    const isNest = typeof part === "object" && !ArrayBuffer.isView(part);
    part = isNest ? (part as Record<string, unknown>)?.[key] : undefined;
  }
  const numbers = part as ArrayLike<number> | undefined;
  const length = numbers?.length;
  if (typeof length !== "number") {
    throw refusal(
      episode,
      `its ${name} are ${
        part === undefined ? "missing" : "a record"
      }, expected ${shapeOf(space)}`,
    );
  }
  if (length === rows * size) return numbers!;
  const given = length / rows;
  throw refusal(
    episode,
    Number.isInteger(given)
      ? `its ${name} have the shape [${given}], expected ${shapeOf(space)}`
      : `its ${name} have ${length} numbers, expected ${rows} rows of ${size}`,
  );
}

/** Returns the bounds of one number, of which unbounded ones are infinite. */
function boundsOf(space: Space, i: number): [low: number, high: number] {
  switch (space.type) {
    case "discrete": {
      const start = space.start ?? 0;
      return [start, start + space.n - 1];
    }
    case "multiDiscrete":
      return [0, space.nvec[i] - 1];
    case "multiBinary":
      return [0, 1];
    default: {
      const { low, high } = space as BoxSpace;
      const at = (bound: number | readonly number[]) =>
        typeof bound === "number" ? bound : bound[i];
      return [at(low), at(high)];
    }
  }
}

function isInside(
  space: Space,
  number: number,
  i: number,
  bounded: boolean,
): boolean {
  if (space.type === "box" && !bounded) return true;
  const [low, high] = boundsOf(space, i);
  const isFloat = space.type === "box" && space.dtype.startsWith("float");
  const rounding = isFloat ? ROUNDING : 0;
  return number >= low - rounding * Math.max(1, Math.abs(low)) &&
    number <= high + rounding * Math.max(1, Math.abs(high));
}

function wanted({ space, dtype }: Leaf, i: number, bounded: boolean): string {
  const kind = dtype.startsWith("float") ? "a finite number" : "a whole number";
  if (space.type === "box" && !bounded) {
    return dtype === "uint8" ? `${kind} from 0 to 255` : kind;
  }
  const [low, high] = boundsOf(space, i);
  if (low === -Infinity && high === Infinity) return kind;
  return `${kind} from ${low} to ${high}`;
}
