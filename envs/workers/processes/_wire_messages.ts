/** What a caller and a host process say to each other. */
import { deserialize, serialize } from "node:v8";
import type { CheckedSource } from "../group_source.ts";
import type { GroupCommand, GroupRange } from "../group_hosts.ts";

/** First byte of a request: data follows. */
export const ASK = 0;
/** First byte of a request: take the actions that follow. */
export const TAKE_STEP = 1;

/** First byte of an answer: data follows. */
export const TELL = 0;
/** First byte of an answer: what was thrown follows. */
export const THROWN = 1;
/** First byte of an answer: the arrays have first observations. */
export const BEGUN = 2;
/** First byte of an answer: the arrays have a step. */
export const STEPPED = 3;

/** Byte of an answer: whether final observations follow. */
export const HAS_ENDED = 1;
/** Byte of an answer: one of those below. */
export const EPISODES = 2;

/** Episodes are not recorded. */
export const UNRECORDED = 0;
/** None has ended. */
export const NONE = 1;
/** They follow the arrays. */
export const SOME = 2;

/** What is asked with data. */
export type Request =
  | {
    readonly type: "make";
    readonly source: CheckedSource;
    readonly range: GroupRange;
  }
  | GroupCommand;

/** Plain data with typed arrays as bytes. */
export function pack(data: unknown): Uint8Array {
  return serialize(data);
}

/** Data from bytes, which may be shared memory. */
export function unpack<T>(bytes: Uint8Array): T {
  return deserialize(bytes.slice()) as T;
}
