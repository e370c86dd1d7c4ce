import { RING } from "./named_pipes.ts";
import {
  BELL,
  type ChildCommand,
  type ChildMemory,
  CLOSED,
  CLOSING,
  CODE,
  COMMANDS,
  ENDED,
  EVENTS,
  FAILED,
  GROUP,
  IS_WAITING,
  KILLS,
  memoryOf,
  NEEDED,
  NOTE_LENGTH,
  NOTHING,
  OPEN,
  OUTBOX,
  PID,
  PRINTED,
  READY_AT,
  RECEIVED,
  RUNNING,
  SENT,
  SENT_LENGTH,
  SLEEPS,
  STATE,
  TAKEN,
  TOO_LONG,
  type WorkerOrder,
} from "./_child_words.ts";
import { FRAME_HEADER, FrameReader, writeFrameHeader } from "./frames.ts";
import { show } from "../_print_to_stderr.ts";
import { parentPort } from "node:worker_threads";

/** The worker's side of the memory shared for one process of a child. */
class ChildSlot {
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

/**
 * How long the pipes of a child that has ended are still read: what it started
 * itself may hold them open.
 */
const DRAIN_MS = 200;
const PIECE = 65_536;

/** One running process, its pipes, and the slot that its messages go through. */
class ChildPipes {
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

/** How often callers are woken that sleep in a pipe, in milliseconds. */
const RING_MS = 100;

/** The slot of a child, the process in it, and what it was last told. */
interface Place {
  readonly slot: ChildSlot;
  process?: ChildPipes;
  kills: number;
  outbox: number;
}

class IoWorker {
  #words: Int32Array;
  #places: Place[] = [];
  /** Those that have not ended: of a child there may be one before its present. */
  #processes = new Set<ChildPipes>();
  #graceMs: number;
  #showPrints: boolean;
  #ringing: ReturnType<typeof setInterval> | undefined;

  constructor(order: WorkerOrder & { type: "open" }) {
    this.#words = new Int32Array(order.words);
    this.#graceMs = order.graceMs;
    this.#showPrints = order.showPrints;
  }

  start(order: WorkerOrder & { type: "start" }): void {
    if (Atomics.load(this.#words, GROUP) !== OPEN) return;
    const before = this.#places[order.child];
    before?.slot.takeBell();
    // It may not have ended in the time that the caller gave it.
    before?.process?.kill();
    const words = new Int32Array(order.words), memory = memoryOf(order.memory);
    const slot = new ChildSlot(this.#words, words, memory);
    const place: Place = { slot, kills: 0, outbox: 0 };
    this.#places[order.child] = place;
    try {
      place.process = this.#spawn(slot, order.command);
    } catch (error) {
      slot.fail((error as Error).message);
    }
    this.#serve(place);
  }

  #spawn(slot: ChildSlot, command: ChildCommand): ChildPipes {
    const process = new ChildPipes(slot, command, this.#showPrints);
    this.#processes.add(process);
    process.ended.then(() => this.#processes.delete(process));
    return process;
  }

  hangBell({ child, path }: WorkerOrder & { type: "bell" }): void {
    this.#places[child].slot.hangBell(path);
    this.#ringing ??= setInterval(() => {
      for (const { slot } of this.#places) slot.ringSleeper();
    }, RING_MS);
  }

  grow({ child, box, memory }: WorkerOrder & { type: "grow" }): void {
    const place = this.#places[child];
    place.slot.memory[box] = new Uint8Array(memory);
    if (box === "inbox") {
      Atomics.store(place.slot.words, RECEIVED, NOTHING);
    } else {
      place.outbox++;
    }
    this.#serve(place);
  }

  /** Does what the caller wants, until the end. */
  async run(): Promise<void> {
    const words = this.#words;
    for (;;) {
      const seen = Atomics.load(words, COMMANDS);
      if (Atomics.load(words, GROUP) === CLOSING) break;
      for (const place of this.#places) this.#serve(place);
      const change = Atomics.waitAsync(words, COMMANDS, seen);
      if (change.async) await change.value;
    }
    await this.#close();
    clearInterval(this.#ringing);
    for (const { slot } of this.#places) slot.takeBell();
    Atomics.store(words, GROUP, CLOSED);
    Atomics.add(words, EVENTS, 1);
    Atomics.notify(words, EVENTS);
  }

  #serve(place: Place): void {
    const { slot, process } = place;
    const kills = Atomics.load(slot.words, KILLS);
    if (kills !== place.kills) process?.kill();
    place.kills = kills;
    slot.wake();
    // A message in a longer outbox waits until that has arrived.
    if (Atomics.load(slot.words, OUTBOX) === place.outbox) process?.send();
  }

  /** Lets the children end, and ends those that do not. */
  async #close(): Promise<void> {
    const processes = [...this.#processes];
    const all = Promise.all(processes.map((it) => it.ended));
    for (const it of processes) it.closeInput();
    const timer = setTimeout(() => {
      for (const it of processes) it.kill();
    }, this.#graceMs);
    await all;
    clearTimeout(timer);
  }
}

let worker: IoWorker;

parentPort?.on("message", (order: WorkerOrder) => {
  switch (order.type) {
    case "open":
      worker = new IoWorker(order);
      worker.run();
      break;
    case "start":
      worker.start(order);
      break;
    case "bell":
      worker.hangBell(order);
      break;
    case "grow":
      worker.grow(order);
  }
});
