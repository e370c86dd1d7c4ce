/** Messages between a caller and the host of a group in another process. */
import type { Batch, BoxArray } from "@bellman/types";
import { allocateStep, ended } from "../../_steps.ts";
import { allocateBatch, mapBatch } from "../../spaces/batch.ts";
import { bytesOf, choicesOf, type GroupSpaces } from "../_group_arrays.ts";
import type { GroupArrays } from "../group_hosts.ts";
import { FRAME_HEADER, writeFrameHeader } from "./frames.ts";

/** The first byte of a request. */
export const REQUEST = {
  open: 1,
  reset: 2,
  step: 3,
  save: 4,
  load: 5,
  render: 6,
  goals: 7,
} as const;

/** Bytes in front of each answer: `FAILED`, `ASKS` or 0, and room. */
export const HEAD = 8;
/** First byte of an answer that is the error that was thrown. */
export const FAILED = 1;
/** First byte of a question, which the host has before it can answer. */
export const ASKS = 2;

/** Returns the number of bytes up to the next multiple of eight. */
function padded(bytes: number): number {
  return Math.ceil(bytes / 8) * 8;
}

/** Lists the bytes of the final observations of rows that ended. */
function finalRows(
  arrays: GroupArrays,
  leaves: readonly Uint8Array[],
): Uint8Array[] {
  const rows: Uint8Array[] = [], numEnvs = arrays.rewards.length;
  for (let row = 0; row < numEnvs; row++) {
    if (!ended(arrays, row)) continue;
    for (const leaf of leaves) {
      const size = leaf.length / numEnvs;
      rows.push(leaf.subarray(row * size, (row + 1) * size));
    }
  }
  return rows;
}

/** Lists the bytes of observations and of the masks that go with them. */
function seenBytes(observations: Batch, masks?: Uint8Array): Uint8Array[] {
  return [...bytesOf(observations), ...masks ? bytesOf(masks) : []];
}

/**
 * Answers to `reset` and `step` in a host: the observations, and the masks of actions
 * if there are some, each array of them at a multiple of eight bytes; of a step the
 * rewards and ends, and both of the rows that ended; what else there is.
 */
export class AnswerWriter {
  /** Arrays of the group, in the memory of the answer as far as that is fixed. */
  readonly arrays: GroupArrays;
  #frame: Uint8Array;
  #finals: readonly Uint8Array[];
  /** Ends of the observations, and of what each step has. */
  #observed: number;
  #fixed: number;

  constructor(
    spaces: GroupSpaces,
    numEnvs: number,
  ) {
    const { observationSpace, actionSpace } = spaces;
    const step = allocateStep(observationSpace, numEnvs, choicesOf(spaces));
    const { finalObservations, finalActionMasks } = step;
    this.#finals = seenBytes(finalObservations, finalActionMasks);
    const sizes = this.#finals.map((it) => padded(it.length) + it.length);
    // Four bytes in front, and all arrays begin at multiples of eight.
    let at = 4 + FRAME_HEADER + HEAD;
    const rest = 8 * numEnvs + padded(2 * numEnvs);
    const memory = new ArrayBuffer(
      sizes.reduce((sum, it) => sum + it, at + rest),
    );
    const placed = (like: BoxArray): BoxArray => {
      const Type = like.constructor as new (
        memory: ArrayBuffer,
        from: number,
        length: number,
      ) => BoxArray;
      const array = new Type(memory, at, like.length);
      at += padded(like.byteLength);
      return array;
    };
    const observations = mapBatch(step.observations, placed);
    const actionMasks = step.actionMasks && placed(step.actionMasks);
    const ends = at + 8 * numEnvs;
    this.#frame = new Uint8Array(memory, 4);
    this.#observed = at - 4;
    this.#fixed = padded(ends + 2 * numEnvs) - 4;
    this.arrays = {
      ...step,
      actions: allocateBatch(actionSpace, numEnvs),
      observations,
      ...actionMasks && { actionMasks: actionMasks as Uint8Array },
      rewards: new Float64Array(memory, at, numEnvs),
      terminated: new Uint8Array(memory, ends, numEnvs),
      truncated: new Uint8Array(memory, ends + numEnvs, numEnvs),
    };
  }

  /** Returns the answer to a reset, to be sent. */
  begun(): Uint8Array {
    return this.#until(this.#observed);
  }

  /** Returns the answer to a step, which so many more bytes are to follow. */
  stepped(more: number): Uint8Array {
    let at = this.#fixed;
    for (const row of finalRows(this.arrays, this.#finals)) {
      this.#frame.set(row, at);
      at += row.length;
    }
    return this.#until(at, more);
  }

  #until(end: number, more = 0): Uint8Array {
    writeFrameHeader(this.#frame, end - FRAME_HEADER + more);
    return this.#frame.subarray(0, end);
  }
}

/** Reads answers to `reset` and `step` into the arrays of a group. */
export class AnswerReader {
  #arrays: GroupArrays;
  #observations: readonly Uint8Array[];
  #rewards: readonly Uint8Array[];
  #finals: readonly Uint8Array[];

  /**
   * @param arrays The arrays.
   * @param resets True where rows that end are reset in the same step: only then
   * there are final observations.
   */
  constructor(arrays: GroupArrays, resets: boolean) {
    this.#arrays = arrays;
    const { finalObservations, finalActionMasks } = arrays;
    this.#observations = seenBytes(arrays.observations, arrays.actionMasks);
    this.#rewards = bytesOf(arrays.rewards);
    this.#finals = resets ? seenBytes(finalObservations, finalActionMasks) : [];
  }

  /** Reads the observations; what follows them begins where this returns. */
  readObservations(answer: Uint8Array): number {
    return this.#read(this.#observations, answer, HEAD);
  }

  /** Reads all arrays of a step; what follows begins where this returns. */
  readStep(answer: Uint8Array): number {
    const { terminated, truncated } = this.#arrays;
    const at = this.#read(this.#rewards, answer, this.readObservations(answer));
    const { length } = terminated, end = at + 2 * length;
    terminated.set(answer.subarray(at, at + length));
    truncated.set(answer.subarray(at + length, end));
    let from = padded(end);
    for (const row of finalRows(this.#arrays, this.#finals)) {
      row.set(answer.subarray(from, from += row.length));
    }
    return from;
  }

  #read(
    targets: readonly Uint8Array[],
    answer: Uint8Array,
    from: number,
  ): number {
    let at = from;
    for (const target of targets) {
      target.set(answer.subarray(at, at + target.length));
      at = padded(at + target.length);
    }
    return at;
  }
}
