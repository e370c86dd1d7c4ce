/**
 * What a caller and a worker share beside the arrays: a few words for each
 * worker, and one that tells all callers that some worker is ready. A worker
 * that takes the place of another has words of its own, so that the one before
 * cannot be mistaken for it.
 */
import type { CheckedSource } from "./_check_source.ts";
import type { GroupArrays, GroupRange } from "./group_hosts.ts";
import type { MessagePort } from "node:worker_threads";

/** Word: how the worker stands; one of the states below. */
export const STATE = 0;
/** Word: what is asked, one of the commands below. */
export const COMMAND = 1;
/** Word: what beside the arrays belongs to the answer, one of those below. */
export const ANSWER = 2;
/** Word: the count of events when it last became ready. */
export const READY_AT = 3;
/** Word: 1 once the worker has ended, however it stood. */
export const ENDED = 4;
export const WORDS = 5;

/** State: it has answered and waits. */
export const DONE = 0;
/** State: it was asked something. */
export const ASKED = 1;
/** State: it is about to answer and writes into the arrays. */
export const WRITING = 2;
/** State: it threw; the error is in a message. */
export const FAILED = 3;
/** State: it has ended. */
export const GONE = 4;
/** State: nothing is wanted of it any more, and it ends. */
export const DROPPED = 5;

/** Command: take a step. */
export const TAKE_STEP = 0;
/** Command: do what the next message says. */
export const READ_MESSAGE = 1;

/** Answer: nothing. */
export const NOTHING = 0;
/** Answer: no episode has ended. */
export const NO_EPISODES = 1;
/** Answer: the next message. */
export const MESSAGE = 2;

/** What a worker is made with. */
export interface WorkerData {
  readonly source: CheckedSource;
  readonly range: GroupRange;
  readonly words: Int32Array;
  readonly events: Int32Array;
  readonly port: MessagePort;
  readonly arrays: GroupArrays | undefined;
  readonly spins: number;
}

/** An error on its way to the caller. */
export interface SentError {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
}

/** An error as data. */
export function sendableError(error: unknown): SentError {
  if (!(error instanceof Error)) {
    return { name: "Error", message: String(error) };
  }
  const { name, message, stack } = error;
  return { name, message, stack };
}
