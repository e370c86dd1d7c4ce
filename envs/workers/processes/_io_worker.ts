import { WAKE } from "./named_pipes.ts";
import {
  CHILD,
  type ChildCommand,
  type ChildMemory,
  GROUP,
  memoryOf,
  MESSAGE,
  STATE,
  STATUS,
  type WorkerOrder,
} from "./_child_words.ts";
import { FRAME_HEADER, FrameReader, writeFrameHeader } from "./frames.ts";
import { printToStderr } from "../_print_to_stderr.ts";
import { parentPort } from "node:worker_threads";

/** The worker's side of the memory shared for one process of a child. */
class ChildSlot {
  readonly words: Int32Array;
  readonly memory: ChildMemory;
  #all: Int32Array;
  #onRoom: (() => void) | undefined;
  #wakePipe: Deno.FsFile | undefined;
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
    const now = Atomics.add(this.#all, GROUP.events, 1);
    Atomics.store(this.words, CHILD.readyAt, now);
    Atomics.notify(this.#all, GROUP.events);
  }

  /** Opens the pipe that the caller sleeps in, to wake it. */
  openWakePipe(path: string): void {
    this.closeWakePipe();
    try {
      this.#wakePipe = Deno.openSync(path, { read: true, write: true });
      Atomics.store(this.words, CHILD.wakePipe, 1);
    } catch {
      Atomics.store(this.words, CHILD.wakePipe, -1);
    }
    this.signal();
  }

  /** Closes that pipe. */
  closeWakePipe(): void {
    this.#wakePipe?.close();
    this.#wakePipe = undefined;
  }

  /** Wakes a caller that has slept in the pipe since this was called before. */
  wakeSleeper(): void {
    const sleeps = Atomics.load(this.words, CHILD.sleeps);
    if ((sleeps & 1) === 1 && sleeps === this.#slept) this.#wakeCaller();
    this.#slept = sleeps;
  }

  #wakeCaller(): void {
    this.#wakePipe?.writeSync(WAKE);
  }

  /** Waits until the inbox is empty and holds `length` bytes, if it does not yet. */
  room(length: number): void | Promise<void> {
    if (!this.#hasRoom(length)) return this.#awaitRoom(length);
  }

  async #awaitRoom(length: number): Promise<void> {
    const { words } = this;
    while (!this.#hasRoom(length)) {
      Atomics.store(words, CHILD.isWaiting, 1);
      // The caller may have emptied it before it could see that we wait.
      if (!this.#hasRoom(length)) {
        await new Promise<void>((resolve) => this.#onRoom = resolve);
      }
      Atomics.store(words, CHILD.isWaiting, 0);
    }
  }

  #hasRoom(length: number): boolean {
    const { words, memory } = this;
    if (Atomics.load(words, CHILD.received) !== MESSAGE.none) return false;
    if (memory.inbox.length >= length) return true;
    Atomics.store(words, CHILD.needed, length);
    Atomics.store(words, CHILD.received, MESSAGE.tooLong);
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
    Atomics.store(this.words, CHILD.received, length);
    this.signal();
  }

  /** Keeps what was printed, as far as there is room for the newest. */
  print(bytes: Uint8Array): void {
    const { prints } = this.memory;
    const start = Atomics.load(this.words, CHILD.printed) >>> 0;
    const skipped = Math.max(0, bytes.length - prints.length);
    for (let from = skipped; from < bytes.length;) {
      const at = (start + from) % prints.length;
      const part = bytes.subarray(from, from + prints.length - at);
      prints.set(part, at);
      from += part.length;
    }
    Atomics.store(this.words, CHILD.printed, start + bytes.length);
  }

  /** Tells the caller of a child that has ended. */
  end(code: number, signal: string | null): void {
    Atomics.store(this.words, CHILD.code, code);
    this.#finish(STATE.ended, signal ?? "");
  }

  /** Tells the caller of a child that could not be started. */
  fail(reason: string): void {
    this.#finish(STATE.failed, reason);
  }

  #finish(state: number, text: string): void {
    const { words } = this;
    const { note } = this.memory;
    const bytes = new TextEncoder().encode(text).subarray(0, note.length);
    note.set(bytes);
    Atomics.store(words, CHILD.noteLength, bytes.length);
    Atomics.store(words, CHILD.state, state);
    // Nobody will take what was sent, nor is it to be waited for.
    Atomics.store(words, CHILD.taken, Atomics.load(words, CHILD.sent));
    Atomics.notify(words, CHILD.taken);
    this.signal();
    this.#wakeCaller();
  }
}

/**
 * Time in which the pipes of a child that has ended are still read: processes
 * that it started may hold them open.
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
    Atomics.store(slot.words, CHILD.pid, this.#child.pid);
    Atomics.store(slot.words, CHILD.state, STATE.running);
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
      const sent = Atomics.load(words, CHILD.sent);
      if (sent === Atomics.load(words, CHILD.taken)) return;
      const length = Atomics.load(words, CHILD.sentLength);
      const size = FRAME_HEADER + length;
      if (this.#frame.length < size) this.#frame = new Uint8Array(2 * size);
      writeFrameHeader(this.#frame, length);
      this.#frame.set(memory.outbox.subarray(0, length), FRAME_HEADER);
      Atomics.store(words, CHILD.taken, sent);
      Atomics.notify(words, CHILD.taken);
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
    if (this.#showPrints) printToStderr(bytes);
  }
}

/**
 * Interval at which callers are woken that sleep in a pipe, in milliseconds.
 */
const WAKE_MS = 100;

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
  #waking: ReturnType<typeof setInterval> | undefined;

  constructor(order: WorkerOrder & { type: "open" }) {
    this.#words = new Int32Array(order.words);
    this.#graceMs = order.graceMs;
    this.#showPrints = order.showPrints;
  }

  start(order: WorkerOrder & { type: "start" }): void {
    if (Atomics.load(this.#words, GROUP.status) !== STATUS.open) return;
    const before = this.#places[order.child];
    before?.slot.closeWakePipe();
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

  openWakePipe({ child, path }: WorkerOrder & { type: "wake" }): void {
    this.#places[child].slot.openWakePipe(path);
    this.#waking ??= setInterval(() => {
      for (const { slot } of this.#places) slot.wakeSleeper();
    }, WAKE_MS);
  }

  grow({ child, box, memory }: WorkerOrder & { type: "grow" }): void {
    const place = this.#places[child];
    place.slot.memory[box] = new Uint8Array(memory);
    if (box === "inbox") {
      Atomics.store(place.slot.words, CHILD.received, MESSAGE.none);
    } else {
      place.outbox++;
    }
    this.#serve(place);
  }

  /** Does what the caller wants, until the end. */
  async run(): Promise<void> {
    const words = this.#words;
    for (;;) {
      const seen = Atomics.load(words, GROUP.commands);
      if (Atomics.load(words, GROUP.status) === STATUS.closing) break;
      for (const place of this.#places) this.#serve(place);
      const change = Atomics.waitAsync(words, GROUP.commands, seen);
      if (change.async) await change.value;
    }
    await this.#close();
    clearInterval(this.#waking);
    for (const { slot } of this.#places) slot.closeWakePipe();
    Atomics.store(words, GROUP.status, STATUS.closed);
    Atomics.add(words, GROUP.events, 1);
    Atomics.notify(words, GROUP.events);
  }

  #serve(place: Place): void {
    const { slot, process } = place;
    const kills = Atomics.load(slot.words, CHILD.kills);
    if (kills !== place.kills) process?.kill();
    place.kills = kills;
    slot.wake();
    // A message in a longer outbox waits until that has arrived.
    if (Atomics.load(slot.words, CHILD.outbox) === place.outbox) {
      process?.send();
    }
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
    case "wake":
      worker.openWakePipe(order);
      break;
    case "grow":
      worker.grow(order);
  }
});
