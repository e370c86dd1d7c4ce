/**
 * What a caller and its input/output worker share: an array of words that is
 * read and written atomically, and buffers for each child.
 */

/** Word: how often the caller wanted something; the worker waits on it. */
export const COMMANDS = 0;
/** Word: how often something happened; the caller waits on it. */
export const EVENTS = 1;
/** Word: how the group stands. */
export const GROUP = 2;
/** How many words a group has. */
export const GROUP_WORDS = 4;
/** How many words a child has beside those. */
export const CHILD_WORDS = 16;

/** Word of a child: how it stands. */
export const STATE = 0;
/** Word of a child: messages that the caller has put into the outbox. */
export const SENT = 1;
/** Word of a child: messages that the worker has taken out of it. */
export const TAKEN = 2;
/** Word of a child: length of the message in the outbox. */
export const SENT_LENGTH = 3;
/** Word of a child: which of its outboxes is in use, as they grow. */
export const OUTBOX = 4;
/** Word of a child: length of the message in the inbox, or why there is none. */
export const RECEIVED = 5;
/** Word of a child: how long the inbox must become. */
export const NEEDED = 6;
/** Word of a child: 1 while the worker waits for the inbox to be emptied. */
export const IS_WAITING = 7;
/** Word of a child: the count of events when it last became ready. */
export const READY_AT = 8;
/** Word of a child: its exit code. */
export const CODE = 9;
/** Word of a child: bytes that it ever printed. */
export const PRINTED = 10;
/** Word of a child: length of the note about its end. */
export const NOTE_LENGTH = 11;
/** Word of a child: how often it was to be killed. */
export const KILLS = 12;
/** Word of a child: its process id. */
export const PID = 13;

/** Word of a child: 1 once its bell hangs, -1 if it could not be hung. */
export const BELL = 14;
/** Word of a child: odd while the caller sleeps in its pipe of answers. */
export const SLEEPS = 15;

/** `RECEIVED` where there is no message. */
export const NOTHING = -1;
/** `RECEIVED` where a message is longer than the inbox. */
export const TOO_LONG = -2;
/** `RECEIVED` while a longer inbox is on its way. */
export const GROWING = -3;

/** Bytes of a child's prints that are kept. */
export const PRINTS_KEPT = 65_536;
/** Bytes of the note about a child's end. */
export const NOTE_SIZE = 1024;

/** `GROUP` at first. */
export const OPEN = 0;
/** `GROUP` once the caller wants the end of all. */
export const CLOSING = 1;
/** `GROUP` when nothing is left of any child. */
export const CLOSED = 2;

/** `STATE` until the program runs. */
export const STARTING = 0;
/** `STATE` while it runs. */
export const RUNNING = 1;
/** `STATE` once it has ended. */
export const ENDED = 2;
/** `STATE` where there is no such program, or it may not be run. */
export const FAILED = 3;

/** The shared memory of one process of a child, beside its words. */
export interface ChildMemory {
  inbox: Uint8Array<SharedArrayBuffer>;
  outbox: Uint8Array<SharedArrayBuffer>;
  /** The last prints, as a ring. */
  readonly prints: Uint8Array<SharedArrayBuffer>;
  /** Why it ended: the name of a signal, or why it could not be started. */
  readonly note: Uint8Array<SharedArrayBuffer>;
}

/** The same as it is posted. */
export type ChildBuffers = {
  readonly [name in keyof ChildMemory]: SharedArrayBuffer;
};

/** What is run. */
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
 * What a worker is told by messages; the rest goes through shared words. Memory
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
    readonly type: "bell";
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

/** Bytes in memory that both sides see. */
export function shareBytes(length: number): Uint8Array<SharedArrayBuffer> {
  return new Uint8Array(new SharedArrayBuffer(length));
}

/** Words in memory that both sides see. */
export function shareWords(count: number): Int32Array<SharedArrayBuffer> {
  return new Int32Array(new SharedArrayBuffer(4 * count));
}

/** The memory of a child as it is posted. */
export function buffersOf(
  { inbox, outbox, prints, note }: ChildMemory,
): ChildBuffers {
  return {
    inbox: inbox.buffer,
    outbox: outbox.buffer,
    prints: prints.buffer,
    note: note.buffer,
  };
}

/** The memory of a child that was posted. */
export function memoryOf(
  { inbox, outbox, prints, note }: ChildBuffers,
): ChildMemory {
  return {
    inbox: new Uint8Array(inbox),
    outbox: new Uint8Array(outbox),
    prints: new Uint8Array(prints),
    note: new Uint8Array(note),
  };
}
