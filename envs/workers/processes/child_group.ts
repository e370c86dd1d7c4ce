import { checkStartable } from "../group_source.ts";
import { HostFailure } from "../host_failure.ts";
import {
  BELL,
  buffersOf,
  CHILD_WORDS,
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
  GROUP_WORDS,
  GROWING,
  IS_WAITING,
  KILLS,
  NEEDED,
  NOTE_LENGTH,
  NOTE_SIZE,
  NOTHING,
  OPEN,
  OUTBOX,
  PID,
  PRINTED,
  PRINTS_KEPT,
  READY_AT,
  RECEIVED,
  RUNNING,
  SENT,
  SENT_LENGTH,
  shareBytes,
  shareWords,
  SLEEPS,
  STARTING,
  STATE,
  TAKEN,
  TOO_LONG,
  type WorkerOrder,
} from "./_child_words.ts";
import { Worker } from "node:worker_threads";

/** How a child ended. */
interface ChildEnd {
  /** Its exit code; `undefined` where it could not be started. */
  readonly code?: number;
  /** The signal that ended it, if one did. */
  readonly signal?: string;
  /** Why it could not be started, if that is so. */
  readonly failure?: string;
  /** The last 64 kB that it printed. */
  readonly prints: string;
}

/** A child that ended while an answer of it was wanted. */
export class ChildEndedError extends Error {
  override name = "ChildEndedError";
  /** Which child. */
  readonly child: number;
  /** How it ended, and what it printed last. */
  readonly end: ChildEnd;

  /**
   * @param child Which child.
   * @param end How it ended.
   */
  constructor(child: number, end: ChildEnd) {
    super(`Child process ${child} ${describeEnd(end)}`);
    this.child = child;
    this.end = end;
  }
}

/** A child that did not answer in time. */
export class ChildTimeoutError extends Error {
  override name = "ChildTimeoutError";
  /** Which child. */
  readonly child: number;
  /** The last 64 kB that it printed. */
  readonly prints: string;

  /**
   * @param child Which child.
   * @param about How long it was waited for, in milliseconds, and its prints.
   */
  constructor(
    child: number,
    { timeoutMs, prints }: { timeoutMs: number; prints: string },
  ) {
    const last = lastLine(prints);
    super(
      `Child process ${child} did not answer within ${timeoutMs} ms` +
        (last === "" ? "" : `: its last line is '${last}'`),
    );
    this.child = child;
    this.prints = prints;
  }
}

/** The end of a child in words, with the last line that it printed. */
function describeEnd(
  { code, signal, failure, prints }: ChildEnd,
): string {
  if (failure !== undefined) return `could not be started: ${failure}`;
  const how = signal === undefined
    ? `ended with code ${code}`
    : `was ended by ${signal}`;
  const last = lastLine(prints);
  return last === "" ? how : `${how}: its last line is '${last}'`;
}

/** The last line that says something. */
function lastLine(text: string): string {
  return text.trimEnd().split("\n").at(-1)!.trim();
}

/**
 * The answer of a host that is a child process, as far as there is one; in
 * memory that the next message overwrites.
 */
export function receiveAnswer(children: ChildGroup, group: number): Uint8Array {
  try {
    return children.receive(group, { timeoutMs: 0 });
  } catch (error) {
    if (error instanceof ChildEndedError) {
      const how = `its process ${describeEnd(error.end)}`;
      throw new HostFailure("exit", how, { stack: error.end.prints });
    }
    if (!(error instanceof ChildTimeoutError)) throw error;
    throw new HostFailure("timeout", "it is silent", { stack: error.prints });
  }
}

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

const MAIN = import.meta.resolve("./_io_worker.ts");

/**
 * The thread that serves the pipes of a group, whose words are given. It alone
 * keeps no process alive, which only Node's kind of worker can do. That starts
 * from a `data:` address, as it takes none of `https:`.
 */
export function startIoWorker(words: Int32Array): Worker {
  checkStartable(MAIN);
  const source = `import ${JSON.stringify(MAIN)};`;
  const worker = new Worker(
    new URL(`data:text/javascript,${encodeURIComponent(source)}`),
  );
  // Deno prints what it threw. Nothing is to be waited for any more.
  worker.on("error", () => Atomics.store(words, GROUP, CLOSED));
  worker.unref();
  return worker;
}

export type { ChildCommand } from "./_child_words.ts";

/** Settings of a {@linkcode ChildGroup}. */
export interface ChildGroupOptions {
  /**
   * How long `close` lets the children end by themselves, in milliseconds.
   *
   * @default 2000
   */
  graceMs?: number;
  /**
   * Whether what the children print also goes to this process's stderr.
   *
   * @default false
   */
  showPrints?: boolean;
}

/** The longest message: lengths are shared as 32-bit words. */
const LONGEST = 2 ** 30;
/** How long the system may take to start, to end or to feed a process. */
const PATIENCE_MS = 30_000;

/**
 * Child processes that a blocked thread talks to: it sends messages and waits
 * for the answers of one or of several, with a time-out.
 *
 * A message goes through a pipe as `frame.ts` says. A child must end when its
 * input does: then it outlives neither `close` nor this process.
 */
export class ChildGroup {
  /** How many children there are. */
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
   * @param commands What each child runs.
   * @param options How they are ended, and whether one sees what they print.
   * @throws {Deno.errors.NotCapable} If the modules here may not be read.
   */
  constructor(
    commands: readonly ChildCommand[],
    { graceMs = 2000, showPrints = false }: ChildGroupOptions = {},
  ) {
    this.size = commands.length;
    this.#commands = [...commands];
    this.#graceMs = graceMs;
    this.#words = shareWords(GROUP_WORDS);
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
   * @param child Which child.
   * @param parts The message in one or more parts; they are copied.
   * @throws {RangeError} If it is longer than a gibibyte.
   * @throws {ChildTimeoutError} If the child leaves the one before unread.
   */
  send(child: number, ...parts: readonly Uint8Array[]): void {
    const view = this.#view(child), { words, memory } = view;
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    this.#release(view);
    if (!view.awaitTaken(PATIENCE_MS)) this.#timeOut(child, PATIENCE_MS);
    if (length > memory.outbox.length) this.#growOutbox(child, length);
    let at = 0;
    for (const part of parts) {
      memory.outbox.set(part, at);
      at += part.length;
    }
    Atomics.store(words, SENT_LENGTH, length);
    Atomics.add(words, SENT, 1);
    this.#wake();
  }

  /**
   * Gives back the message that was received last, before a child is asked
   * something by other means than `send`.
   *
   * @param child Which child.
   */
  release(child: number): void {
    this.#release(this.#view(child));
  }

  /**
   * Hangs a bell into a named pipe in which the caller is going to sleep: it
   * rings when the child ends, and every tenth of a second.
   *
   * @param child Which child.
   * @param path The pipe; it may be removed afterwards.
   * @returns Whether it hangs.
   */
  hangBell(child: number, path: string): boolean {
    const { words } = this.#view(child);
    Atomics.store(words, BELL, 0);
    this.#order({ type: "bell", child, path });
    this.#wait(() => Atomics.load(words, BELL) !== 0, PATIENCE_MS);
    return Atomics.load(words, BELL) === 1;
  }

  /**
   * Does something in which this thread sleeps until the bell of a child rings.
   *
   * @param child Which child.
   * @param sleep What is done; it is told whether the child has ended.
   * @returns What that returned.
   */
  sleep<T>(child: number, sleep: (hasEnded: () => boolean) => T): T {
    const view = this.#view(child), { words } = view;
    this.#release(view);
    Atomics.add(words, SLEEPS, 1);
    try {
      return sleep(() => view.hasEnded);
    } finally {
      Atomics.add(words, SLEEPS, 1);
    }
  }

  /**
   * Waits for a message.
   *
   * @param child Which child.
   * @param options How long to wait, in milliseconds.
   * @returns The message, in shared memory that the next `send`, `receive` or
   * `waitFor` with this child overwrites.
   * @throws {ChildEndedError} If the child has ended or ends meanwhile.
   * @throws {ChildTimeoutError} If there is none in time.
   */
  receive(
    child: number,
    { timeoutMs = Infinity }: { timeoutMs?: number } = {},
  ): Uint8Array {
    const view = this.#view(child);
    this.#release(view);
    if (!this.#wait(() => this.#isReady(child), timeoutMs)) {
      this.#timeOut(child, timeoutMs);
    }
    if (view.received >= 0) return view.hold();
    throw new ChildEndedError(child, view.end()!);
  }

  /**
   * Waits until some of the children have sent a message or ended.
   *
   * @param children Which children.
   * @param options How many of them (all, unless said), and how long to wait,
   * in milliseconds.
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
   * How a child ended.
   *
   * @param child Which child.
   * @returns Its end, or nothing where it still runs.
   */
  end(child: number): ChildEnd | undefined {
    return this.#view(child).end();
  }

  /**
   * What a child printed: on stderr, and on stdout beside its messages.
   *
   * @param child Which child.
   * @returns The last 64 kB.
   */
  prints(child: number): string {
    return this.#view(child).prints();
  }

  /**
   * The process of a child.
   *
   * @param child Which child.
   * @returns Its id, once it runs; 0 before that.
   */
  pid(child: number): number {
    return this.#view(child).pid;
  }

  /**
   * Ends a child at once and waits until it is gone, for half a minute at most.
   *
   * @param child Which child.
   */
  kill(child: number): void {
    const view = this.#view(child);
    this.#wait(() => view.state !== STARTING, PATIENCE_MS);
    Atomics.add(view.words, KILLS, 1);
    this.#wake();
    this.#wait(() => view.state !== RUNNING, PATIENCE_MS);
  }

  /**
   * Ends a child at once if it runs, and starts it anew; it does not wait for
   * that. What the child before had printed or sent is forgotten.
   *
   * @param child Which child.
   * @param command What it runs now; the same as before without one.
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
    Atomics.compareExchange(this.#words, GROUP, OPEN, CLOSING);
    this.#wake();
    const isClosed = () => Atomics.load(this.#words, GROUP) === CLOSED;
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

  #timeOut(child: number, timeoutMs: number): never {
    const prints = this.prints(child);
    throw new ChildTimeoutError(child, { timeoutMs, prints });
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
    Atomics.add(this.#words, COMMANDS, 1);
    Atomics.notify(this.#words, COMMANDS);
  }

  /** Whether `isDone` became true in time. */
  #wait(isDone: () => boolean, timeoutMs: number): boolean {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      const seen = Atomics.load(this.#words, EVENTS);
      if (isDone()) return true;
      const left = deadline - performance.now();
      if (left <= 0) return false;
      Atomics.wait(this.#words, EVENTS, seen, left);
    }
  }

  #isReady(child: number): boolean {
    const view = this.#children[child];
    if (view.received === TOO_LONG) this.#growInbox(child);
    return view.isReady;
  }

  #release(view: ChildView): void {
    if (view.release()) this.#wake();
  }

  #growInbox(child: number): void {
    const { words, memory } = this.#children[child];
    memory.inbox = longer(memory.inbox, Atomics.load(words, NEEDED));
    Atomics.store(words, RECEIVED, GROWING);
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
    Atomics.add(words, OUTBOX, 1);
    this.#grow(child, "outbox");
  }

  #grow(child: number, box: "inbox" | "outbox"): void {
    const memory = this.#children[child].memory[box].buffer;
    this.#order({ type: "grow", child, box, memory });
  }
}

/** A buffer for messages of at least `length` bytes, with room to grow. */
function longer(
  box: Uint8Array,
  length: number,
): Uint8Array<SharedArrayBuffer> {
  return shareBytes(Math.max(length, 2 * box.length));
}
