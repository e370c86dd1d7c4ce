/**
 * Preallocated buffers for recorded steps, without any dependency on tensors or
 * environments.
 *
 * @example
 * ```ts
 * import { RolloutBuffer } from "@bellman/buffers";
 * import { assertEquals, assertThrows } from "@std/assert";
 *
 * const buffer = new RolloutBuffer({
 *   numEnvs: 2,
 *   numSteps: 1,
 *   fields: { temperature: { shape: [], dtype: "float32" } },
 * });
 * buffer.add({ temperature: [20, 25] });
 * assertEquals(buffer.data("temperature"), Float32Array.of(20, 25));
 * assertThrows(() => buffer.add({ temperature: [21, 26] }), RangeError, "full");
 * ```
 *
 * @module
 */
export type {
  ArrayField,
  Field,
  FieldArray,
  FieldData,
  FieldDtype,
  FieldValues,
} from "./field.ts";
export {
  type RandomIntegers,
  RolloutBuffer,
  type RolloutBufferOptions,
  type RolloutBufferState,
} from "./rollout_buffer.ts";
