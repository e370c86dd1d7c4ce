import type { Batch, BoxArray, Space } from "@bellman/types";
import { allocateBatch, copyBatch } from "../spaces/batch.ts";
import type { GroupArrays, GroupRange } from "./group_hosts.ts";

/** Applies a function to each array of a batch. */
function mapBatch(
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
function shareLike<T extends BoxArray>(array: T): T {
  const Type = array.constructor as new (memory: SharedArrayBuffer) => T;
  return new Type(new SharedArrayBuffer(array.byteLength));
}

/** A batch of zeros in shared memory. */
function allocateShared(space: Space, numEnvs: number): Batch {
  return mapBatch(allocateBatch(space, numEnvs), shareLike);
}

/** The rows of some copies, of `numEnvs` in all: a view. */
function rowsOf(
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

/** Bytes of an answer before its arrays: kind, flags, and room. */
export const HEAD = 8;

/** A message's memory, and the arrays that stand in it. */
export interface WireArrays {
  /** The message. */
  readonly message: Uint8Array;
  /** Views of it; actions have memory of their own. */
  readonly arrays: GroupArrays;
  /** Where the final observations begin, which most messages leave out. */
  readonly shown: number;
}

/** Number of bytes up to the next multiple of eight. */
function padded(bytes: number): number {
  return Math.ceil(bytes / 8) * 8;
}

/** Memory that arrays are placed in one after the other. */
class Arena {
  at: number;
  #memory: ArrayBuffer;

  constructor(bytes: number, at: number) {
    this.#memory = new ArrayBuffer(bytes);
    this.at = at;
  }

  /** An array of zeros like another, in this memory. */
  place<T extends BoxArray>(like: T): T {
    const Type = like.constructor as new (
      memory: ArrayBuffer,
      from: number,
      length: number,
    ) => T;
    const array = new Type(this.#memory, this.at, like.length);
    this.at += padded(like.byteLength);
    return array;
  }

  bytesFrom(at: number): Uint8Array {
    return new Uint8Array(this.#memory, at);
  }
}

/**
 * Arrays for `numEnvs` copies in one message, behind `before` bytes that are
 * not part of it.
 */
export function wireArrays(
  spaces: { observationSpace: Space; actionSpace: Space },
  { numEnvs, before = 0 }: { numEnvs: number; before?: number },
): WireArrays {
  const numbers = new Float64Array(numEnvs), flags = new Uint8Array(numEnvs);
  const observations = allocateBatch(spaces.observationSpace, numEnvs);
  const sizes = [numbers, flags, flags, observations, observations]
    .flatMap(bytesOf).map((it) => padded(it.length));
  const start = padded(before);
  const size = sizes.reduce((sum, it) => sum + it, start + HEAD);
  const arena = new Arena(size, start + HEAD);
  const place = <T extends BoxArray>(array: T): T => arena.place(array);
  const rewards = place(numbers);
  const terminated = place(flags), truncated = place(flags);
  const now = mapBatch(observations, place);
  const shown = arena.at - start;
  return {
    message: arena.bytesFrom(start),
    shown,
    arrays: {
      actions: allocateBatch(spaces.actionSpace, numEnvs),
      observations: now,
      rewards,
      terminated,
      truncated,
      finalObservations: mapBatch(observations, place),
    },
  };
}

/** The bytes of each array of a batch. */
export function bytesOf(batch: Batch): Uint8Array[] {
  const all: Uint8Array[] = [];
  mapBatch(batch, (array) => {
    const { buffer, byteOffset, byteLength } = array;
    all.push(new Uint8Array(buffer, byteOffset, byteLength));
    return array;
  });
  return all;
}
