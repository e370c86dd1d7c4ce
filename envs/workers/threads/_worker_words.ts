import type { CheckedSource } from "../group_source.ts";
import type { GroupArrays, GroupRange } from "../group_hosts.ts";
import type { MessagePort } from "node:worker_threads";

/** Looks at a shared word for a moment before its thread goes to sleep. */
export class Spinner {
  #most: number;
  #looks: number;

  /**
   * @param most How often it looks at most; 0 for never.
   */
  constructor(most: number) {
    this.#most = most;
    this.#looks = most;
  }

  /**
   * Waits until a word is no longer of a value.
   *
   * Looking pays where the other side answers at once, and only takes time
   * from it where both share a core: so it looks half as often each time that
   * it looked in vain, and more often again when it need not have slept.
   *
   * @returns Whether it changed in time.
   */
  wait(
    words: Int32Array,
    at: number,
    { value, timeoutMs = Infinity }: { value: number; timeoutMs?: number },
  ): boolean {
    for (let i = 0; i < this.#looks; i++) {
      if (Atomics.load(words, at) !== value) {
        this.#looks = Math.min(this.#most, 2 * this.#looks);
        return true;
      }
      Atomics.pause();
    }
    this.#looks = Math.max(this.#looks >> 1, Math.min(this.#most, LEAST));
    return Atomics.wait(words, at, value, timeoutMs) !== "timed-out";
  }
}

/** Looks that cost about a microsecond, so that it finds out when they pay. */
const LEAST = 8;

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
