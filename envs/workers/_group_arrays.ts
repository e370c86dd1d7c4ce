import type { Batch, BoxArray, Space } from "@bellman/types";
import { countChoices } from "../_action_masks.ts";
import { allocateBatch, copyBatch, mapBatch } from "../spaces/batch.ts";
import { allocateStep } from "../_steps.ts";
import type { EnvSlice, GroupArrays } from "./group_hosts.ts";

/** Spaces of a group's environments, and true where they mask actions. */
export interface GroupSpaces {
  readonly observationSpace: Space;
  readonly actionSpace: Space;
  readonly masksActions?: boolean;
}

/** Allocates an array like another in shared memory. */
function shareLike<T extends BoxArray>(array: T): T {
  const Type = array.constructor as new (memory: SharedArrayBuffer) => T;
  return new Type(new SharedArrayBuffer(array.byteLength));
}

/** Allocates the arrays of a whole vector environment in shared memory. */
export function allocateArrays(
  spaces: GroupSpaces,
  numEnvs: number,
): GroupArrays {
  const { observationSpace, actionSpace, masksActions } = spaces;
  const choices = masksActions ? countChoices(actionSpace) : undefined;
  const step = allocateStep(observationSpace, numEnvs, choices);
  const actions = allocateBatch(actionSpace, numEnvs);
  const arrays = mapBatch(
    { actions, ...step } as unknown as Batch,
    shareLike,
  ) as unknown as GroupArrays;
  arrays.actionMasks?.fill(1);
  return arrays;
}

/** Returns the rows of a group, as views. */
export function arraysOf(
  arrays: GroupArrays,
  { first, numEnvs }: EnvSlice,
): GroupArrays {
  const all = arrays.rewards.length;
  return mapBatch({ ...arrays }, (array) => {
    const size = array.length / all;
    return array.subarray(first * size, (first + numEnvs) * size) as BoxArray;
  }) as unknown as GroupArrays;
}

/** Truncates the episodes of a group, with the current observations as their last. */
export function cutOff(rows: GroupArrays): void {
  copyBatch(rows.observations, rows.finalObservations);
  if (rows.actionMasks) rows.finalActionMasks!.set(rows.actionMasks);
  rows.rewards.fill(0);
  rows.terminated.fill(0);
  rows.truncated.fill(1);
}

/** Lists the bytes of each array of a batch. */
export function bytesOf(batch: Batch): Uint8Array[] {
  const all: Uint8Array[] = [];
  mapBatch(batch, (array) => {
    const { buffer, byteOffset, byteLength } = array;
    all.push(new Uint8Array(buffer, byteOffset, byteLength));
    return array;
  });
  return all;
}
