/**
 * Kinds of numbers that a field may hold.
 *
 * @example
 * ```ts
 * import type { FieldDtype } from "@bellman/buffers";
 * import { assertEquals } from "@std/assert";
 *
 * const dtypes: FieldDtype[] = ["float32", "float64", "int32", "uint8"];
 * assertEquals(dtypes.length, 4);
 * ```
 */
export type FieldDtype = "float32" | "float64" | "int32" | "uint8";

/**
 * One array of numbers for each row.
 *
 * @example
 * ```ts
 * import type { ArrayField } from "@bellman/buffers";
 * import { assertEquals } from "@std/assert";
 *
 * const image: ArrayField = { shape: [84, 84, 4], dtype: "uint8" };
 * assertEquals(image.shape.length, 3);
 * ```
 */
export interface ArrayField {
  /** Shape of a row's array; `[]` for a single number. */
  readonly shape: readonly number[];
  /**
   * Kind of its numbers. Integers are stored as they are given: others, and those
   * out of range, are refused.
   */
  readonly dtype: FieldDtype;
}

/**
 * A field: an array, or fields by name or in a list.
 *
 * @example
 * ```ts
 * import type { Field } from "@bellman/buffers";
 * import { assertEquals } from "@std/assert";
 *
 * const observation: Field = {
 *   camera: { shape: [8, 8, 3], dtype: "uint8" },
 *   joints: [{ shape: [6], dtype: "float32" }],
 * };
 * assertEquals(Object.keys(observation), ["camera", "joints"]);
 * ```
 */
export type Field =
  | ArrayField
  | { readonly [name: string]: Field }
  | readonly Field[];

/**
 * The arrays that fields are stored in.
 *
 * @example
 * ```ts
 * import { RolloutBuffer, type FieldArray } from "@bellman/buffers";
 * import { assertEquals } from "@std/assert";
 *
 * const buffer = new RolloutBuffer({
 *   numEnvs: 1,
 *   numSteps: 2,
 *   fields: { reward: { shape: [], dtype: "float32" } },
 * });
 * const rewards = buffer.data("reward") as FieldArray;
 * assertEquals(rewards.length, 2);
 * ```
 */
export type FieldArray = Float32Array | Float64Array | Int32Array | Uint8Array;

/**
 * The numbers of a field, nested as the field is.
 *
 * @example
 * ```ts
 * import { RolloutBuffer, type FieldData } from "@bellman/buffers";
 * import { assertEquals } from "@std/assert";
 *
 * const buffer = new RolloutBuffer({
 *   numEnvs: 1,
 *   numSteps: 2,
 *   fields: { reward: { shape: [], dtype: "float32" } },
 * });
 * const rewards: FieldData = buffer.data("reward");
 * assertEquals(rewards, new Float32Array(2));
 * ```
 */
export type FieldData =
  | FieldArray
  | { [name: string]: FieldData }
  | FieldData[];

/**
 * Numbers to be stored, nested as the field is.
 *
 * @example
 * ```ts
 * import { RolloutBuffer, type FieldValues } from "@bellman/buffers";
 * import { assertEquals } from "@std/assert";
 *
 * const buffer = new RolloutBuffer({
 *   numEnvs: 1,
 *   numSteps: 2,
 *   fields: { reward: { shape: [], dtype: "float32" } },
 * });
 * const reward: FieldValues = [0.5];
 * buffer.add({ reward });
 * assertEquals(buffer.data("reward"), Float32Array.of(0.5, 0));
 * ```
 */
export type FieldValues =
  | ArrayLike<number>
  | { readonly [name: string]: FieldValues }
  | readonly FieldValues[];
