/** The typed arrays that snapshots hold. */
export type SnapshotArray =
  | Float32Array
  | Float64Array
  | Int32Array
  | Uint32Array
  | Uint8Array;

/**
 * The state of an environment as plain data: numbers, texts, typed arrays and
 * nests of them. It is a copy, so that later steps do not change it.
 */
export type Snapshot =
  | null
  | boolean
  | number
  | string
  | SnapshotArray
  | Snapshot[]
  | { [key: string]: Snapshot };

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
  snapshot: Snapshot,
  keys: readonly string[],
): Record<string, Snapshot> {
  const isRecord = typeof snapshot === "object" && snapshot !== null &&
    !Array.isArray(snapshot) && !ArrayBuffer.isView(snapshot);
  for (const key of keys) {
    if (isRecord && Object.hasOwn(snapshot, key)) continue;
    throw new TypeError(
      `Cannot restore an environment: its snapshot has no '${key}'`,
    );
  }
  return snapshot as Record<string, Snapshot>;
}
