/** Messages between a caller and the host of a group in another process. */
import { builtin } from "@bellman/files";
import type { Batch } from "@bellman/types";
import { ended } from "../../_steps.ts";
import { bytesOf } from "../_group_arrays.ts";
import type { GroupArrays } from "../group_hosts.ts";

/** Writes plain data between two processes of Deno. */
export function serialize(data: unknown): Uint8Array {
  return builtin("node:v8").serialize(data);
}

/** Reads what {@linkcode serialize} wrote. */
export function deserialize<T>(bytes: Uint8Array): T {
  return builtin("node:v8").deserialize(bytes);
}

/** The first byte of a request. */
export const REQUEST = {
  open: 1,
  reset: 2,
  step: 3,
  save: 4,
  load: 5,
  render: 6,
  goals: 7,
  parameters: 8,
  watch: 9,
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

/** Follows an array of so many bytes up to a multiple of eight. */
function room(bytes: number): Uint8Array {
  return new Uint8Array(padded(bytes) - bytes);
}

/**
 * Answers to `reset` and `step` in a host: the observations, and the masks of actions
 * if there are some, each array of them at a multiple of eight bytes; of a step the
 * rewards and ends, and both of the rows that ended; what else there is.
 */
export class AnswerWriter {
  /** Parts of the answer to a reset. */
  readonly begun: readonly Uint8Array[];
  readonly #arrays: GroupArrays;
  readonly #fixed: readonly Uint8Array[];
  readonly #finals: readonly Uint8Array[];

  constructor(arrays: GroupArrays) {
    const { rewards, terminated, truncated } = arrays;
    const seen = seenBytes(arrays.observations, arrays.actionMasks);
    this.#arrays = arrays;
    this.begun = [
      new Uint8Array(HEAD),
      ...seen.flatMap((it) => [it, room(it.length)]),
    ];
    const ends = [terminated, truncated, room(2 * rewards.length)];
    this.#fixed = [...this.begun, ...bytesOf(rewards), ...ends];
    this.#finals = seenBytes(arrays.finalObservations, arrays.finalActionMasks);
  }

  /** Returns the parts of the answer to a step, which more may follow. */
  stepped(): Uint8Array[] {
    return [...this.#fixed, ...finalRows(this.#arrays, this.#finals)];
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
