import type { ChildEnd } from "./child_errors.ts";
import {
  CHILD_WORDS,
  type ChildMemory,
  CODE,
  ENDED,
  FAILED,
  IS_WAITING,
  NOTE_LENGTH,
  NOTE_SIZE,
  NOTHING,
  PID,
  PRINTED,
  PRINTS_KEPT,
  READY_AT,
  RECEIVED,
  SENT,
  shareBytes,
  shareWords,
  STATE,
  TAKEN,
} from "./_layout.ts";

/** Bytes of a box at first. */
const BOX = 65_536;

/**
 * The caller's side of the memory that it shares with one process of a child. The
 * next process has another one: what is late of this cannot be taken for its.
 */
export class ChildView {
  readonly words: Int32Array<SharedArrayBuffer> = shareWords(CHILD_WORDS);
  readonly memory: ChildMemory = {
    inbox: shareBytes(BOX),
    outbox: shareBytes(BOX),
    prints: shareBytes(PRINTS_KEPT),
    note: shareBytes(NOTE_SIZE),
  };
  /** Whether the caller uses the message in the inbox. */
  #holds = false;

  constructor() {
    Atomics.store(this.words, RECEIVED, NOTHING);
  }

  get state(): number {
    return Atomics.load(this.words, STATE);
  }

  get pid(): number {
    return Atomics.load(this.words, PID);
  }

  get hasEnded(): boolean {
    return this.state === ENDED || this.state === FAILED;
  }

  /** Length of the message in the inbox, or why there is none. */
  get received(): number {
    return Atomics.load(this.words, RECEIVED);
  }

  /** Whether there is a message, or never will be one. */
  get isReady(): boolean {
    return this.received >= 0 || this.hasEnded;
  }

  /** When it became ready, in events of the group. */
  get readyAt(): number {
    return Atomics.load(this.words, READY_AT);
  }

  /** The message in the inbox, there until it is released. */
  hold(): Uint8Array {
    this.#holds = true;
    return this.memory.inbox.subarray(0, this.received);
  }

  /** Gives back the inbox; true when the worker waits for that. */
  release(): boolean {
    if (!this.#holds) return false;
    this.#holds = false;
    Atomics.store(this.words, RECEIVED, NOTHING);
    return Atomics.load(this.words, IS_WAITING) === 1;
  }

  /** Whether the outbox could be overwritten in time. */
  awaitTaken(timeoutMs: number): boolean {
    const { words } = this;
    for (;;) {
      const taken = Atomics.load(words, TAKEN);
      if (taken === Atomics.load(words, SENT) || this.hasEnded) return true;
      const how = Atomics.wait(words, TAKEN, taken, timeoutMs);
      if (how === "timed-out") return false;
    }
  }

  /** The last 64 kB that it printed. */
  prints(): string {
    const { prints } = this.memory;
    const end = Atomics.load(this.words, PRINTED) >>> 0;
    const kept = Math.min(end, prints.length), cut = end % prints.length;
    const bytes = new Uint8Array(kept);
    if (kept === prints.length) bytes.set(prints.subarray(cut));
    bytes.set(prints.subarray(0, cut), kept - cut);
    return new TextDecoder().decode(bytes);
  }

  /** How it ended, or nothing where it still runs. */
  end(): ChildEnd | undefined {
    const { words, memory, state } = this;
    if (!this.hasEnded) return undefined;
    const length = Atomics.load(words, NOTE_LENGTH);
    const note = new TextDecoder().decode(memory.note.slice(0, length));
    const prints = this.prints();
    if (state === FAILED) return { failure: note, prints };
    const code = Atomics.load(words, CODE);
    return note === "" ? { code, prints } : { code, signal: note, prints };
  }
}
