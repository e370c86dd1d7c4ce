import type { ChildSlot } from "./_child_slot.ts";
import {
  type ChildCommand,
  PID,
  RUNNING,
  SENT,
  SENT_LENGTH,
  STATE,
  TAKEN,
} from "./_layout.ts";
import { FRAME_HEADER, FrameReader, writeFrameHeader } from "./frame.ts";
import { show } from "./show.ts";

/**
 * How long the pipes of a child that has ended are still read: what it started
 * itself may hold them open.
 */
const DRAIN_MS = 200;
const PIECE = 65_536;

/** One running process, its pipes, and the slot that its messages go through. */
export class ChildPipes {
  /** Settles when the process has ended and its slot says so. */
  readonly ended: Promise<void>;
  #slot: ChildSlot;
  #child: Deno.ChildProcess;
  #writer: WritableStreamDefaultWriter<Uint8Array>;
  #frame = new Uint8Array(4096);
  #readers: ReadableStreamBYOBReader[] = [];
  #isWriting = false;
  #hasEnded = false;
  #showPrints: boolean;

  /** Starts the process; throws where that cannot be done. */
  constructor(
    slot: ChildSlot,
    { program, args = [], env = {} }: ChildCommand,
    showPrints: boolean,
  ) {
    this.#slot = slot;
    this.#showPrints = showPrints;
    this.#child = new Deno.Command(program, {
      args: [...args],
      env: { ...env },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#writer = this.#child.stdin.getWriter();
    // A child that ends closes its pipe: its exit is what is told of.
    this.#writer.closed.catch(() => {});
    Atomics.store(slot.words, PID, this.#child.pid);
    Atomics.store(slot.words, STATE, RUNNING);
    slot.signal();
    this.ended = this.#follow();
  }

  /** Ends the process at once. */
  kill(): void {
    if (this.#hasEnded) return;
    try {
      this.#child.kill("SIGKILL");
    } catch (error) {
      // It has ended a moment ago.
      if (
        !(error instanceof TypeError || error instanceof Deno.errors.NotFound)
      ) {
        throw error;
      }
    }
  }

  /** Closes the input, on which a host ends by itself. */
  closeInput(): void {
    this.#writer.close().catch(() => {});
  }

  /** Sends what stands in the outbox, if there is something new. */
  async send(): Promise<void> {
    const { words, memory } = this.#slot;
    while (!this.#isWriting && !this.#hasEnded) {
      const sent = Atomics.load(words, SENT);
      if (sent === Atomics.load(words, TAKEN)) return;
      const length = Atomics.load(words, SENT_LENGTH);
      const size = FRAME_HEADER + length;
      if (this.#frame.length < size) this.#frame = new Uint8Array(2 * size);
      writeFrameHeader(this.#frame, length);
      this.#frame.set(memory.outbox.subarray(0, length), FRAME_HEADER);
      Atomics.store(words, TAKEN, sent);
      Atomics.notify(words, TAKEN);
      this.#isWriting = true;
      try {
        await this.#writer.write(this.#frame.subarray(0, size));
      } catch {
        return;
      }
      this.#isWriting = false;
    }
  }

  async #follow(): Promise<void> {
    const reading = [this.#readMessages(), this.#readPrints()];
    // A child that is read no more would wait for ever: it is ended instead.
    const pipes = Promise.all(reading).catch(() => this.kill());
    const { code, signal } = await this.#child.status;
    const { promise: patience, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, DRAIN_MS);
    await Promise.race([pipes, patience]);
    clearTimeout(timer);
    this.#hasEnded = true;
    this.closeInput();
    for (const reader of this.#readers) reader.cancel().catch(() => {});
    this.#slot.end(code, signal);
  }

  async #readMessages(): Promise<void> {
    const slot = this.#slot;
    const frames = new FrameReader({
      begin: (length) => slot.room(length),
      // Nothing comes after the end, which the caller may have seen by now.
      part: (bytes, at) => {
        if (!this.#hasEnded) slot.memory.inbox.set(bytes, at);
      },
      end: (length) => {
        if (!this.#hasEnded) slot.deliver(length);
      },
      stray: (bytes) => this.#print(bytes),
    });
    await this.#read(this.#child.stdout, (piece) => frames.read(piece));
  }

  async #readPrints(): Promise<void> {
    await this.#read(this.#child.stderr, (piece) => this.#print(piece));
  }

  /** Reads a pipe into one buffer again and again, until its end. */
  async #read(
    pipe: ReadableStream<Uint8Array>,
    use: (piece: Uint8Array) => void | Promise<void>,
  ): Promise<void> {
    const reader = pipe.getReader({ mode: "byob" });
    this.#readers.push(reader);
    let buffer = new Uint8Array(PIECE);
    for (;;) {
      const { value, done } = await reader.read(buffer);
      if (done) return;
      const using = use(value);
      if (using !== undefined) await using;
      buffer = new Uint8Array(value.buffer);
    }
  }

  #print(bytes: Uint8Array): void {
    this.#slot.print(bytes);
    if (this.#showPrints) show(bytes);
  }
}
