/** Rows of batches, read and written in place: nothing is allocated. */
import type { Batch, BoxArray, Space, SpaceValue } from "@bellman/types";

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
