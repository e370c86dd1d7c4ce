import { HostFailure } from "../host_failure.ts";
import { printToStderr } from "../_print_to_stderr.ts";
import { FrameReader } from "./frames.ts";

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
  /**
   * True for a group of processes of its own, which signals to this one do not reach.
   *
   * @default false
   */
  readonly detached?: boolean;
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

/** Describes the end of a process, with the last line that it printed. */
export function describeEnd(
  { code, signal, failure, prints }: ChildEnd,
): string {
  if (failure !== undefined) return `could not be started: ${failure}`;
  const how = signal === undefined
    ? `ended with code ${code}`
    : `was ended by ${signal}`;
  // The stack of an error, and Node's version below that, say less than the error.
  const last = prints.split("\n").map((it) => it.trim())
    .findLast((it) => it !== "" && !/^(at |Node\.js v)/.test(it));
  return last === undefined ? how : `${how}: its last line is '${last}'`;
}

/** A process that is spoken to: each request has an answer. It ends with its input. */
export abstract class Child {
  /** Id of the process; 0 where that is not known. */
  pid = 0;
  #end: ChildEnd | undefined;
  #messages: Uint8Array<ArrayBuffer>[] = [];
  #wake = () => {};

  /** Its end, once that is known. */
  get end(): ChildEnd | undefined {
    return this.#end;
  }

  /** Sends a message with its mark and length. */
  abstract send(frame: Uint8Array): void;

  /** Ends it at once. */
  abstract kill(): void;

  /** Ends it, at once or by itself; returns what it printed, where that is known. */
  abstract close(atOnce: boolean): Promise<string | undefined>;

  /** Takes a message. */
  protected take(message: Uint8Array<ArrayBuffer>): void {
    this.#messages.push(message);
    this.#wake();
  }

  /** Takes its end, after which there is nothing more. */
  protected finish(end: ChildEnd): void {
    this.#end ??= end;
    this.#wake();
  }

  /**
   * Waits for a message.
   *
   * @throws {HostFailure} If it has ended, and there is none.
   */
  async receive(): Promise<Uint8Array<ArrayBuffer>> {
    while (this.#messages.length === 0) {
      const end = this.#end;
      if (end !== undefined) {
        const how = `its process ${describeEnd(end)}`;
        throw new HostFailure("exit", how, { stack: end.prints });
      }
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
    return this.#messages.shift()!;
  }

  /** Sends a request, and waits for the answer. */
  ask(frame: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
    this.send(frame);
    return this.receive();
  }
}

/** Bytes of a child's prints that are kept. */
const KEPT = 65_536;
/**
 * Time in which the pipes of a child that has ended are still read: processes
 * that it started may hold them open.
 */
const DRAIN_MS = 200;
const PIECE = 65_536;
/** Time for a child to end by itself, in milliseconds. */
export const GRACE_MS = 2_000;

/** Settles with a change, or after a time. */
export async function within(
  ms: number,
  change: Promise<unknown>,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([change, promise]);
  clearTimeout(timer);
}

/** A process that this one starts, and its pipes. */
export class ChildProcess extends Child {
  readonly #ended: Promise<void> = Promise.resolve();
  #process: Deno.ChildProcess | undefined;
  #writer: WritableStreamDefaultWriter<Uint8Array> | undefined;
  #prints: Uint8Array = new Uint8Array(0);
  #readers: ReadableStreamBYOBReader[] = [];
  #showsPrints: boolean;

  /**
   * Starts it; where that cannot be done, its end says so.
   *
   * @param command The command.
   * @param showPrints True where what it prints goes to stderr, too.
   */
  constructor(
    { program, args = [], env = {}, detached = false }: ChildCommand,
    showPrints = false,
  ) {
    super();
    this.#showsPrints = showPrints;
    try {
      this.#process = new Deno.Command(program, {
        args: args.map((it) => it === PARENT ? String(Deno.pid) : it),
        env: { ...env },
        detached,
        stdin: "piped",
        stdout: "piped",
        stderr: "piped",
      }).spawn();
    } catch (error) {
      this.finish({ failure: (error as Error).message, prints: "" });
      return;
    }
    this.pid = this.#process.pid;
    this.#writer = this.#process.stdin.getWriter();
    // A child that ends closes its pipe: its exit is the news.
    this.#writer.closed.catch(() => {});
    this.#ended = this.#follow(this.#process);
  }

  override send(frame: Uint8Array): void {
    this.#writer?.write(frame).catch(() => {});
  }

  override kill(): void {
    try {
      this.#process?.kill("SIGKILL");
    } catch (error) {
      // It has ended.
      if (
        !(error instanceof TypeError || error instanceof Deno.errors.NotFound)
      ) {
        throw error;
      }
    }
  }

  override async close(atOnce: boolean): Promise<string> {
    if (!atOnce) {
      this.#closeInput();
      await within(GRACE_MS, this.#ended);
    }
    this.kill();
    await this.#ended;
    return this.end!.prints;
  }

  #closeInput(): void {
    this.#writer?.close().catch(() => {});
  }

  async #follow({ stdout, stderr, status }: Deno.ChildProcess): Promise<void> {
    const frames = new FrameReader({
      message: (bytes) => this.take(bytes),
      stray: (bytes) => this.#print(bytes),
    });
    // A child that is read no more would wait forever: it is ended instead.
    const pipes = Promise.all([
      this.#read(stdout, (piece) => frames.read(piece)),
      this.#read(stderr, (piece) => this.#print(piece)),
    ]).catch(() => this.kill());
    const { code, signal } = await status;
    await within(DRAIN_MS, pipes);
    this.#closeInput();
    for (const reader of this.#readers) reader.cancel().catch(() => {});
    const prints = new TextDecoder().decode(this.#prints);
    this.finish({ code, signal: signal ?? undefined, prints });
  }

  /** Reads a pipe into one buffer again and again, until its end. */
  async #read(
    pipe: ReadableStream<Uint8Array>,
    use: (piece: Uint8Array) => void,
  ): Promise<void> {
    const reader = pipe.getReader({ mode: "byob" });
    this.#readers.push(reader);
    let buffer = new Uint8Array(PIECE);
    for (;;) {
      const { value, done } = await reader.read(buffer);
      if (done) return;
      use(value);
      buffer = new Uint8Array(value.buffer);
    }
  }

  #print(bytes: Uint8Array): void {
    const all = new Uint8Array(this.#prints.length + bytes.length);
    all.set(this.#prints);
    all.set(bytes, this.#prints.length);
    this.#prints = all.subarray(-KEPT);
    if (this.#showsPrints) printToStderr(bytes);
  }
}
