/** Messages between a caller and a host process. */
import { deserialize, serialize } from "node:v8";
import type { CheckedSource } from "../group_source.ts";
import type { GroupCommand, GroupRange } from "../group_hosts.ts";

/** First byte of a request: data follows, or the actions of a step. */
export const REQUEST = { data: 0, step: 1 } as const;

/**
 * First byte of an answer: data or the error that was thrown follows, or the arrays
 * have first observations or a step.
 */
export const ANSWER = { data: 0, thrown: 1, begun: 2, stepped: 3 } as const;

/** Places of bytes of a step: 1 where final observations follow, and `EPISODES`. */
export const FLAG = { hasEnded: 1, episodes: 2 } as const;

/** Episodes of a step: not recorded, none ended, or they follow the arrays. */
export const EPISODES = { unrecorded: 0, none: 1, some: 2 } as const;

/** A request with data. */
export type Request =
  | {
    readonly type: "make";
    readonly source: CheckedSource;
    readonly range: GroupRange;
  }
  | GroupCommand;

/** Turns plain data with typed arrays into bytes. */
export function pack(data: unknown): Uint8Array {
  return serialize(data);
}

/** Reads data from bytes, which may be shared memory. */
export function unpack<T>(bytes: Uint8Array): T {
  return deserialize(bytes.slice()) as T;
}
