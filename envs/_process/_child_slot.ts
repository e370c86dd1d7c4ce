import { RING } from "./answer_pipe.ts";
import {
  BELL,
  CODE,
  ENDED,
  EVENTS,
  FAILED,
  IS_WAITING,
  NEEDED,
  NOTE_LENGTH,
  NOTHING,
  PRINTED,
  READY_AT,
  RECEIVED,
  SENT,
  SLEEPS,
  STATE,
  TAKEN,
  TOO_LONG,
} from "./_layout.ts";
import type { ChildMemory } from "./_layout.ts";

/** The worker's side of the memory shared for one process of a child. */
export class ChildSlot {
  readonly words: Int32Array;
  readonly memory: ChildMemory;
  #all: Int32Array;
  #onRoom: (() => void) | undefined;
  #bell: Deno.FsFile | undefined;
  #slept = 0;

  /**
   * @param all The words of the group.
   * @param words Those of the child.
   * @param memory Its buffers.
   */
  constructor(all: Int32Array, words: Int32Array, memory: ChildMemory) {
    this.#all = all;
    this.words = words;
    this.memory = memory;
  }

  /** Wakes the caller, as something of this child is ready. */
  signal(): void {
    const now = Atomics.add(this.#all, EVENTS, 1);
    Atomics.store(this.words, READY_AT, now);
    Atomics.notify(this.#all, EVENTS);
  }

  /** Hangs a bell into the pipe that the caller sleeps in. */
  hangBell(path: string): void {
    this.takeBell();
    try {
      this.#bell = Deno.openSync(path, { read: true, write: true });
      Atomics.store(this.words, BELL, 1);
    } catch {
      Atomics.store(this.words, BELL, -1);
    }
    this.signal();
  }

  /** Takes the bell away. */
  takeBell(): void {
    this.#bell?.close();
    this.#bell = undefined;
  }

  /** Wakes a caller that has slept in the pipe since this was called before. */
  ringSleeper(): void {
    const sleeps = Atomics.load(this.words, SLEEPS);
    if ((sleeps & 1) === 1 && sleeps === this.#slept) this.#ring();
    this.#slept = sleeps;
  }

  #ring(): void {
    this.#bell?.writeSync(RING);
  }

  /** Waits until the inbox is empty and holds `length` bytes, if it does not yet. */
  room(length: number): void | Promise<void> {
    if (!this.#hasRoom(length)) return this.#awaitRoom(length);
  }

  async #awaitRoom(length: number): Promise<void> {
    const { words } = this;
    while (!this.#hasRoom(length)) {
      Atomics.store(words, IS_WAITING, 1);
      // The caller may have emptied it before it could see that we wait.
      if (!this.#hasRoom(length)) {
        await new Promise<void>((resolve) => this.#onRoom = resolve);
      }
      Atomics.store(words, IS_WAITING, 0);
    }
  }

  #hasRoom(length: number): boolean {
    const { words, memory } = this;
    if (Atomics.load(words, RECEIVED) !== NOTHING) return false;
    if (memory.inbox.length >= length) return true;
    Atomics.store(words, NEEDED, length);
    Atomics.store(words, RECEIVED, TOO_LONG);
    this.signal();
    return false;
  }

  /** Looks again whether there is room. */
  wake(): void {
    this.#onRoom?.();
    this.#onRoom = undefined;
  }

  /** Hands the message in the inbox to the caller. */
  deliver(length: number): void {
    Atomics.store(this.words, RECEIVED, length);
    this.signal();
  }

  /** Keeps what was printed, as far as there is room for the newest. */
  print(bytes: Uint8Array): void {
    const { prints } = this.memory;
    const start = Atomics.load(this.words, PRINTED) >>> 0;
    const skipped = Math.max(0, bytes.length - prints.length);
    for (let from = skipped; from < bytes.length;) {
      const at = (start + from) % prints.length;
      const part = bytes.subarray(from, from + prints.length - at);
      prints.set(part, at);
      from += part.length;
    }
    Atomics.store(this.words, PRINTED, start + bytes.length);
  }

  /** Tells the caller of a child that has ended. */
  end(code: number, signal: string | null): void {
    Atomics.store(this.words, CODE, code);
    this.#finish(ENDED, signal ?? "");
  }

  /** Tells the caller of a child that could not be started. */
  fail(reason: string): void {
    this.#finish(FAILED, reason);
  }

  #finish(state: number, text: string): void {
    const { words } = this;
    const { note } = this.memory;
    const bytes = new TextEncoder().encode(text).subarray(0, note.length);
    note.set(bytes);
    Atomics.store(words, NOTE_LENGTH, bytes.length);
    Atomics.store(words, STATE, state);
    // Nobody will take what was sent, nor is it to be waited for.
    Atomics.store(words, TAKEN, Atomics.load(words, SENT));
    Atomics.notify(words, TAKEN);
    this.signal();
    this.#ring();
  }
}
