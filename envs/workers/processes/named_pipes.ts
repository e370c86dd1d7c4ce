import { FRAME_HEADER, FRAME_MARK } from "./frames.ts";

/** Bytes that a write into a pipe puts there as a whole. */
export const WHOLE_WRITE = 4096;

/**
 * Messages to a child through a named pipe, written by the calling thread
 * itself: that is faster than the way through the worker of a `ChildGroup`. Unix
 * only; the child makes the pipe.
 */
export class NamedPipe {
  #file: Deno.FsFile;

  /**
   * Opens a pipe. It is opened to be read as well, so that neither this nor a
   * write ever waits for a child that has died.
   *
   * @param path Path of the pipe.
   */
  constructor(path: string) {
    this.#file = Deno.openSync(path, { read: true, write: true });
  }

  /**
   * Sends a message, which must be the only one that is not yet answered.
   *
   * @param frame The message with mark and length.
   * @returns True if it was sent: not where it is too long for an empty pipe, as
   * it would wait for a reader then.
   */
  send(frame: Uint8Array): boolean {
    if (frame.length > WHOLE_WRITE) return false;
    for (let sent = 0; sent < frame.length;) {
      sent += this.#file.writeSync(frame.subarray(sent));
    }
    return true;
  }

  /** Closes it: the child sees the end of its input. */
  close(): void {
    this.#file.close();
  }
}

/** Byte that wakes a sleeper and begins no message. */
export const WAKE: Uint8Array = new Uint8Array(1);

/** Length that the sender writes for a message that comes another way. */
const ELSEWHERE = 0;

/**
 * Answers of a child through a named pipe, read by the calling thread itself,
 * which sleeps in that: that is faster than the way through the worker of a
 * `ChildGroup`. Longer ones come by that way, and an empty one says so. Unix
 * only; the child makes the pipe.
 *
 * A thread that sleeps in a pipe looks at nothing else, so that somebody has to
 * wake it now and then, by a byte that is no message.
 */
export class AnswerPipe {
  #file: Deno.FsFile;
  #bytes = new Uint8Array(2 * WHOLE_WRITE);
  #from = 0;
  #to = 0;

  /**
   * Opens a pipe, also to be written, so that it has no end.
   *
   * @param path Path of the pipe.
   */
  constructor(path: string) {
    this.#file = Deno.openSync(path, { read: true, write: true });
  }

  /**
   * Waits for an answer.
   *
   * @param isOver True to give up; called after each read.
   * @returns The answer, there until the next call; `null` if it comes another
   * way; nothing if it was given up.
   */
  receive(isOver: () => boolean): Uint8Array | null | undefined {
    for (;;) {
      const length = this.#length();
      if (length === ELSEWHERE) {
        this.#from += FRAME_HEADER;
        return null;
      }
      const end = this.#from + FRAME_HEADER + length;
      if (length > 0 && this.#to >= end) {
        const answer = this.#bytes.subarray(this.#from + FRAME_HEADER, end);
        this.#from = end;
        return answer;
      }
      if (isOver()) return undefined;
      this.#read();
    }
  }

  /**
   * Returns the length of the message that is there; below 0 if there is none.
   */
  #length(): number {
    while (this.#from < this.#to && this.#bytes[this.#from] !== FRAME_MARK[0]) {
      this.#from++;
    }
    if (this.#to - this.#from < FRAME_HEADER) return -1;
    const at = this.#from + FRAME_MARK.length;
    return new DataView(this.#bytes.buffer).getUint32(at, true);
  }

  #read(): void {
    if (this.#from > 0) {
      this.#bytes.copyWithin(0, this.#from, this.#to);
      this.#to -= this.#from;
      this.#from = 0;
    }
    this.#to += this.#file.readSync(this.#bytes.subarray(this.#to)) ?? 0;
  }

  /** Closes it. */
  close(): void {
    this.#file.close();
  }
}
