import type { Worker } from "node:worker_threads";
import {
  type ChildEnd,
  ChildEndedError,
  ChildTimeoutError,
} from "./child_errors.ts";
import { ChildView } from "./_child_view.ts";
import { startIoWorker } from "./_start_io_worker.ts";
import {
  BELL,
  buffersOf,
  type ChildCommand,
  CLOSED,
  CLOSING,
  COMMANDS,
  EVENTS,
  GROUP,
  GROUP_WORDS,
  GROWING,
  KILLS,
  NEEDED,
  OPEN,
  OUTBOX,
  RECEIVED,
  RUNNING,
  SENT,
  SENT_LENGTH,
  shareBytes,
  shareWords,
  SLEEPS,
  STARTING,
  TOO_LONG,
  type WorkerOrder,
} from "./_layout.ts";

export type { ChildCommand } from "./_layout.ts";

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
