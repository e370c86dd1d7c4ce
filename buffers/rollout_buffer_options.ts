import type { Field, FieldData } from "./field.ts";

/** What a {@linkcode RolloutBuffer} is made for. */
export interface RolloutBufferOptions {
  /** Streams that are recorded side by side: environments, sensors. */
  readonly numEnvs: number;
  /** Steps of each stream that fit in. */
  readonly numSteps: number;
  /** What is recorded in each step, by name. */
  readonly fields: Readonly<Record<string, Field>>;
}

/** What a {@linkcode RolloutBuffer} saves. */
export type RolloutBufferState = {
  /** Steps that it holds. */
  length: number;
  /** The arrays of all fields, filled or not. */
  fields: { [name: string]: FieldData };
};
