import { snapshotRecord } from "../snapshot.ts";
import type { StateTree } from "@bellman/types";
import type { OpenTask } from "./_open_task.ts";

/** What a snapshot is of: its numbers mean something else in any other. */
export interface SnapshotOrigin {
  /** The kind of environment. */
  readonly task: string;
  /** MuJoCo's version, whose state may have other parts. */
  readonly mujocoVersion: string;
  /** Steps of the engine in a step of the environment. */
  readonly frameSkip: number;
}

/** What snapshots of an environment are of. */
export function snapshotOrigin(
  task: string,
  { model, options }: OpenTask,
): SnapshotOrigin {
  return {
    task,
    mujocoVersion: model.version,
    frameSkip: options.frameSkip,
  };
}

/**
 * The entries of a snapshot of such an environment.
 *
 * @param snapshot What should be one.
 * @param origin What it must be of.
 * @param keys The entries that it must have beside.
 * @throws {TypeError} If it is of another one or lacks an entry.
 */
export function originalRecord(
  snapshot: StateTree,
  origin: SnapshotOrigin,
  keys: readonly string[],
): Record<string, StateTree> {
  const wanted = Object.entries(origin);
  const names = [...wanted.map(([name]) => name), ...keys];
  const record = snapshotRecord(snapshot, names);
  for (const [name, value] of wanted) {
    if (record[name] === value) continue;
    throw wrongEntry(origin, [name, record[name]], String(value));
  }
  return record;
}

/** A value in one line, however much it holds. */
function shortText(value: unknown): string {
  if (Array.isArray(value) || ArrayBuffer.isView(value)) {
    const { length, constructor } = value as Float64Array;
    return `of ${length} numbers (${constructor.name})`;
  }
  const isRecord = typeof value === "object" && value !== null;
  return isRecord ? "a record" : JSON.stringify(value);
}

/** What to say of a snapshot's entry that cannot be. */
export function wrongEntry(
  { task }: SnapshotOrigin,
  [name, value]: readonly [name: string, value: unknown],
  expected: string,
): TypeError {
  return new TypeError(
    `Cannot restore ${task} from a snapshot with ${name} ${
      shortText(value)
    }: expected ${expected}`,
  );
}

/**
 * An array of a snapshot, which must be of its kind and length.
 *
 * @throws {TypeError} If it is not.
 */
export function arrayEntry<T extends Float64Array | Int32Array>(
  origin: SnapshotOrigin,
  [name, value]: readonly [name: string, value: unknown],
  [kind, length]: readonly [kind: { new (length: number): T }, length: number],
): T {
  if (value instanceof kind && value.length === length) return value;
  throw wrongEntry(origin, [name, value], `${length} numbers (${kind.name})`);
}
