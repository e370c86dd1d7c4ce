import { startWorker } from "../start_worker.ts";
import { HostFailure } from "../host_failure.ts";
import { frameOf } from "./frames.ts";
import {
  type ChildCommand,
  type ChildEnd,
  IoLine,
  type IoWorkerData,
  lineMemory,
  type Listening,
  type ListenOptions,
  type News,
  type Order,
} from "./_io_messages.ts";
import { AnswerPipe, NamedPipe } from "./named_pipes.ts";
import { builtin } from "@bellman/files";
import type { MessagePort, Worker } from "node:worker_threads";

export {
  type ChildCommand,
  type ListenOptions,
  PARENT,
} from "./_io_messages.ts";

/** Describes the end of a process, with the last line that it printed. */
export function describeEnd(
  { code, signal, failure, prints }: ChildEnd,
): string {
  if (failure !== undefined) return `could not be started: ${failure}`;
  const how = signal === undefined
    ? `ended with code ${code}`
    : `was ended by ${signal}`;
  const last = prints.trimEnd().split("\n").at(-1)!.trim();
  return last === "" ? how : `${how}: its last line is '${last}'`;
}

/** Program of the thread that serves the pipes of a group. */
export const MAIN: string = import.meta.resolve("./_io_worker.ts");

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
  /**
   * Shared word that is increased, and notified, with all news of children: for who
   * waits for more than them.
   *
   * @default none
   */
  events?: Int32Array;
}

/** The current process of a child, as the caller knows it. */
interface Child extends News {
  readonly messages: Uint8Array[];
  /** True where another machine starts it. */
  readonly isElsewhere: boolean;
  /** Named pipes, which are faster for short messages. */
  pipe?: NamedPipe;
  answers?: AnswerPipe;
  /** Answer that came through the pipe; `null`: it comes the other way. */
  answer?: Uint8Array | null;
}

/** True where there is a message, or will never be one. */
function isReady({ messages, end }: Child): boolean {
  return messages.length > 0 || end !== undefined;
}

function closePipes({ pipe, answers }: Partial<Child>): void {
  pipe?.close();
  answers?.close();
}

/** The longest message, as lengths are 32-bit words. */
const LONGEST = 2 ** 30;
/** Time for the system to start or to end a process. */
const PATIENCE_MS = 30_000;
/** Bytes of a secret, each of which is said as two digits. */
const SECRET = 16;

/**
 * Child processes that a blocked thread talks to: it sends messages and waits
 * for the answers of one or of several, with a time-out.
 *
 * A message goes through a pipe as `frames.ts` says. A child must end when its
 * input does: then it outlives neither `close` nor this process. Other machines
 * may also start some, which connect to this process.
 */
export class ChildGroup {
  #orders: IoLine<Order>;
  #news: IoLine<News>;
  #children: Child[] = [];
  #processes = 0;
  #worker: Worker;
  #port: MessagePort;
  #graceMs: number;
  #isClosed = false;
  #isServed = true;
  #listening: Listening = {};
  /** Number of times that there were news. */
  #told = 0;

  /**
   * Starts the thread that serves the children.
   *
   * @param options Handling of their ends and prints.
   * @throws {Deno.errors.NotCapable} If the modules here may not be read.
   */
  constructor(
    { graceMs = 2000, showPrints = false, events }: ChildGroupOptions = {},
  ) {
    const { MessageChannel } = builtin("node:worker_threads");
    const { port1, port2: port } = new MessageChannel();
    const orders = lineMemory(), news = lineMemory();
    this.#graceMs = graceMs;
    this.#port = port1;
    this.#orders = new IoLine(port1, orders);
    this.#news = new IoLine(port1, news);
    const data: IoWorkerData = { port, orders, news, showPrints, events };
    this.#worker = startWorker(MAIN, data);
    // Deno prints what it threw. Nothing is to be waited for any more.
    this.#worker.on("error", () => this.#isServed = false);
  }

  /**
   * Starts a child; it does not wait for that. If one of this number runs, it is
   * ended at once, and what it had printed or sent is forgotten.
   *
   * @param child Number of the child.
   * @param command Its command.
   */
  start(child: number, command: ChildCommand): void {
    this.#replace(child, false);
    this.#order(child, { type: "start", command });
  }

  /** Puts a new process in the place of the one before, which is ended. */
  #replace(child: number, isElsewhere: boolean): number {
    if (this.#children[child] !== undefined) {
      this.kill(child);
      closePipes(this.#children[child]);
    }
    const process = this.#processes++;
    this.#children[child] = { process, messages: [], isElsewhere };
    return process;
  }

  /**
   * Listens for children that other machines start. Who connects without the
   * secret of one of them is refused.
   *
   * @param options Address, and bounds for who connects.
   * @returns The port.
   * @throws {TypeError} If this group listens already.
   * @throws {Error} If it cannot listen there, or may not.
   */
  listen(options: ListenOptions): number {
    this.#checkOpen();
    if (this.#listening.port !== undefined) {
      throw new TypeError(
        "Cannot listen for children as this group does so already",
      );
    }
    this.#listening = {};
    this.#orders.send({ process: -1, type: "listen", listen: options });
    this.wait(() => Object.keys(this.#listening).length > 0, PATIENCE_MS);
    const { port, failure = "it takes too long" } = this.#listening;
    if (port !== undefined) return port;
    const why = failure.replace(/ \(os error \d+\)$/, "");
    throw new Error(
      `Cannot listen at ${options.hostname}:${options.port ?? 0}: ${why}`,
    );
  }

  /**
   * Expects a child that another machine starts, in the place of the one before
   * as `start` does. It connects to the port of `listen`, first says its secret,
   * then sends and receives as through a pipe; messages to it wait for that. It
   * has ended when its connection is closed.
   *
   * @param child Number of the child.
   * @returns Number of its process, which no other one of this group has, and
   * its secret of 32 hexadecimal digits, which is void once it was said.
   * @throws {TypeError} If this group does not listen.
   */
  expect(child: number): { process: number; secret: string } {
    if (this.#listening.port === undefined) {
      throw new TypeError(
        "Cannot expect a child of another machine as this group does not listen",
      );
    }
    const process = this.#replace(child, true);
    const secret = crypto.getRandomValues(new Uint8Array(SECRET)).toHex();
    this.#order(child, { type: "expect", secret });
    return { process, secret };
  }

  /**
   * Sends a message. A child that has ended takes none; `receive` then throws.
   *
   * @param child Number of the child.
   * @param parts The message in one or more parts; they are copied.
   * @throws {RangeError} If it is longer than a gibibyte.
   */
  send(child: number, ...parts: readonly Uint8Array[]): void {
    const view = this.#view(child);
    view.answer = undefined;
    const frame = frameOf(...parts);
    if (view.pipe?.send(frame)) return;
    if (frame.length > LONGEST) {
      throw new RangeError(
        `Cannot send ${frame.length} bytes to a child process: expected at most ${LONGEST}`,
      );
    }
    // Nothing in the one pipe means: look into the other.
    view.pipe?.send(frameOf());
    this.#order(child, { bytes: frame });
  }

  /**
   * Takes named pipes into use that a child has made: one for its input, and
   * perhaps one for its answers, in which this thread then sleeps. Meanwhile
   * it gets no news of another child.
   *
   * @param child Number of the child.
   * @param paths The pipes.
   * @param change Function that has the child change over to those that are in
   * use, by messages of the way before; then they may be removed.
   */
  usePipes(
    child: number,
    [input, output]: readonly string[],
    change: (paths: string[]) => void,
  ): void {
    const pipes: Partial<Child> = {};
    try {
      pipes.pipe = new NamedPipe(input);
      if (output !== undefined && this.#canWake(child, output)) {
        pipes.answers = new AnswerPipe(output);
      }
      change(pipes.answers ? [input, output] : [input]);
      Object.assign(this.#view(child), pipes);
    } catch (error) {
      closePipes(pipes);
      throw error;
    }
  }

  /**
   * True where this thread can be woken in a pipe: when the child ends, and
   * every tenth of a second.
   */
  #canWake(child: number, path: string): boolean {
    const view = this.#view(child);
    this.#order(child, { type: "wake", path });
    this.wait(() => view.wakes !== undefined, PATIENCE_MS);
    return view.wakes === true;
  }

  /**
   * Waits for a message.
   *
   * @param child Number of the child.
   * @param timeoutMs Time to wait, in milliseconds.
   * @returns The message; one that came through a named pipe is there until the
   * next is waited for.
   * @throws {HostFailure} If the child has ended or ends meanwhile, or there is
   * none in time: it is ended then, and the stack is what it printed.
   */
  receive(child: number, timeoutMs = Infinity): Uint8Array {
    const view = this.#view(child);
    this.waitFor([child], timeoutMs);
    const message = view.answer ?? view.messages.shift();
    view.answer = undefined;
    if (message !== undefined) return message;
    const { end } = view;
    if (end === undefined) this.kill(child);
    const stack = view.end?.prints;
    if (end === undefined) {
      throw new HostFailure("timeout", "it is silent", { stack });
    }
    const how = view.isElsewhere
      ? end.failure!
      : `its process ${describeEnd(end)}`;
    throw new HostFailure("exit", how, { stack });
  }

  /**
   * Says whether a child has sent a message that was not received.
   *
   * @param child Number of the child.
   * @returns True if so, be it that the child has ended since.
   */
  has(child: number): boolean {
    return this.#view(child).messages.length > 0;
  }

  /**
   * Waits until children have sent a message or ended.
   *
   * @param children Numbers of the children.
   * @param timeoutMs Time to wait, in milliseconds.
   * @returns True if all have.
   */
  waitFor(children: readonly number[], timeoutMs = Infinity): boolean {
    const [first] = children, { answers } = this.#children[first] ?? {};
    if (children.length === 1 && answers !== undefined) {
      const view = this.#view(first);
      this.#sleep(view, answers, timeoutMs);
      if (view.answer !== null) return (view.answer ?? view.end) !== undefined;
    }
    return this.wait(
      () => children.every((it) => isReady(this.#children[it])),
      timeoutMs,
    );
  }

  /** Sleeps in the pipe of answers until one comes, be it the other way. */
  #sleep(view: Child, answers: AnswerPipe, timeoutMs: number): void {
    if (view.answer !== undefined) return;
    const deadline = performance.now() + timeoutMs;
    const isOver = (): boolean => {
      this.#takeNews();
      return view.end !== undefined || performance.now() >= deadline;
    };
    this.#orders.sleeps = true;
    view.answer = answers.receive(isOver);
    this.#orders.sleeps = false;
  }

  /**
   * Returns the end of a child.
   *
   * @param child Number of the child.
   * @returns Its end, or nothing where it still runs.
   */
  end(child: number): ChildEnd | undefined {
    return this.#view(child).end;
  }

  /**
   * Returns the process of a child.
   *
   * @param child Number of the child.
   * @returns Its id, once it runs; 0 before that.
   */
  pid(child: number): number {
    return this.#view(child).pid ?? 0;
  }

  /**
   * Ends a child at once and waits until it is gone, for half a minute at most.
   *
   * @param child Number of the child.
   */
  kill(child: number): void {
    const view = this.#view(child);
    if (view.end === undefined) this.#order(child, { type: "kill" });
    this.wait(() => view.end !== undefined, PATIENCE_MS);
  }

  /**
   * Ends all children: closes their inputs, waits for a while, kills those that
   * are still there. Nothing is left of them afterwards.
   */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#children.forEach(closePipes);
    const graceMs = this.#graceMs;
    this.#orders.send({ process: -1, type: "close", graceMs });
    this.wait(() => !this.#isServed, this.#graceMs + PATIENCE_MS);
    this.#worker.terminate();
    this.#port.close();
  }

  #checkOpen(): void {
    if (this.#isClosed) {
      throw new TypeError("Cannot use child processes that were closed");
    }
  }

  #view(child: number): Child {
    this.#checkOpen();
    this.#takeNews();
    return this.#children[child];
  }

  #order(child: number, order: Partial<Order>): void {
    const { process } = this.#children[child];
    this.#orders.send({ process, ...order });
  }

  #takeNews(): void {
    for (let news; (news = this.#news.receive()) !== undefined;) {
      this.#told++;
      this.#note(news);
    }
  }

  #note(news: News): void {
    if (news.isClosed) this.#isServed = false;
    if (news.listening) this.#listening = news.listening;
    const view = this.#children.find((it) => it?.process === news.process);
    if (view === undefined) return;
    if (news.bytes) view.messages.push(news.bytes);
    else Object.assign(view, news);
  }

  /**
   * Waits until something is so that depends on children.
   *
   * @param isDone Function that says so. It is called at first and after news,
   * and may ask this group: `waitFor([child], 0)` is true where the child has
   * sent a message or ended.
   * @param timeoutMs Time to wait, in milliseconds.
   * @returns The last that it said.
   */
  wait(isDone: () => boolean, timeoutMs = Infinity): boolean {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      this.#takeNews();
      const told = this.#told;
      if (isDone()) return true;
      // What it asked first may be otherwise by what it asked last.
      if (told !== this.#told) continue;
      const left = deadline - performance.now();
      if (left <= 0) return false;
      this.#news.wait(left);
    }
  }
}
