/**
 * Memory that a caller and its input/output worker share: arrays of words that are
 * read and written atomically, and buffers for each child.
 */

/** Words of a group. */
export const GROUP = {
  /** Count of the caller's wishes; the worker waits on it. */
  commands: 0,
  /** Count of events; the caller waits on it. */
  events: 1,
  /** One of `STATUS`. */
  status: 2,
  length: 4,
} as const;

/** Values of `GROUP.status`; closed when nothing is left of any child. */
export const STATUS = { open: 0, closing: 1, closed: 2 } as const;

/** Words of a child. */
export const CHILD = {
  /** One of `STATE`. */
  state: 0,
  /** Messages that the caller has put into the outbox. */
  sent: 1,
  /** Messages that the worker has taken out of it. */
  taken: 2,
  /** Length of the message in the outbox. */
  sentLength: 3,
  /** Number of the outbox in use, as they grow. */
  outbox: 4,
  /** Length of the message in the inbox, or one of `MESSAGE`. */
  received: 5,
  /** Length that the inbox must have. */
  needed: 6,
  /** 1 while the worker waits for the inbox to be emptied. */
  isWaiting: 7,
  /** Count of events when it last became ready. */
  readyAt: 8,
  /** Exit code. */
  code: 9,
  /** Bytes that it ever printed. */
  printed: 10,
  /** Length of the note about its end. */
  noteLength: 11,
  /** Count of wishes to kill it. */
  kills: 12,
  /** Process id. */
  pid: 13,
  /** 1 once its wake pipe is open, -1 if it could not be opened. */
  wakePipe: 14,
  /** Odd while the caller sleeps in its pipe of answers. */
  sleeps: 15,
  length: 16,
} as const;

/**
 * Values of `CHILD.state`; failed where there is no such program, or it may not be
 * run.
 */
export const STATE = { starting: 0, running: 1, ended: 2, failed: 3 } as const;

/**
 * Values of `CHILD.received` where there is no message, where it is longer than the
 * inbox, and while a longer inbox is on its way.
 */
export const MESSAGE = { none: -1, tooLong: -2, growing: -3 } as const;

/** The shared memory of one process of a child, beside its words. */
export interface ChildMemory {
  inbox: Uint8Array<SharedArrayBuffer>;
  outbox: Uint8Array<SharedArrayBuffer>;
  /** The last prints, as a ring. */
  readonly prints: Uint8Array<SharedArrayBuffer>;
  /** Why it ended: the name of a signal, or why it could not be started. */
  readonly note: Uint8Array<SharedArrayBuffer>;
}

/** The shared memory as it is posted. */
export type ChildBuffers = {
  readonly [name in keyof ChildMemory]: SharedArrayBuffer;
};

/** A command that is run. */
export interface ChildCommand {
  /** The program: a path, or a name that is looked for as a shell does. */
  readonly program: string;
  /**
   * Its arguments.
   *
   * @default []
   */
  readonly args?: readonly string[];
  /**
   * Variables beside those of this process.
   *
   * @default {}
   */
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Orders to the worker that are sent as messages; the rest goes through shared words. Memory
 * is posted as buffers: of a view each number would be looked at by itself,
 * which takes seconds for a long box.
 */
export type WorkerOrder =
  | {
    readonly type: "open";
    /** Those of the group. */
    readonly words: SharedArrayBuffer;
    readonly graceMs: number;
    readonly showPrints: boolean;
  }
  | {
    readonly type: "start";
    readonly child: number;
    readonly command: ChildCommand;
    /** Those of the child, which no process before used. */
    readonly words: SharedArrayBuffer;
    readonly memory: ChildBuffers;
  }
  | {
    readonly type: "wake";
    readonly child: number;
    /** The pipe that the caller sleeps in. */
    readonly path: string;
  }
  | {
    readonly type: "grow";
    readonly child: number;
    readonly box: "inbox" | "outbox";
    readonly memory: SharedArrayBuffer;
  };

/** Allocates bytes in memory that both sides see. */
export function shareBytes(length: number): Uint8Array<SharedArrayBuffer> {
  return new Uint8Array(new SharedArrayBuffer(length));
}

/** Allocates words in memory that both sides see. */
export function shareWords(count: number): Int32Array<SharedArrayBuffer> {
  return new Int32Array(new SharedArrayBuffer(4 * count));
}

/** Turns the memory of a child into what is posted. */
export function buffersOf(memory: ChildMemory): ChildBuffers {
  return Object.fromEntries(
    Object.entries(memory).map(([name, { buffer }]) => [name, buffer]),
  ) as ChildBuffers;
}

/** Reads the memory of a child that was posted. */
export function memoryOf(buffers: ChildBuffers): ChildMemory {
  return Object.fromEntries(
    Object.entries(buffers).map(([name, it]) => [name, new Uint8Array(it)]),
  ) as unknown as ChildMemory;
}
