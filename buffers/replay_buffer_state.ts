import type { FieldData } from "./field.ts";
import type { SamplerState } from "./sampler.ts";

/**
 * What a {@linkcode ReplayBuffer} saves: plain data, of rows that it holds only.
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

/** The part of one writer in a {@linkcode ReplayBufferState}. */
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
