import type { Field, FieldData } from "./field.ts";

/**
 * What a {@linkcode RolloutBuffer} is made for.
 *
 * @example
 * ```ts
 * import { RolloutBuffer, type RolloutBufferOptions } from "@bellman/buffers";
 * import { assertEquals } from "@std/assert";
 *
 * const options: RolloutBufferOptions = {
 *   numEnvs: 2,
 *   numSteps: 3,
 *   fields: { temperature: { shape: [], dtype: "float64" } },
 * };
 * assertEquals(new RolloutBuffer(options).data("temperature"), new Float64Array(6));
 * ```
 */
export interface RolloutBufferOptions {
  /** Streams that are recorded side by side: environments, sensors. */
  readonly numEnvs: number;
  /** Steps of each stream that fit in. */
  readonly numSteps: number;
  /** What is recorded in each step, by name. */
  readonly fields: Readonly<Record<string, Field>>;
}

/**
 * What a {@linkcode RolloutBuffer} saves.
 *
 * @example
 * ```ts
 * import { RolloutBuffer, type RolloutBufferState } from "@bellman/buffers";
 * import { assertEquals } from "@std/assert";
 *
 * const buffer = new RolloutBuffer({
 *   numEnvs: 1,
 *   numSteps: 2,
 *   fields: { reward: { shape: [], dtype: "float32" } },
 * });
 * buffer.add({ reward: [1] });
 * const state: RolloutBufferState = buffer.save();
 * assertEquals(state.length, 1);
 * ```
 */
export type RolloutBufferState = {
  /** Steps that it holds. */
  length: number;
  /** The arrays of all fields, filled or not. */
  fields: { [name: string]: FieldData };
};
