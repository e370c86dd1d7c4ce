import type { TensorType } from "@bellman/compute";
import { type DictOf, mapParts } from "@bellman/policies";

/** A float32 number in each row. */
export const NUMBER = { shape: [], dtype: "float32" } as const;

/** 0 or 1 in each row. */
export const FLAG = { shape: [], dtype: "uint8" } as const;

/** Returns shape and type of so many rows, of a dict those of each part. */
export function rowsOf<T extends DictOf<TensorType>>(
  rows: number,
  type: T,
): T {
  return mapParts<TensorType, TensorType>(
    type,
    ({ shape, dtype }) => ({ shape: [rows, ...shape], dtype }),
  ) as T;
}
