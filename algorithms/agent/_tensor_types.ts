import type { TensorType } from "@bellman/compute";
import { type DictOf, mapParts, nameParts } from "@bellman/policies";

/** A float32 number in each row. */
export const NUMBER = { shape: [], dtype: "float32" } as const;

/** 0 or 1 in each row. */
export const FLAG = { shape: [], dtype: "uint8" } as const;

/** Returns shape and type of so many rows. */
export function rowsOf(
  rows: number,
  { shape, dtype }: TensorType,
): TensorType {
  return { shape: [rows, ...shape], dtype };
}

/** Returns shapes and types of so many rows, by names. */
export function namedRowsOf(
  name: string,
  rows: number,
  type: DictOf<TensorType>,
): Record<string, TensorType> {
  return nameParts(name, mapParts(type, (one) => rowsOf(rows, one)));
}
