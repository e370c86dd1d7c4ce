import type { VecStep } from "@bellman/types";

/**
 * A step of the copies that were ready first: row `j` of its arrays is of copy
 * `copies[j]`. The object and its arrays are reused by the next `recv`.
 */
export interface ReadyStep extends VecStep {
  /** Which copies, `[rows]`. */
  readonly copies: Int32Array;
}
