/** Messages between a caller and its input/output worker. */
import { builtin } from "@bellman/files";
import type { MessagePort } from "node:worker_threads";

/**
 * Argument of a command that stands for the id of the process that starts it,
 * which on another machine is not this one.
 */
export const PARENT = "{parent}";

/** A command that is run. */
export interface ChildCommand {
  /** The program: a path, or a name that is looked for as a shell does. */
  readonly program: string;
  /**
   * Its arguments; one that is {@linkcode PARENT} is replaced.
   *
   * @default []
   */
  readonly args?: readonly string[];
  /**
   * Variables in addition to those of this process.
   *
   * @default {}
   */
  readonly env?: Readonly<Record<string, string>>;
}

/** The end of a child. */
export interface ChildEnd {
  /** Its exit code; `undefined` where it has none, or none that is known here. */
  readonly code?: number;
  /** The signal that ended it, if one did. */
  readonly signal?: string;
  /**
   * The reason why it could not be started, if that is so. A child of another
   * machine has no other end than this, which may have come at any time.
   */
  readonly failure?: string;
  /** The last 64 kB that it printed. */
  readonly prints: string;
}

/** Settings of where children of other machines connect to. */
export interface ListenOptions {
  /** Name or number of an address of this machine. */
  readonly hostname: string;
  /**
   * The port.
   *
   * @default 0, which is any that is free
   */
  readonly port?: number;
  /**
   * Number of connections that at most may be there without having said the
   * secret of a child: more are closed at once.
   */
  readonly unproven: number;
  /**
   * Time for a connection to say it, in milliseconds.
   *
   * @default 10_000
   */
  readonly proofMs?: number;
}

/** The port that is listened at, or the reason why that cannot be. */
export interface Listening {
  readonly port?: number;
  readonly failure?: string;
}

/** Data that the worker is made with. */
export interface IoWorkerData {
  readonly port: MessagePort;
  /** Shared memory of the orders to it, and of its news. */
  readonly orders: SharedArrayBuffer;
  readonly news: SharedArrayBuffer;
  /** True where prints of the children also go to stderr. */
  readonly showPrints: boolean;
  /** Word that is increased with all news, too. */
  readonly events?: Int32Array;
}

/** Something about the process of a child. */
interface ProcessMessage {
  /** Its number, which no other one has. */
  readonly process: number;
  /** A message to it or from it. */
  readonly bytes?: Uint8Array<ArrayBuffer>;
}

/** Order to the worker; one without a type sends the bytes. */
export interface Order extends ProcessMessage {
  readonly type?: "start" | "listen" | "expect" | "kill" | "wake" | "close";
  /** Command to start. */
  readonly command?: ChildCommand;
  /** Where to listen. */
  readonly listen?: ListenOptions;
  /** Bytes that the child says first when it connects. */
  readonly secret?: string;
  /** The pipe that the caller sleeps in. */
  readonly path?: string;
  /** Time in which the children may end by themselves. */
  readonly graceMs?: number;
}

/** News of the worker. */
export interface News extends ProcessMessage {
  /** Process id, once it runs. */
  readonly pid?: number;
  /** Its end. */
  readonly end?: ChildEnd;
  /** True if the pipe that the caller sleeps in could be opened. */
  readonly wakes?: boolean;
  /** What became of the order to listen. */
  readonly listening?: Listening;
  /** True where nothing is left of any child. */
  readonly isClosed?: boolean;
}

/** Word with the number of the last message, on which the receiver waits. */
const LAST = 0;
/** Words that say where the messages in this memory begin and end. */
const FROM = 1, TO = 2;
/** Word that is 1 while the sender sleeps in a pipe. */
const SLEEPS = 3;
/** Place of the first message. */
const FIRST = 4;
/** Words in front of a message: its number, process and length. */
const HEADER = 3;

/** Allocates the shared memory of one direction. */
export function lineMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(2 ** 18);
}

/**
 * Messages from one thread to another, in order: short bytes go through shared
 * memory, which is faster, all else through a port.
 */
export class IoLine<T extends ProcessMessage> {
  #port: MessagePort;
  #words: Int32Array;
  #bytes: Uint8Array;
  #events: Int32Array | undefined;
  #taken = 0;

  /** @param events Word that is increased with each message that is sent. */
  constructor(
    port: MessagePort,
    memory: SharedArrayBuffer,
    events?: Int32Array,
  ) {
    this.#port = port;
    this.#events = events;
    this.#words = new Int32Array(memory);
    this.#bytes = new Uint8Array(memory);
  }

  send(message: T): void {
    const words = this.#words;
    const number = Atomics.load(words, LAST) + 1 | 0;
    if (!this.#put(number, message)) this.#post(message);
    Atomics.store(words, LAST, number);
    Atomics.notify(words, LAST);
    if (this.#events === undefined) return;
    Atomics.add(this.#events, 0, 1);
    Atomics.notify(this.#events, 0);
  }

  #post({ bytes, ...rest }: T): void {
    // Memory itself: of a view each number would be looked at.
    const memory = bytes?.buffer;
    this.#port.postMessage({ ...rest, memory }, memory && [memory]);
  }

  /** Puts bytes into the memory, if there is room. */
  #put(number: number, { process, bytes }: T): boolean {
    if (bytes === undefined) return false;
    const words = this.#words, { length } = bytes;
    // All were taken: there is nothing that the other side could look at.
    if (Atomics.load(words, FROM) === words[TO]) {
      Atomics.store(words, FROM, FIRST);
      Atomics.store(words, TO, FIRST);
    }
    const from = words[TO], end = from + HEADER + Math.ceil(length / 4);
    if (end > words.length) return false;
    words[from] = number;
    words[from + 1] = process;
    words[from + 2] = length;
    this.#bytes.set(bytes, 4 * (from + HEADER));
    Atomics.store(words, TO, end);
    return true;
  }

  /** Takes the next message, if there is one. */
  receive(): T | undefined {
    const words = this.#words;
    if (Atomics.load(words, LAST) === this.#taken) return undefined;
    this.#taken = this.#taken + 1 | 0;
    // In this order, as the other side may begin at the beginning again.
    const to = Atomics.load(words, TO), from = Atomics.load(words, FROM);
    if (from < to && words[from] === this.#taken) {
      const process = words[from + 1], length = words[from + 2];
      const start = 4 * (from + HEADER);
      const bytes = this.#bytes.slice(start, start + length);
      Atomics.store(words, FROM, from + HEADER + Math.ceil(length / 4));
      return { process, bytes } as T;
    }
    const { receiveMessageOnPort } = builtin("node:worker_threads");
    const { message: { memory, ...rest } } = receiveMessageOnPort(
      this.#port,
    ) as { message: T & { memory?: ArrayBuffer } };
    const bytes = memory && new Uint8Array(memory);
    return { ...rest, bytes } as unknown as T;
  }

  /** Waits until there is a message that was not taken, or so long. */
  wait(timeoutMs: number): void {
    Atomics.wait(this.#words, LAST, this.#taken, timeoutMs);
  }

  /** Waits likewise, but does not block this thread. */
  arrival(): Promise<unknown> | undefined {
    const change = Atomics.waitAsync(this.#words, LAST, this.#taken);
    return change.async ? change.value : undefined;
  }

  /** True while the sender sleeps in a pipe. */
  get sleeps(): boolean {
    return Atomics.load(this.#words, SLEEPS) === 1;
  }

  set sleeps(sleeps: boolean) {
    Atomics.store(this.#words, SLEEPS, sleeps ? 1 : 0);
  }
}
