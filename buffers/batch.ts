import type { FieldData } from "./field.ts";

/**
 * Rows that were drawn, one after the other in the array of each field:
 * `[row, ...shape]`. The arrays belong to the caller, who may draw into them
 * again.
 *
 * @example
 * ```ts
 * import { type Batch, ReplayBuffer } from "@bellman/buffers";
 * import { assertEquals } from "@std/assert";
 *
 * const fields = { x: { shape: [2], dtype: "float32" } } as const;
 * const buffer = new ReplayBuffer({ capacity: 4, fields });
 * const batch: Batch = buffer.batch(3);
 * assertEquals(batch.x, new Float32Array(6));
 * assertEquals(batch.slots, new Int32Array(3));
 * ```
 */
export interface Batch {
  /** Where each row is in the buffer. */
  readonly slots: Int32Array;
  /** Importance weights; all 1 where each row was as likely. */
  readonly weights: Float32Array;
  /** The numbers of a field, nested as it is. */
  readonly [field: string]: FieldData;
}
