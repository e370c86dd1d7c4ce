/** Batches in shared memory, and views of some of their rows. */
import type { Batch, BoxArray, Space } from "@bellman/types";
import { allocateBatch, copyBatch } from "../spaces/batch.ts";
import type { GroupArrays, GroupRange } from "./group_hosts.ts";

/** Applies a function to each array of a batch. */
export function mapBatch(
  batch: Batch,
  change: (array: BoxArray) => BoxArray,
): Batch {
  if (ArrayBuffer.isView(batch)) return change(batch);
  if (Array.isArray(batch)) return batch.map((it) => mapBatch(it, change));
  return Object.fromEntries(
    Object.entries(batch).map(([key, it]) => [key, mapBatch(it, change)]),
  );
}

/** An array of zeros like another, in shared memory. */
export function shareLike<T extends BoxArray>(array: T): T {
  const Type = array.constructor as new (memory: SharedArrayBuffer) => T;
  return new Type(new SharedArrayBuffer(array.byteLength));
}

/** A batch of zeros in shared memory. */
export function allocateShared(space: Space, numEnvs: number): Batch {
  return mapBatch(allocateBatch(space, numEnvs), shareLike);
}

/** The rows of some copies, of `numEnvs` in all: a view. */
export function rowsOf(
  batch: Batch,
  { first, numEnvs: count }: GroupRange,
  numEnvs: number,
): Batch {
  return mapBatch(batch, (array) => {
    const size = array.length / numEnvs;
    return array.subarray(first * size, (first + count) * size) as BoxArray;
  });
}

/** The arrays of a whole vector environment, in shared memory. */
export function allocateArrays(
  spaces: { observationSpace: Space; actionSpace: Space },
  numEnvs: number,
): GroupArrays {
  return {
    actions: allocateShared(spaces.actionSpace, numEnvs),
    observations: allocateShared(spaces.observationSpace, numEnvs),
    rewards: shareLike(new Float64Array(numEnvs)),
    terminated: shareLike(new Uint8Array(numEnvs)),
    truncated: shareLike(new Uint8Array(numEnvs)),
    finalObservations: allocateShared(spaces.observationSpace, numEnvs),
  };
}

/** The rows of a group, as views. */
export function arraysOf(arrays: GroupArrays, range: GroupRange): GroupArrays {
  const numEnvs = arrays.rewards.length, { first } = range;
  const end = first + range.numEnvs;
  return {
    actions: rowsOf(arrays.actions, range, numEnvs),
    observations: rowsOf(arrays.observations, range, numEnvs),
    rewards: arrays.rewards.subarray(first, end),
    terminated: arrays.terminated.subarray(first, end),
    truncated: arrays.truncated.subarray(first, end),
    finalObservations: rowsOf(arrays.finalObservations, range, numEnvs),
  };
}

/** Copies a batch of `rows` rows into a longer one, from row `at` on. */
export function placeRows(
  source: Batch,
  target: Batch,
  place: { at: number; rows: number },
): void {
  if (ArrayBuffer.isView(source)) {
    const size = source.length / place.rows;
    (target as BoxArray).set(source, place.at * size);
    return;
  }
  for (const key in source) {
    placeRows(
      (source as Record<string, Batch>)[key],
      (target as Record<string, Batch>)[key],
      place,
    );
  }
}

/** Ends the episodes of a group with what was seen last. */
export function cutOff(rows: GroupArrays): void {
  copyBatch(rows.observations, rows.finalObservations);
  rows.rewards.fill(0);
  rows.terminated.fill(0);
  rows.truncated.fill(1);
}
