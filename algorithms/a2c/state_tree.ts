/**
 * Arrays of numbers that a {@link StateTree} may hold.
 *
 * @example
 * ```ts
 * import type { StateArray } from "@bellman/a2c";
 * import { assertEquals } from "@std/assert";
 *
 * const weights: StateArray = Float32Array.of(0.5, -0.5);
 * assertEquals(weights.length, 2);
 * ```
 */
export type StateArray =
  | Float32Array
  | Float64Array
  | Int32Array
  | Uint32Array
  | Uint8Array;

/**
 * Plain data that everything saved is made of.
 *
 * @example
 * ```ts
 * import { A2C, type StateTree } from "@bellman/a2c";
 * import { assertEquals } from "@std/assert";
 *
 * const agent = new A2C({
 *   observationSpace: { type: "discrete", n: 3 },
 *   actionSpace: { type: "discrete", n: 2 },
 *   numEnvs: 2,
 * });
 * const state: StateTree = agent.save();
 * agent.restore(state);
 * assertEquals(agent.updates, 0);
 * agent.close();
 * ```
 */
export type StateTree =
  | null
  | boolean
  | number
  | string
  | StateArray
  | StateTree[]
  | { [key: string]: StateTree };

/** The same tree as a mapping, or one clear error. */
export function record(
  state: StateTree,
  what: string,
): { [key: string]: StateTree } {
  if (
    state === null || typeof state !== "object" || Array.isArray(state) ||
    ArrayBuffer.isView(state)
  ) {
    throw new TypeError(
      `Cannot restore ${what} from ${
        state === null ? "null" : typeof state
      }: expected what save() gave`,
    );
  }
  return state;
}
