/**
 * The numbers of a group's step as one message between processes of the same
 * machine: arrays one after the other, each at a multiple of eight bytes.
 */
import { allocateBatch } from "../spaces/batch.ts";
import type { Batch, BoxArray, Space } from "@bellman/types";
import type { GroupArrays } from "./group_hosts.ts";
import { mapBatch } from "./_shared_batch.ts";

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
