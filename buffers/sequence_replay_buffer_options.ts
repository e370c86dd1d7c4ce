import type { Field, FieldData } from "./field.ts";

/** What a {@linkcode SequenceReplayBuffer} is made for. */
export interface SequenceReplayBufferOptions {
  /** Steps of each environment that fit in, in whole segments. */
  readonly capacity: number;
  /** Steps of a segment. */
  readonly numSteps: number;
  /**
   * Environments whose segments are added side by side.
   *
   * @default 1
   */
  readonly numEnvs?: number;
  /** What is recorded in each step, by name. */
  readonly fields: Readonly<Record<string, Field>>;
  /**
   * How many steps more than `numSteps` fields have, by name: 1 for observations
   * with the one after the last step.
   *
   * @default {}
   */
  readonly extraSteps?: Readonly<Record<string, number>>;
  /**
   * What is recorded once for each segment, by name: the state of a recurrent
   * network before the first step.
   *
   * @default {}
   */
  readonly states?: Readonly<Record<string, Field>>;
  /**
   * Array fields that are drawn as stacks of frames, by path, with the frames of
   * a stack. They are added as single frames, `stack - 1` more than steps: those
   * before the first step come first. Drawn are stacks along the last axis,
   * oldest frame first, with zeros for frames of earlier episodes, as
   * {@linkcode decodeFrameStacks} gives.
   *
   * @default {}
   */
  readonly stack?: Readonly<Record<string, number>>;
  /**
   * Fields, a single number for each step, that are above 0 where an episode
   * ended with a step. Only stacks need them.
   *
   * @default ["terminated", "truncated"]
   */
  readonly ends?: readonly string[];
}

/**
 * Segments that a {@linkcode SequenceReplayBuffer} drew, by field: arrays
 * `[segment, step, ...shape]`, and `[segment, ...shape]` of states.
 */
export type SequenceBatch = {
  /** Numbers of the segments: `place * numEnvs + env`. */
  segments: Int32Array;
  [field: string]: FieldData;
};

/** What a {@linkcode SequenceReplayBuffer} saves. */
export type SequenceReplayBufferState = {
  /** Places that hold segments, one for each environment. */
  length: number;
  /** The place that comes next. */
  next: number;
  /** The arrays of all fields, as far as they are filled. */
  fields: { [name: string]: FieldData };
};
