import type { Batch, BoxArray, Space, SpaceValue } from "@bellman/types";
import { allocateArray, elementCount, mapSpaces } from "./arrays.ts";

/**
 * Makes a batch of zeros for `numEnvs` values of a space.
 *
 * @param space Space of one value.
 * @param numEnvs Number of values.
 * @returns The batch.
 * @example
 * ```ts
 * import { allocateBatch, box } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(allocateBatch(box({ shape: [2] }), 3), new Float32Array(6));
 * ```
 */
export function allocateBatch(space: Space, numEnvs: number): Batch {
  return space.type === "dict" || space.type === "tuple"
    ? mapSpaces<Batch>(space, (inner) => allocateBatch(inner, numEnvs))
    : allocateArray(space, numEnvs * elementCount(space));
}

/** Place of one value in a batch. */
export interface BatchRow {
  /** Batch that holds the value. */
  batch: Batch;
  /** Index of the value. */
  row: number;
}

/**
 * Writes one value into its row of a batch.
 *
 * @param space Space of one value.
 * @param value Value to copy.
 * @param target Batch and row.
 * @example
 * ```ts
 * import { allocateBatch, discrete, writeRow } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const batch = allocateBatch(discrete(5), 2);
 * writeRow(discrete(5), 4, { batch, row: 1 });
 * assertEquals(batch, Int32Array.of(0, 4));
 * ```
 */
export function writeRow(
  space: Space,
  value: SpaceValue,
  { batch, row }: BatchRow,
): void {
  writeRowAt(space, value, batch, row);
}

/** Writes one value into its row of a batch; allocates nothing. */
export function writeRowAt(
  space: Space,
  value: SpaceValue,
  batch: Batch,
  row: number,
): void {
  if (space.type === "dict" || space.type === "tuple") {
    const spaces = space.spaces as Record<string, Space>;
    for (const key in spaces) {
      const part = (value as Record<string, SpaceValue>)[key];
      writeRowAt(spaces[key], part, (batch as Record<string, Batch>)[key], row);
    }
  } else if (typeof value === "number") {
    (batch as BoxArray)[row] = value;
  } else {
    const array = value as BoxArray;
    (batch as BoxArray).set(array, row * array.length);
  }
}

/**
 * Reads one value from its row of a batch.
 *
 * @param space Space of one value.
 * @param source Batch and row.
 * @returns A copy of the value.
 * @example
 * ```ts
 * import { discrete, readRow } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(readRow(discrete(5), { batch: Int32Array.of(0, 4), row: 1 }), 4);
 * ```
 */
export function readRow(space: Space, { batch, row }: BatchRow): SpaceValue {
  if (space.type === "dict" || space.type === "tuple") {
    const parts = batch as Record<string, Batch>;
    return mapSpaces<SpaceValue>(
      space,
      (inner, key) => readRow(inner, { batch: parts[key], row }),
    );
  }
  const array = batch as BoxArray;
  if (space.type === "discrete") return array[row];
  const size = elementCount(space);
  return array.slice(row * size, (row + 1) * size) as BoxArray;
}

/**
 * Reads one value from its row of a batch into another value of the space, and
 * returns it, as a number cannot be changed in place; allocates nothing.
 */
export function readRowInto(
  space: Space,
  value: SpaceValue,
  batch: Batch,
  row: number,
): SpaceValue {
  if (space.type === "discrete") return (batch as BoxArray)[row];
  if (space.type === "dict" || space.type === "tuple") {
    const spaces = space.spaces as Record<string, Space>;
    const parts = value as Record<string, SpaceValue>;
    for (const key in spaces) {
      const inner = (batch as Record<string, Batch>)[key];
      parts[key] = readRowInto(spaces[key], parts[key], inner, row);
    }
    return value;
  }
  const array = value as BoxArray, from = row * array.length;
  for (let i = 0; i < array.length; i++) {
    array[i] = (batch as BoxArray)[from + i];
  }
  return value;
}

/** Copies one value from its row of a batch to a row of another; allocates nothing. */
export function copyRow(space: Space, from: BatchRow, to: BatchRow): void {
  if (space.type === "dict" || space.type === "tuple") {
    const spaces = space.spaces as Record<string, Space>;
    const partOf = ({ batch, row }: BatchRow, key: string): BatchRow => ({
      batch: (batch as Record<string, Batch>)[key],
      row,
    });
    for (const key in spaces) {
      copyRow(spaces[key], partOf(from, key), partOf(to, key));
    }
    return;
  }
  const size = elementCount(space);
  const source = from.batch as BoxArray, target = to.batch as BoxArray;
  const first = from.row * size, at = to.row * size;
  for (let i = 0; i < size; i++) target[at + i] = source[first + i];
}

/**
 * Copies a batch into another of the same space.
 *
 * @param source Batch to copy.
 * @param target Batch that takes the numbers.
 * @example
 * ```ts
 * import { copyBatch } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const target = new Float32Array(2);
 * copyBatch(Float32Array.of(1, 2), target);
 * assertEquals(target, Float32Array.of(1, 2));
 * ```
 */
export function copyBatch(source: Batch, target: Batch): void {
  if (ArrayBuffer.isView(source)) {
    (target as BoxArray).set(source);
    return;
  }
  for (const key in source) {
    copyBatch(
      (source as Record<string, Batch>)[key],
      (target as Record<string, Batch>)[key],
    );
  }
}

/**
 * Copies a batch into new arrays.
 *
 * @param batch Batch to copy.
 * @returns The copy.
 * @example
 * ```ts
 * import { cloneBatch } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const batch = { goal: Int32Array.of(1) };
 * const copy = cloneBatch(batch);
 * batch.goal[0] = 2;
 * assertEquals(copy, { goal: Int32Array.of(1) });
 * ```
 */
export function cloneBatch(batch: Batch): Batch {
  return mapBatch(batch, (array) => array.slice() as BoxArray);
}

/** Applies a function to each array of a batch. */
export function mapBatch(
  batch: Batch,
  change: (array: BoxArray) => BoxArray,
): Batch {
  if (ArrayBuffer.isView(batch)) return change(batch);
  if (Array.isArray(batch)) return batch.map((it) => mapBatch(it, change));
  return Object.fromEntries(
    Object.entries(batch).map(([key, it]) => [key, mapBatch(it, change)]),
  );
}
