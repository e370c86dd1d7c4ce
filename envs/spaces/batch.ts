import type { Batch, BoxArray, Space, SpaceValue } from "@bellman/types";
import { allocateArray, elementCount } from "./arrays.ts";

/**
 * A batch of zeros for `numEnvs` values of a space.
 *
 * @param space The space of one value.
 * @param numEnvs How many values.
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
  if (space.type === "dict") {
    return Object.fromEntries(
      Object.entries(space.spaces).map((
        [key, inner],
      ) => [key, allocateBatch(inner, numEnvs)]),
    );
  }
  if (space.type === "tuple") {
    return space.spaces.map((inner) => allocateBatch(inner, numEnvs));
  }
  return allocateArray(space, numEnvs * elementCount(space));
}

/** Where a value stands in a batch. */
export interface BatchRow {
  /** The batch. */
  batch: Batch;
  /** Which copy's value. */
  row: number;
}

/**
 * Writes one value into its row of a batch.
 *
 * @param space The space of one value.
 * @param value The value; it is copied.
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

/**
 * Reads one value from its row of a batch.
 *
 * @param space The space of one value.
 * @param source Batch and row.
 * @returns The value, a copy.
 * @example
 * ```ts
 * import { discrete, readRow } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(readRow(discrete(5), { batch: Int32Array.of(0, 4), row: 1 }), 4);
 * ```
 */
export function readRow(space: Space, { batch, row }: BatchRow): SpaceValue {
  if (space.type === "dict") {
    return Object.fromEntries(
      Object.entries(space.spaces).map(([key, inner]) => [
        key,
        readRow(inner, { batch: (batch as Record<string, Batch>)[key], row }),
      ]),
    );
  }
  if (space.type === "tuple") {
    return space.spaces.map((inner, i) =>
      readRow(inner, { batch: (batch as Batch[])[i], row })
    );
  }
  const array = batch as BoxArray;
  if (space.type === "discrete") return array[row];
  const size = elementCount(space);
  return array.slice(row * size, (row + 1) * size) as BoxArray;
}

/**
 * Copies a batch into another of the same space.
 *
 * @param source The batch to copy.
 * @param target Where to.
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
 * A copy of a batch.
 *
 * @param batch The batch.
 * @returns New arrays of the same numbers.
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
  if (ArrayBuffer.isView(batch)) return batch.slice() as BoxArray;
  if (Array.isArray(batch)) return batch.map(cloneBatch);
  return Object.fromEntries(
    Object.entries(batch).map(([key, inner]) => [key, cloneBatch(inner)]),
  );
}

/** Writes a copy of one value into its row of a batch. */
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
 * Reads a row of a batch into a value of the same space, which is returned: a
 * number cannot be changed in place.
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
