import type { StateTree } from "@bellman/types";

/**
 * The entries of a snapshot that is a record, or one clear line.
 *
 * @param snapshot What should be a record.
 * @param keys The entries that it must have.
 * @returns The record.
 * @throws {TypeError} If it is none or lacks an entry.
 * @example
 * ```ts
 * import { snapshotRecord } from "@bellman/envs";
 * import { assertEquals, assertThrows } from "@std/assert";
 *
 * assertEquals(snapshotRecord({ steps: 3 }, ["steps"]).steps, 3);
 * assertThrows(() => snapshotRecord(null, ["steps"]), TypeError, "'steps'");
 * ```
 */
export function snapshotRecord(
  snapshot: StateTree,
  keys: readonly string[],
): Record<string, StateTree> {
  const isRecord = typeof snapshot === "object" && snapshot !== null &&
    !Array.isArray(snapshot) && !ArrayBuffer.isView(snapshot);
  for (const key of keys) {
    if (isRecord && Object.hasOwn(snapshot, key)) continue;
    throw new TypeError(
      `Cannot restore an environment: its snapshot has no '${key}'`,
    );
  }
  return snapshot as Record<string, StateTree>;
}
