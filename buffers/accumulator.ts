import type { FieldValues } from "./field.ts";
import type { SamplerState } from "./sampler.ts";

/**
 * Turns a stream of steps into rows for a buffer. With a {@linkcode Storage} and
 * a {@linkcode Sampler} it is one of three parts that a replay buffer is made
 * of.
 *
 * @example
 * ```ts
 * import { type Accumulator, ReplayBuffer } from "@bellman/buffers";
 * import { assertEquals } from "@std/assert";
 *
 * let count = 0;
 * const everyThird: Accumulator = {
 *   rows: { x: new Float32Array(1) },
 *   add({ x }) {
 *     (this.rows.x as Float32Array)[0] = (x as number[])[0];
 *     return count++ % 3 === 0 ? 1 : 0;
 *   },
 *   flush: () => 0,
 *   clear: () => count = 0,
 *   save: () => ({ count }),
 *   load: (state) => count = state.count as number,
 * };
 * const fields = { x: { shape: [], dtype: "float32" } } as const;
 * const buffer = new ReplayBuffer({ capacity: 4, fields, accumulator: everyThird });
 * for (const x of [0, 1, 2, 3]) buffer.add({ x: [x] });
 * assertEquals(buffer.gather([0, 1]).x, Float32Array.of(0, 3));
 * ```
 */
export interface Accumulator {
  /**
   * Arrays `[row, ...shape]` of the rows that the last call finished; those after
   * them hold anything.
   */
  readonly rows: { readonly [field: string]: FieldValues };
  /**
   * Takes one step of all streams; one that it cannot take changes nothing.
   *
   * @param step For each field its numbers `[env, ...shape]`; copied.
   * @returns How many rows it finished.
   */
  add(step: { readonly [field: string]: FieldValues }): number;
  /**
   * Finishes what it holds, as no further step follows.
   *
   * @returns How many rows it finished.
   */
  flush(): number;
  /** Forgets what it holds. */
  clear(): void;
  /**
   * What it holds.
   *
   * @returns Plain data, owned by the caller.
   */
  save(): SamplerState;
  /**
   * Continues from what {@link save} gave. A state that it cannot take changes
   * nothing.
   *
   * @param state Plain data; copied.
   */
  load(state: SamplerState): void;
}
