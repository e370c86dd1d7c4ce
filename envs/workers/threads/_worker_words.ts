import type { CheckedSource } from "../group_source.ts";
import type { GroupArrays, GroupRange } from "../group_hosts.ts";
import type { MessagePort } from "node:worker_threads";

/**
 * Words that a caller and a worker share beside the arrays. A worker that takes the
 * place of another has words of its own, so that the one before cannot be mistaken
 * for it.
 */
export const WORD = {
  /** One of `STATE`. */
  state: 0,
  /** One of `COMMAND`. */
  command: 1,
  /** One of `ANSWER`. */
  answer: 2,
  /** Count of events when it last became ready. */
  readyAt: 3,
  /** 1 once the worker has ended, in whatever state. */
  ended: 4,
  /** Heartbeats that it has sent while it carried out commands. */
  signs: 5,
  length: 6,
} as const;

/** States of a worker. */
export const STATE = {
  /** It has answered and waits. */
  done: 0,
  /** It was asked something. */
  asked: 1,
  /** It is about to answer, or changes shared memory: it is not given up meanwhile. */
  writing: 2,
  /** It threw; the error is in a message. */
  failed: 3,
  /** It has ended. */
  gone: 4,
  /** It is released and ends. */
  dropped: 5,
} as const;

/** Commands: a step, or that of the next message. */
export const COMMAND = { step: 0, message: 1 } as const;

/** Answers: nothing, no episode has ended, or the next message. */
export const ANSWER = { nothing: 0, noEpisodes: 1, message: 2 } as const;

/** Data that a worker is made with. */
export interface WorkerData {
  readonly source: CheckedSource;
  readonly range: GroupRange;
  readonly words: Int32Array;
  readonly events: Int32Array;
  readonly port: MessagePort;
  readonly arrays: GroupArrays | undefined;
  readonly spins: number;
}

/** Looks at a shared word for a moment before its thread goes to sleep. */
export class Spinner {
  #most: number;
  #looks: number;

  /** @param most Largest number of looks; 0 for none. */
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
   * @returns True if it changed in time.
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
