import { isDeno } from "@bellman/files";
import { writeSync } from "node:fs";
import process from "node:process";
import { isatty } from "node:tty";

/** Output streams of a command; tests pass their own. */
export interface CommandIo {
  /** Writes text to standard output; terminal control sequences are escaped. */
  out(text: string): void;
  /** Writes text to standard error likewise. */
  err(text: string): void;
  /**
   * Streams without escaping, for displays that move the cursor.
   *
   * @default out and err
   */
  raw?: { out(text: string): void; err(text: string): void };
  /** True if standard output is a terminal. */
  outIsTerminal: boolean;
  /** True if standard error is a terminal. */
  errIsTerminal: boolean;
  /**
   * Returns columns and rows of the terminal.
   *
   * @default () => ({ columns: 80, rows: 24 })
   */
  size?(): { columns: number; rows: number };
  /**
   * Asks for a line of standard input; undefined at its end.
   *
   * @default nobody can be asked, as standard input is no terminal
   */
  ask?(question: string): Promise<string | undefined>;
}

// deno-lint-ignore no-control-regex -- these are to be found
const COMMANDS = /[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]/g;

/**
 * Escapes terminal control sequences in a text of several lines, as JSON does.
 *
 * @example
 * ```ts
 * import { printable } from "@bellman/runs/program";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(printable("two\nlines\x07"), "two\nlines\\u0007");
 * ```
 */
export function printable(text: string): string {
  return text.replaceAll(
    COMMANDS,
    (character) =>
      character === "\n" || character === "\t"
        ? character
        : `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Descriptors of the streams. */
const IN = 0, OUT = 1, ERR = 2;

/** Writes text; if the reader is gone it is dropped, so that the run continues. */
function writeAll(stream: number, text: string): void {
  let bytes = new TextEncoder().encode(text);
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(stream, bytes));
    } catch (error) {
      const { code } = error as { code?: string };
      // A closed terminal, or a pipe without a reader.
      if (code === "EIO" || code === "EPIPE") return;
      // A pipe that is full for now.
      if (code !== "EAGAIN") throw error;
    }
  }
}

/** Returns columns and rows of the terminal; 0 or undefined where they are unknown. */
function terminalSize(): { columns?: number; rows?: number } {
  if (isDeno()) return Deno.consoleSize();
  return isatty(OUT) ? process.stdout : process.stderr;
}

/**
 * Returns the streams of this process.
 *
 * @example
 * ```ts
 * import { processIo } from "@bellman/runs/program";
 * import { assertEquals } from "@std/assert";
 *
 * const { outIsTerminal } = processIo();
 * assertEquals(outIsTerminal, Deno.stdout.isTerminal());
 * ```
 */
export function processIo(): CommandIo {
  const raw = {
    out: (text: string) => writeAll(OUT, text),
    err: (text: string) => writeAll(ERR, text),
  };
  return {
    out: (text) => raw.out(printable(text)),
    err: (text) => raw.err(printable(text)),
    raw,
    outIsTerminal: isatty(OUT),
    errIsTerminal: isatty(ERR),
    ...isatty(IN) && { ask },
    size() {
      try {
        const { columns, rows } = terminalSize();
        return { columns: columns || 80, rows: rows || 24 };
      } catch {
        return { columns: 80, rows: 24 };
      }
    },
  };
}

/** Asks for a line of standard input. */
async function ask(question: string): Promise<string | undefined> {
  const { createInterface } = await import("node:readline/promises");
  const { stdin: input, stdout: output } = process;
  const lines = createInterface({ input, output });
  const ended = new Promise<undefined>((done) => {
    lines.once("close", () => done(undefined));
  });
  try {
    return await Promise.race([lines.question(question), ended]);
  } finally {
    lines.close();
  }
}

/** Signals that stop a run after it saved itself. */
const SIGNALS: readonly string[] = ["SIGINT", "SIGTERM", "SIGHUP"];
/** Signals that Windows has. */
const OF_WINDOWS: readonly string[] = ["SIGINT"];

/** Exit codes after a signal, as in shells. */
const EXIT_CODES: Readonly<Record<string, number>> = {
  SIGHUP: 129,
  SIGINT: 130,
  SIGTERM: 143,
};

/** Abort reason for a signal. */
class Interruption extends Error {
  /** Exit code of the program. */
  readonly exitCode: number;

  constructor(signal: string) {
    super(`${signal} was received`);
    this.exitCode = EXIT_CODES[signal];
  }
}

/**
 * Returns the exit code of a command that a signal ended.
 *
 * @example
 * ```ts
 * import { exitCodeOf } from "@bellman/runs/program";
 * import { assertEquals } from "@std/assert";
 *
 * // As after Ctrl-C, where no other signal has ended it.
 * assertEquals(exitCodeOf(AbortSignal.abort()), 130);
 * ```
 */
export function exitCodeOf({ reason }: AbortSignal): number {
  return reason instanceof Interruption ? reason.exitCode : EXIT_CODES.SIGINT;
}

/** Milliseconds before a signal that the main thread did not handle is reported. */
const UNHEARD_MS = 1_000;
const UNHEARD =
  "\nThe run stops when its environment comes back; a second Ctrl-C ends it at once\n";

/**
 * Worker that receives signals even if an environment blocks the main thread with an
 * endless loop. The second signal has its default effect.
 */
const LISTENER = `
let isRaised = false, isHeard = false;
const stop = () => {
  for (const name of names) Deno.removeSignalListener(name, listeners[name]);
};
const hear = (name) => {
  if (isRaised) {
    // Shell and system may both send the signal: the second must not interrupt saving.
    if (name === "SIGHUP") return;
    stop();
    Deno.kill(Deno.pid, name);
    return;
  }
  isRaised = true;
  postMessage(name);
  setTimeout(() => {
    if (isHeard) return;
    try {
      Deno.stderr.writeSync(new TextEncoder().encode(${
  JSON.stringify(UNHEARD)
}));
    } catch {
      // The reader is gone.
    }
  }, ${UNHEARD_MS});
};
const names = Deno.build.os === "windows"
  ? ${JSON.stringify(OF_WINDOWS)}
  : ${JSON.stringify(SIGNALS)};
const listeners = {};
for (const name of names) {
  Deno.addSignalListener(name, listeners[name] = () => hear(name));
}
onmessage = ({ data }) => {
  if (data === "heard") {
    isHeard = true;
    return;
  }
  stop();
  postMessage("stopped");
  close();
};
postMessage("listening");`;

/** Abort signal for interrupts. */
export interface Interrupt {
  /** Aborted by the first interrupt. */
  signal: AbortSignal;
  /** Stops listening. */
  release(): Promise<void>;
}

/** What listens to signals. */
interface Listener {
  /** Says that the first signal was heard, or that no more are wanted. */
  tell(message: "heard" | "stop"): void;
  listening: Promise<void>;
  stopped: Promise<void>;
  /** Name of the first signal. */
  raised: Promise<string>;
}

function startListener(): Listener {
  return isDeno() ? listenInWorker() : listenHere();
}

function listenInWorker(): Listener {
  const worker = new Worker(
    `data:text/javascript,${encodeURIComponent(LISTENER)}`,
    { type: "module" },
  );
  const listening = Promise.withResolvers<void>();
  const stopped = Promise.withResolvers<void>();
  const raised = Promise.withResolvers<string>();
  worker.onmessage = ({ data }) => {
    if (data === "listening") listening.resolve();
    else if (data === "stopped") stopped.resolve();
    else raised.resolve(data);
  };
  return {
    tell: (message) => worker.postMessage(message),
    listening: listening.promise,
    stopped: stopped.promise,
    raised: raised.promise,
  };
}

/** Listens in this thread: others hear no signals in Node. */
function listenHere(): Listener {
  const stopped = Promise.withResolvers<void>();
  const raised = Promise.withResolvers<string>();
  let isRaised = false;
  const stop = () => SIGNALS.forEach((name) => process.off(name, hear));
  const hear = (name: string) => {
    if (isRaised && name !== "SIGHUP") {
      stop();
      process.kill(process.pid, name);
    }
    isRaised = true;
    raised.resolve(name);
  };
  for (const name of SIGNALS) process.on(name, hear);
  return {
    tell(message) {
      if (message !== "stop") return;
      stop();
      stopped.resolve();
    },
    listening: Promise.resolve(),
    stopped: stopped.promise,
    raised: raised.promise,
  };
}

/** Listener that was started in advance. */
let early: Listener | undefined;

/**
 * Starts to listen to signals in advance: {@linkcode interruptSignal} then also reports
 * those that arrived while the program was loading.
 *
 * @example
 * ```ts
 * import { interruptSignal, listenEarly } from "@bellman/runs/program";
 * import { assertEquals } from "@std/assert";
 *
 * listenEarly();
 * // The rest of the program is loaded here.
 * const { signal, release } = await interruptSignal(() => {});
 * assertEquals(signal.aborted, false);
 * await release();
 * ```
 */
export function listenEarly(): void {
  early ??= startListener();
}

/**
 * Listens to Ctrl-C, SIGTERM and SIGHUP: the first one aborts a signal, so that a run
 * can save itself or clean up; the second one ends the process at once, even if an
 * environment blocks the main thread.
 *
 * @param onRaise Called first when it is aborted.
 * @returns The abort signal, once it listens.
 *
 * @example
 * ```ts
 * import { interruptSignal } from "@bellman/runs/program";
 * import { assertEquals } from "@std/assert";
 *
 * const { signal, release } = await interruptSignal(() => {});
 * assertEquals(signal.aborted, false);
 * await release();
 * ```
 */
export async function interruptSignal(onRaise: () => void): Promise<Interrupt> {
  const controller = new AbortController();
  const { tell, listening, stopped, raised } = early ?? startListener();
  early = undefined;
  raised.then((name) => {
    tell("heard");
    controller.abort(new Interruption(name));
    onRaise();
  });
  await listening;
  let isReleased = false;
  const release = async () => {
    if (!isReleased) tell("stop");
    isReleased = true;
    await stopped;
  };
  return { signal: controller.signal, release };
}

/** Handles an error that nothing caught. */
type StrayErrorHandler = (thrown: unknown) => void;

/** Handlers; only the latest one is called. */
const handlers: StrayErrorHandler[] = [];

function onThrown(thrown: unknown): void {
  handlers.at(-1)?.(thrown);
}

/** Waits for a turn of the event loop, until the errors so far are reported. */
export function strayErrorsHeard(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

/**
 * Handles uncaught errors, which would end the process: unhandled rejections, and
 * errors of timers. Environments of the user may cause them.
 *
 * @param handler Replaces the handler before, until released.
 * @returns A function that releases it.
 */
export function onStrayError(handler: StrayErrorHandler): () => void {
  if (handlers.length === 0) {
    process.on("unhandledRejection", onThrown);
    process.on("uncaughtException", onThrown);
  }
  handlers.push(handler);
  return () => {
    handlers.splice(handlers.lastIndexOf(handler), 1);
    if (handlers.length > 0) return;
    process.off("unhandledRejection", onThrown);
    process.off("uncaughtException", onThrown);
  };
}

/**
 * Quotes a word for a shell, if needed.
 *
 * @example
 * ```ts
 * import { shellWord } from "@bellman/runs/program";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(["runs/a", "two words"].map(shellWord), ["runs/a", "'two words'"]);
 * ```
 */
export function shellWord(word: string): string {
  return /^[\p{L}\p{N}/._:@%+=,-]+$/u.test(word)
    ? word
    : `'${word.replaceAll("'", "'\\''")}'`;
}
