import type { TensorType } from "@bellman/compute";

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
