import type { FieldData } from "./field.ts";

/**
 * Rows that were drawn, one after the other in the array of each field:
 * `[row, ...shape]`. The arrays belong to the caller, who may draw into them
 * again.
 */
export interface Batch {
  /** Where each row is in the buffer. */
  readonly slots: Int32Array;
  /** Importance weights; all 1 where each row was as likely. */
  readonly weights: Float32Array;
  /** The numbers of a field, nested as it is. */
  readonly [field: string]: FieldData;
}
