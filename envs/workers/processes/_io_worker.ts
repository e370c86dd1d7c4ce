/** Program of the thread that serves the pipes of a group of child processes. */
import { Buffer } from "node:buffer";
import { parentPort, workerData } from "node:worker_threads";
import { printToStderr } from "../_print_to_stderr.ts";
import { FrameReader } from "./frames.ts";
import {
  type ChildEnd,
  IoLine,
  type IoWorkerData,
  type News,
  type Order,
  PARENT,
} from "./_io_messages.ts";
import { WAKE } from "./named_pipes.ts";
import {
  type ServedChild,
  SocketChild,
  SocketListener,
} from "./_socket_child.ts";

const { port, orders, news, showPrints, events } = workerData as IoWorkerData;
const caller = new IoLine<Order>(port, orders);
const replies = new IoLine<News>(port, news, events);

/** Bytes of a child's prints that are kept. */
const KEPT = 65_536;

/**
 * Time in which the pipes of a child that has ended are still read: processes
 * that it started may hold them open.
 */
const DRAIN_MS = 200;
const PIECE = 65_536;

/** One running process and its pipes. */
class Child implements ServedChild {
  readonly ended: Promise<void>;
  #number: number;
  #process: Deno.ChildProcess;
  #writer: WritableStreamDefaultWriter<Uint8Array>;
  #prints: Uint8Array = new Uint8Array(0);
  #readers: ReadableStreamBYOBReader[] = [];
  #wakePipe: Deno.FsFile | undefined;
  #hasEnded = false;

  /** Starts the process; throws where that cannot be done. */
  constructor({ process, command }: Order) {
    this.#number = process;
    const { program, args = [], env = {} } = command!;
    this.#process = new Deno.Command(program, {
      args: args.map((it) => it === PARENT ? String(Deno.pid) : it),
      env: { ...env },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#writer = this.#process.stdin.getWriter();
    // A child that ends closes its pipe: its exit is the news.
    this.#writer.closed.catch(() => {});
    this.#report({ pid: this.#process.pid });
    this.ended = this.#follow();
  }

  /** Sends news of this process, but none after its end. */
  #report(news: Partial<News>): void {
    if (!this.#hasEnded) replies.send({ process: this.#number, ...news });
  }

  send(frame: Uint8Array): void {
    this.#writer.write(frame).catch(() => {});
  }

  kill(): void {
    if (this.#hasEnded) return;
    try {
      this.#process.kill("SIGKILL");
    } catch (error) {
      // It has ended a moment ago.
      if (
        !(error instanceof TypeError || error instanceof Deno.errors.NotFound)
      ) {
        throw error;
      }
    }
  }

  closeInput(): void {
    this.#writer.close().catch(() => {});
  }

  openWakePipe(path: string): void {
    try {
      this.#wakePipe = Deno.openSync(path, { read: true, write: true });
      this.#report({ wakes: true });
    } catch {
      this.#report({ wakes: false });
    }
  }

  wakeCaller(): void {
    this.#wakePipe?.writeSync(WAKE);
  }

  async #follow(): Promise<void> {
    const { stdout, stderr, status } = this.#process;
    const frames = new FrameReader({
      message: (bytes) => this.#report({ bytes }),
      stray: (bytes) => this.#print(bytes),
    });
    // A child that is read no more would wait forever: it is ended instead.
    const pipes = Promise.all([
      this.#read(stdout, (piece) => frames.read(piece)),
      this.#read(stderr, (piece) => this.#print(piece)),
    ]).catch(() => this.kill());
    const { code, signal } = await status;
    const { promise: patience, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, DRAIN_MS);
    await Promise.race([pipes, patience]);
    clearTimeout(timer);
    this.closeInput();
    for (const reader of this.#readers) reader.cancel().catch(() => {});
    const prints = new TextDecoder().decode(this.#prints);
    this.#report({ end: { code, signal: signal ?? undefined, prints } });
    this.#hasEnded = true;
    this.wakeCaller();
    this.#wakePipe?.close();
    this.#wakePipe = undefined;
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
    this.#prints = Buffer.concat([this.#prints, bytes]).subarray(-KEPT);
    if (showPrints) printToStderr(bytes);
  }
}

/** Interval at which a caller is woken that sleeps in a pipe, in milliseconds. */
const WAKE_MS = 100;

/** Children that have not ended, by the number of their process. */
const running = new Map<number, ServedChild>();
let waking: ReturnType<typeof setInterval> | undefined;
let listener: SocketListener | undefined;

function serveChild(process: number, child: ServedChild): void {
  running.set(process, child);
  child.ended.then(() => running.delete(process));
}

function start(order: Order): void {
  const { process } = order;
  try {
    serveChild(process, new Child(order));
  } catch (error) {
    const end: ChildEnd = { failure: (error as Error).message, prints: "" };
    replies.send({ process, end });
  }
}

function listen({ process, listen }: Order): void {
  try {
    listener = new SocketListener(listen!);
    replies.send({ process, listening: { port: listener.port } });
  } catch (error) {
    const failure = (error as Error).message;
    replies.send({ process, listening: { failure } });
  }
}

function expect({ process, secret }: Order): void {
  const child = new SocketChild(
    secret!,
    (news) => replies.send({ process, ...news }),
  );
  serveChild(process, child);
  listener!.expect(child);
}

function carryOut(order: Order): void {
  const child = running.get(order.process);
  switch (order.type) {
    case undefined:
      return child?.send(order.bytes!);
    case "start":
      return start(order);
    case "listen":
      return listen(order);
    case "expect":
      return expect(order);
    case "kill":
      return child?.kill();
    case "wake":
      waking ??= setInterval(() => {
        if (caller.sleeps) {
          for (const it of running.values()) it.wakeCaller();
        }
      }, WAKE_MS);
      return child?.openWakePipe(order.path!);
  }
}

/** Does what the caller wants until it closes the group; returns that order. */
async function serve(): Promise<Order> {
  for (;;) {
    const order = caller.receive();
    if (order?.type === "close") return order;
    if (order === undefined) await caller.arrival();
    else carryOut(order);
  }
}

/** Waits for the children to end, and kills those that do not. */
async function close({ graceMs, process }: Order): Promise<void> {
  listener?.close();
  const children = [...running.values()];
  const all = Promise.all(children.map((it) => it.ended));
  for (const it of children) it.closeInput();
  const timer = setTimeout(() => {
    for (const it of children) it.kill();
  }, graceMs);
  await all;
  clearTimeout(timer);
  clearInterval(waking);
  replies.send({ process, isClosed: true });
}

/** Serves the pipes of a group until it is closed. */
export async function main(): Promise<void> {
  // A thread that only waits for shared memory would end.
  const stay = () => {};
  parentPort!.on("message", stay);
  await close(await serve());
  parentPort!.off("message", stay);
}
