import type { StateTree } from "@bellman/types";

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
