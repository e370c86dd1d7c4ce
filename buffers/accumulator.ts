import type { FieldValues } from "./field.ts";
import type { SamplerState } from "./sampler.ts";

/**
 * Turns a stream of steps into rows for a buffer. With a {@linkcode Storage} and
 * a {@linkcode Sampler} it is one of three parts that a replay buffer is made
 * of.
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
