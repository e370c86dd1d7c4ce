import type { FieldData } from "./field.ts";
import type { SamplerState } from "./sampler.ts";

/**
 * What a {@linkcode ReplayBuffer} saves: plain data, of rows that it holds only.
 *
 * @example
 * ```ts
 * import { ReplayBuffer, type ReplayBufferState } from "@bellman/buffers";
 * import { assertEquals } from "@std/assert";
 *
 * const fields = { x: { shape: [], dtype: "int32" } } as const;
 * const buffer = new ReplayBuffer({ capacity: 1000, fields });
 * buffer.addBatch({ x: [1, 2] }, 2);
 * const state: ReplayBufferState = buffer.save();
 * assertEquals(state.rings[0].fields, { x: Int32Array.of(1, 2) });
 * ```
 */
export type ReplayBufferState = {
  /** Rows that fit in. */
  capacity: number;
  /** Streams side by side. */
  numEnvs: number;
  /** Rows that there is room for by now. */
  allocated: number;
  /** Rows that ever came to a reservoir. */
  seen: number;
  /** The part of each writer. */
  rings: ReplayRingState[];
  /** What the sampler saved. */
  sampler: SamplerState;
  /** What the accumulator saved, where there is one. */
  accumulator: SamplerState | null;
};

/**
 * The part of one writer in a {@linkcode ReplayBufferState}.
 *
 * @example
 * ```ts
 * import { ReplayBuffer, type ReplayRingState } from "@bellman/buffers";
 * import { assertEquals } from "@std/assert";
 *
 * const fields = { x: { shape: [], dtype: "int32" } } as const;
 * const buffer = new ReplayBuffer({ capacity: 2, fields });
 * buffer.addBatch({ x: [1, 2, 3] }, 3);
 * const ring: ReplayRingState = buffer.save().rings[0];
 * assertEquals(ring, { total: 3, fields: { x: Int32Array.of(3, 2) }, side: null });
 * ```
 */
export type ReplayRingState = {
  /** Steps that were ever added. */
  total: number;
  /** Its rows, in the order of slots. */
  fields: { [name: string]: FieldData };
  /** True next values that no row holds, where the buffer has any. */
  side: {
    /** Slots whose step ended an episode. */
    slots: Int32Array;
    /** What came after each of them. */
    ended: { [name: string]: FieldData };
    /** What came after the newest step of each environment. */
    newest: { [name: string]: FieldData };
  } | null;
};
