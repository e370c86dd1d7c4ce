/** Arrays of numbers that a {@link StateTree} may hold. */
export type StateArray =
  | Float32Array
  | Float64Array
  | Int32Array
  | Uint32Array
  | Uint8Array;

/** Plain data that everything saved is made of. */
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
