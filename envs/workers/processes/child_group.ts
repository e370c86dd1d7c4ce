import { checkStartable } from "../_check_startable.ts";
import { HostFailure } from "../host_failure.ts";
import {
  buffersOf,
  CHILD,
  type ChildCommand,
  type ChildMemory,
  GROUP,
  MESSAGE,
  shareBytes,
  shareWords,
  STATE,
  STATUS,
  type WorkerOrder,
} from "./_child_words.ts";
import { Worker } from "node:worker_threads";

/** The end of a child. */
interface ChildEnd {
  /** Its exit code; `undefined` where it could not be started. */
  readonly code?: number;
  /** The signal that ended it, if one did. */
  readonly signal?: string;
  /** The reason why it could not be started, if that is so. */
  readonly failure?: string;
  /** Returns the last 64 kB that it printed. */
  readonly prints: string;
}

/** Describes the end of a child, with the last line that it printed. */
function describeEnd({ code, signal, failure, prints }: ChildEnd): string {
  if (failure !== undefined) return `could not be started: ${failure}`;
  const how = signal === undefined
    ? `ended with code ${code}`
    : `was ended by ${signal}`;
  const last = prints.trimEnd().split("\n").at(-1)!.trim();
  return last === "" ? how : `${how}: its last line is '${last}'`;
}

/** Initial bytes of a box, and bytes of a child's prints that are kept. */
const BOX = 65_536;
/** Bytes of the note about a child's end. */
const NOTE = 1024;

/**
 * The caller's side of the memory that it shares with one process of a child. The
 * next process has another one: what is late of this cannot be taken for its.
 */
export class ChildView {
  readonly words: Int32Array<SharedArrayBuffer> = shareWords(CHILD.length);
  readonly memory: ChildMemory = {
    inbox: shareBytes(BOX),
    outbox: shareBytes(BOX),
    prints: shareBytes(BOX),
    note: shareBytes(NOTE),
  };
  /** True where the caller uses the message in the inbox. */
  #holds = false;

  constructor() {
    Atomics.store(this.words, CHILD.received, MESSAGE.none);
  }

  get state(): number {
    return Atomics.load(this.words, CHILD.state);
  }

  get pid(): number {
    return Atomics.load(this.words, CHILD.pid);
  }

  get hasEnded(): boolean {
    return this.state === STATE.ended || this.state === STATE.failed;
  }

  /** Length of the message in the inbox, or why there is none. */
  get received(): number {
    return Atomics.load(this.words, CHILD.received);
  }

  /** True where there is a message, or never will be one. */
  get isReady(): boolean {
    return this.received >= 0 || this.hasEnded;
  }

  /** Count of the group's events when it became ready. */
  get readyAt(): number {
    return Atomics.load(this.words, CHILD.readyAt);
  }

  /** Returns the message in the inbox, there until it is released. */
  hold(): Uint8Array {
    this.#holds = true;
    return this.memory.inbox.subarray(0, this.received);
  }

  /** Gives back the inbox; true when the worker waits for that. */
  release(): boolean {
    if (!this.#holds) return false;
    this.#holds = false;
    Atomics.store(this.words, CHILD.received, MESSAGE.none);
    return Atomics.load(this.words, CHILD.isWaiting) === 1;
  }

  /** Waits until the outbox may be overwritten; false if that took too long. */
  awaitTaken(timeoutMs: number): boolean {
    const { words } = this;
    for (;;) {
      const taken = Atomics.load(words, CHILD.taken);
      if (taken === Atomics.load(words, CHILD.sent) || this.hasEnded) {
        return true;
      }
      const how = Atomics.wait(words, CHILD.taken, taken, timeoutMs);
      if (how === "timed-out") return false;
    }
  }

  /** Returns the last 64 kB that it printed. */
  prints(): string {
    const { prints } = this.memory;
    const end = Atomics.load(this.words, CHILD.printed) >>> 0;
    const kept = Math.min(end, prints.length), cut = end % prints.length;
    const bytes = new Uint8Array(kept);
    if (kept === prints.length) bytes.set(prints.subarray(cut));
    bytes.set(prints.subarray(0, cut), kept - cut);
    return new TextDecoder().decode(bytes);
  }

  /** Returns its end, or nothing where it still runs. */
  end(): ChildEnd | undefined {
    const { words, memory, state } = this;
    if (!this.hasEnded) return undefined;
    const length = Atomics.load(words, CHILD.noteLength);
    const note = new TextDecoder().decode(memory.note.slice(0, length));
    const prints = this.prints();
    if (state === STATE.failed) return { failure: note, prints };
    const code = Atomics.load(words, CHILD.code);
    return note === "" ? { code, prints } : { code, signal: note, prints };
  }
}

const MAIN = import.meta.resolve("./_io_worker.ts");

/**
 * Starts the thread that serves the pipes of a group, whose words are given. It
 * alone keeps no process alive, which only Node's kind of worker can do. That
 * starts from a `data:` address, as it takes none of `https:`.
 */
export function startIoWorker(words: Int32Array): Worker {
  checkStartable(MAIN);
  const source = `import ${JSON.stringify(MAIN)};`;
  const worker = new Worker(
    new URL(`data:text/javascript,${encodeURIComponent(source)}`),
  );
  // Deno prints what it threw. Nothing is to be waited for any more.
  worker.on("error", () => Atomics.store(words, GROUP.status, STATUS.closed));
  worker.unref();
  return worker;
}

export type { ChildCommand } from "./_child_words.ts";

/** Settings of a {@linkcode ChildGroup}. */
export interface ChildGroupOptions {
  /**
   * Time in which children may end by themselves at `close`, in milliseconds.
   *
   * @default 2000
   */
  graceMs?: number;
  /**
   * True where prints of the children also go to this process's stderr.
   *
   * @default false
   */
  showPrints?: boolean;
}

/** The longest message: lengths are shared as 32-bit words. */
const LONGEST = 2 ** 30;
/** Time for the system to start, to end or to feed a process. */
const PATIENCE_MS = 30_000;

/**
 * Child processes that a blocked thread talks to: it sends messages and waits
 * for the answers of one or of several, with a time-out.
 *
 * A message goes through a pipe as `frames.ts` says. A child must end when its
 * input does: then it outlives neither `close` nor this process.
 */
export class ChildGroup {
  /** Number of children. */
  readonly size: number;
  #words: Int32Array<SharedArrayBuffer>;
  #children: ChildView[] = [];
  #commands: ChildCommand[];
  #worker: Worker;
  #graceMs: number;
  #isClosed = false;

  /**
   * Starts the children; it does not wait for them.
   *
   * @param commands Command of each child.
   * @param options Handling of their ends and prints.
   * @throws {Deno.errors.NotCapable} If the modules here may not be read.
   */
  constructor(
    commands: readonly ChildCommand[],
    { graceMs = 2000, showPrints = false }: ChildGroupOptions = {},
  ) {
    this.size = commands.length;
    this.#commands = [...commands];
    this.#graceMs = graceMs;
    this.#words = shareWords(GROUP.length);
    this.#worker = startIoWorker(this.#words);
    this.#order({
      type: "open",
      words: this.#words.buffer,
      graceMs,
      showPrints,
    });
    for (let child = 0; child < this.size; child++) this.#start(child);
  }

  /**
   * Sends a message. A child that has ended takes none, which `receive` tells.
   *
   * @param child Number of the child.
   * @param parts The message in one or more parts; they are copied.
   * @throws {RangeError} If it is longer than a gibibyte.
   * @throws {HostFailure} If the child leaves the one before unread.
   */
  send(child: number, ...parts: readonly Uint8Array[]): void {
    const view = this.#view(child), { words, memory } = view;
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    this.#release(view);
    if (!view.awaitTaken(PATIENCE_MS)) {
      this.#timeOut(view, `its process took no message in ${PATIENCE_MS} ms`);
    }
    if (length > memory.outbox.length) this.#growOutbox(child, length);
    let at = 0;
    for (const part of parts) {
      memory.outbox.set(part, at);
      at += part.length;
    }
    Atomics.store(words, CHILD.sentLength, length);
    Atomics.add(words, CHILD.sent, 1);
    this.#wake();
  }

  /**
   * Gives back the message that was received last, before a child is asked
   * something by other means than `send`.
   *
   * @param child Number of the child.
   */
  release(child: number): void {
    this.#release(this.#view(child));
  }

  /**
   * Opens a named pipe in which the caller is going to sleep, to wake it: when the
   * child ends, and every tenth of a second.
   *
   * @param child Number of the child.
   * @param path The pipe; it may be removed afterwards.
   * @returns True if it is open.
   */
  openWakePipe(child: number, path: string): boolean {
    const { words } = this.#view(child);
    Atomics.store(words, CHILD.wakePipe, 0);
    this.#order({ type: "wake", child, path });
    this.#wait(() => Atomics.load(words, CHILD.wakePipe) !== 0, PATIENCE_MS);
    return Atomics.load(words, CHILD.wakePipe) === 1;
  }

  /**
   * Runs a function in which this thread sleeps until the pipe of a child wakes it.
   *
   * @param child Number of the child.
   * @param sleep Function that sleeps; it can ask if the child has ended.
   * @returns Its result.
   */
  sleep<T>(child: number, sleep: (hasEnded: () => boolean) => T): T {
    const view = this.#view(child), { words } = view;
    this.#release(view);
    Atomics.add(words, CHILD.sleeps, 1);
    try {
      return sleep(() => view.hasEnded);
    } finally {
      Atomics.add(words, CHILD.sleeps, 1);
    }
  }

  /**
   * Waits for a message.
   *
   * @param child Number of the child.
   * @param options Time to wait, in milliseconds.
   * @returns The message, in shared memory that the next `send`, `receive` or
   * `waitFor` with this child overwrites.
   * @throws {HostFailure} If the child has ended or ends meanwhile, or there is
   * none in time.
   */
  receive(
    child: number,
    { timeoutMs = Infinity }: { timeoutMs?: number } = {},
  ): Uint8Array {
    const view = this.#view(child);
    this.#release(view);
    const isReady = this.#wait(() => this.#isReady(child), timeoutMs);
    if (!isReady) this.#timeOut(view, "it is silent");
    if (view.received >= 0) return view.hold();
    const end = view.end()!;
    throw new HostFailure("exit", `its process ${describeEnd(end)}`, {
      stack: end.prints,
    });
  }

  /**
   * Waits until some of the children have sent a message or ended.
   *
   * @param children Numbers of the children.
   * @param options Number of children to wait for (by default all), and time to
   * wait, in milliseconds.
   * @returns Those that are ready, the first one first; fewer than wanted when
   * the time is up.
   */
  waitFor(
    children: readonly number[],
    { count = children.length, timeoutMs = Infinity }: {
      count?: number;
      timeoutMs?: number;
    } = {},
  ): number[] {
    for (const child of children) this.#release(this.#view(child));
    const ready = (): number[] => children.filter((it) => this.#isReady(it));
    this.#wait(() => ready().length >= count, timeoutMs);
    const readyAt = (child: number): number => this.#children[child].readyAt;
    // The counter may have gone over its end between two of them.
    return ready().sort((a, b) => (readyAt(a) - readyAt(b)) | 0);
  }

  /**
   * Returns the end of a child.
   *
   * @param child Number of the child.
   * @returns Its end, or nothing where it still runs.
   */
  end(child: number): ChildEnd | undefined {
    return this.#view(child).end();
  }

  /**
   * Returns the prints of a child: on stderr, and on stdout beside its
   * messages.
   *
   * @param child Number of the child.
   * @returns The last 64 kB.
   */
  prints(child: number): string {
    return this.#view(child).prints();
  }

  /**
   * Returns the process of a child.
   *
   * @param child Number of the child.
   * @returns Its id, once it runs; 0 before that.
   */
  pid(child: number): number {
    return this.#view(child).pid;
  }

  /**
   * Ends a child at once and waits until it is gone, for half a minute at most.
   *
   * @param child Number of the child.
   */
  kill(child: number): void {
    const view = this.#view(child);
    this.#wait(() => view.state !== STATE.starting, PATIENCE_MS);
    Atomics.add(view.words, CHILD.kills, 1);
    this.#wake();
    this.#wait(() => view.state !== STATE.running, PATIENCE_MS);
  }

  /**
   * Ends a child at once if it runs, and starts it anew; it does not wait for
   * that. What the child before had printed or sent is forgotten.
   *
   * @param child Number of the child.
   * @param command Its new command; the same as before without one.
   */
  restart(child: number, command?: ChildCommand): void {
    this.kill(child);
    if (command !== undefined) this.#commands[child] = command;
    this.#start(child);
  }

  /**
   * Ends all children: closes their inputs, waits for a while, kills those that
   * are still there. Nothing is left of them afterwards.
   */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    Atomics.compareExchange(
      this.#words,
      GROUP.status,
      STATUS.open,
      STATUS.closing,
    );
    this.#wake();
    const isClosed = () =>
      Atomics.load(this.#words, GROUP.status) === STATUS.closed;
    this.#wait(isClosed, this.#graceMs + PATIENCE_MS);
    this.#worker.terminate();
  }

  #view(child: number): ChildView {
    if (this.#isClosed) {
      throw new TypeError("Cannot use child processes that were closed");
    }
    const view = this.#children[child];
    if (view !== undefined) return view;
    throw new RangeError(
      `Cannot use child process ${child}: there are ${this.size}`,
    );
  }

  #timeOut(view: ChildView, message: string): never {
    throw new HostFailure("timeout", message, { stack: view.prints() });
  }

  #order(order: WorkerOrder): void {
    this.#worker.postMessage(order);
  }

  #start(child: number): void {
    const { words, memory } = this.#children[child] = new ChildView();
    this.#order({
      type: "start",
      child,
      command: this.#commands[child],
      words: words.buffer,
      memory: buffersOf(memory),
    });
  }

  #wake(): void {
    Atomics.add(this.#words, GROUP.commands, 1);
    Atomics.notify(this.#words, GROUP.commands);
  }

  /** Waits until `isDone`; false if that took too long. */
  #wait(isDone: () => boolean, timeoutMs: number): boolean {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      const seen = Atomics.load(this.#words, GROUP.events);
      if (isDone()) return true;
      const left = deadline - performance.now();
      if (left <= 0) return false;
      Atomics.wait(this.#words, GROUP.events, seen, left);
    }
  }

  #isReady(child: number): boolean {
    const view = this.#children[child];
    if (view.received === MESSAGE.tooLong) this.#growInbox(child);
    return view.isReady;
  }

  #release(view: ChildView): void {
    if (view.release()) this.#wake();
  }

  #growInbox(child: number): void {
    const { words, memory } = this.#children[child];
    memory.inbox = longer(memory.inbox, Atomics.load(words, CHILD.needed));
    Atomics.store(words, CHILD.received, MESSAGE.growing);
    this.#grow(child, "inbox");
  }

  #growOutbox(child: number, length: number): void {
    if (length > LONGEST) {
      throw new RangeError(
        `Cannot send ${length} bytes to a child process: expected at most ${LONGEST}`,
      );
    }
    const { words, memory } = this.#children[child];
    memory.outbox = longer(memory.outbox, length);
    Atomics.add(words, CHILD.outbox, 1);
    this.#grow(child, "outbox");
  }

  #grow(child: number, box: "inbox" | "outbox"): void {
    const memory = this.#children[child].memory[box].buffer;
    this.#order({ type: "grow", child, box, memory });
  }
}

/**
 * Allocates a buffer for messages of at least `length` bytes, with room to
 * grow.
 */
function longer(
  box: Uint8Array,
  length: number,
): Uint8Array<SharedArrayBuffer> {
  return shareBytes(Math.max(length, 2 * box.length));
}
