import type { MessagePort } from "node:worker_threads";
import type { GroupAnswer, GroupArrays, GroupCommand } from "../group_hosts.ts";

/**
 * Words that a caller and a worker share. A worker that replaces another has words of
 * its own, so that the one before cannot be mistaken for it.
 */
export const WORD = {
  /** One of `STATE`. */
  state: 0,
  /** One of `COMMAND`. */
  command: 1,
  /** One of `ANSWER`. */
  answer: 2,
  /** 1 once the worker has ended, in whatever state. */
  ended: 3,
  /** Heartbeats that it has sent while it carried out commands. */
  heartbeats: 4,
  /** Id of its process, where it has one of its own. */
  pid: 5,
  length: 6,
} as const;

/** States of a worker. */
export const STATE = {
  /** It has answered and waits. */
  done: 0,
  /** It was sent a command. */
  busy: 1,
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

/** The answer without data. */
export const NO_ANSWER: GroupAnswer = {};

/** The answer to a step in which no recorded episode ended. */
export const NONE_ENDED: GroupAnswer = { episodes: [] };

/** A command, or one for a picture of an environment, by default the first. */
export type HostCommand =
  | GroupCommand
  | { readonly type: "render"; readonly env?: number };

/** Message to a worker: a command, or the arrays of the group that it hosts. */
export type WorkerMessage =
  | HostCommand
  | { readonly type: "attach"; readonly arrays: GroupArrays };

/** Data that a worker is made with. */
export interface WorkerData {
  readonly words: Int32Array;
  /** Counter of the events of all workers, on which the caller waits. */
  readonly events: Int32Array;
  readonly port: MessagePort;
  /** Port for what a host in a process says or asks beside its answers. */
  readonly aside?: MessagePort;
  /** Data of the program that it runs. */
  readonly data: unknown;
}

/** Largest number of looks for a change before a thread sleeps; one takes about 0.1 us. */
const MOST = 64;

/** Looks that cost about a microsecond, so that it finds out when they pay. */
const LEAST = 8;

/** Looks at a shared word for a moment before its thread goes to sleep. */
export class Spinner {
  #looks = MOST;

  /**
   * Waits until a word is no longer of a value.
   *
   * Looking pays where the other side answers at once, and only takes time
   * from it where both share a core: so it looks half as often each time that
   * it looked in vain, and more often again when it need not have slept.
   */
  wait(
    words: Int32Array,
    at: number,
    { value, timeoutMs = Infinity }: { value: number; timeoutMs?: number },
  ): void {
    for (let i = 0; i < this.#looks; i++) {
      if (Atomics.load(words, at) !== value) {
        this.#looks = Math.min(MOST, 2 * this.#looks);
        return;
      }
      Atomics.pause?.(); // Node 22 has none.
    }
    this.#looks = Math.max(this.#looks >> 1, LEAST);
    Atomics.wait(words, at, value, timeoutMs);
  }
}
