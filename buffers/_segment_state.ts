import { collect, type Schema } from "./_schema.ts";
import type { SequenceReplayBufferState } from "./sequence_replay_buffer_options.ts";

/** What a saved buffer of segments must fit. */
export interface SegmentSizes {
  /** Segments of each environment that fit in. */
  readonly capacity: number;
  readonly numEnvs: number;
  /** Fields of a segment. */
  readonly kept: Schema;
}

/** The arrays of a saved buffer's fields; throws unless it fits. */
export function checkSegmentState(
  state: SequenceReplayBufferState,
  { capacity, numEnvs, kept }: SegmentSizes,
): ArrayLike<number>[] {
  const { length, next } = state ?? {};
  if (!(Number.isInteger(length) && length >= 0)) {
    throw new TypeError(
      `Cannot load a buffer of ${length} segments: expected what save() gave`,
    );
  }
  if (length > capacity) {
    throw new RangeError(
      `Cannot load ${length} segments into a buffer of ${capacity}`,
    );
  }
  const isNext = length < capacity
    ? next === length
    : Number.isInteger(next) && next >= 0 && next < length;
  if (!isNext) {
    throw new TypeError(
      `Cannot load ${length} segments with ${next} as the next: expected what save() gave`,
    );
  }
  const values: ArrayLike<number>[] = [];
  const purpose = { action: "load", rows: length * numEnvs };
  collect(kept.root, state.fields, purpose, values);
  return values;
}
