import type {
  Batch,
  BoxArray,
  BoxSpace,
  RecordedValues,
  Space,
} from "@bellman/types";
import { BLOCK_UNITS } from "../copy.ts";
import { ARRAYS } from "../fields.ts";
import { shapeOf } from "./spaces.ts";

/** Excess over a bound, relative to it, that rounding to 32 bits may cause. */
const ROUNDING = 1e-6;

/** Numbers of all rows of one array of a space. */
export interface Column {
  /** Its place in messages, such as `observations.position`. */
  readonly name: string;
  /** Names and places that lead to it. */
  readonly keys: readonly string[];
  readonly space: Space;
  /** The space as a box, whose bounds hold here. */
  readonly box: BoxSpace;
  /** Numbers of a row. */
  readonly size: number;
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
}

/** Returns the box of the numbers that a space has, other than a dict or a tuple. */
function boxOf(space: Space): BoxSpace {
  const whole = { type: "box", low: 0, dtype: "int32" } as const;
  switch (space.type) {
    case "discrete": {
      const { n, start: low = 0 } = space;
      return { ...whole, shape: [], low, high: low + n - 1 };
    }
    case "multiDiscrete": {
      const high = space.nvec.map((n) => n - 1);
      return { ...whole, shape: [high.length], high };
    }
    case "multiBinary":
      return { ...whole, shape: [space.n], high: 1, dtype: "uint8" };
    default:
      return space as BoxSpace;
  }
}

/**
 * Makes arrays of zeros for rows of a space, one for each array of its values. Boxes of
 * those that are not bounded take any number.
 */
export function columnsOf(
  space: Space,
  name: string,
  { rows, bounded = false, keys = [] }: {
    rows: number;
    bounded?: boolean;
    keys?: readonly string[];
  },
): Column[] {
  if (space.type === "dict" || space.type === "tuple") {
    return Object.entries<Space>({ ...space.spaces }).flatMap(([key, inner]) =>
      columnsOf(inner, `${name}.${key}`, {
        rows,
        bounded,
        keys: [...keys, key],
      })
    );
  }
  const exact = boxOf(space);
  const box = space.type === "box" && !bounded
    ? { ...exact, low: -Infinity, high: Infinity }
    : exact;
  const size = box.shape.reduce((product, it) => product * it, 1);
  const data = new ARRAYS[box.dtype](rows * size);
  return [{ name, keys, space, box, size, data }];
}

/** Nests arrays, in the order of the columns, as a space is. */
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
  const { data, size, name, box } = column, first = place.at * size;
  const isFloat = box.dtype.startsWith("float");
  const margin = (bound: number) =>
    isFloat ? ROUNDING * Math.max(1, Math.abs(bound)) : 0;
  const boundAt = (end: "low" | "high", i: number) => {
    const bound = box[end];
    return typeof bound === "number" ? bound : bound[i];
  };
  for (let i = 0; i < numbers.length; i++) {
    const number = data[first + i] = numbers[i], at = i % size;
    const low = boundAt("low", at), high = boundAt("high", at);
    if (
      (isFloat ? Number.isFinite(number) : number === numbers[i]) &&
      number >= low - margin(low) &&
      number <= high + margin(high)
    ) continue;
    const step = Math.floor(i / size), kind = isFloat ? "finite" : "whole";
    const bounds = high - low < Infinity ? ` from ${low} to ${high}` : "";
    throw refusal(
      place.episode,
      `its ${name} at step ${step} have ${
        numbers[i]
      }, expected a ${kind} number${bounds}`,
    );
  }
}

function numbersOf(
  { keys, name, size, space }: Column,
  values: RecordedValues,
  { episode, rows }: Place,
): ArrayLike<number> {
  let part: unknown = values;
  for (const key of keys) part = (part as Record<string, unknown>)?.[key];
  const length = (part as ArrayLike<number> | undefined)?.length;
  if (length === rows * size) return part as ArrayLike<number>;
  const given = (length ?? 0) / rows;
  const found = part === undefined
    ? "are missing"
    : length === undefined
    ? "are a record"
    : Number.isInteger(given)
    ? `have the shape [${given}]`
    : `have ${length} numbers for ${rows} rows`;
  throw refusal(episode, `its ${name} ${found}, expected ${shapeOf(space)}`);
}
