/** The side of a host process: what it says to the caller, and hears from it. */
import type { GroupAnswer } from "../group_hosts.ts";
import { sendableError, type SentError } from "../host_failure.ts";
import {
  FRAME_HEADER,
  frameOf,
  FrameReader,
  writeFrameHeader,
} from "./frames.ts";
import { ASKS, FAILED, HEAD, serialize } from "./host_messages.ts";

/** Arguments: the process to end with, and the folder of the code on this machine. */
const [parent, code] = Deno.args;

/** Folder of the code on this machine, where the caller has it elsewhere. */
export { code };

const PIECE = 65_536;

/** Sends bytes that are a frame, or a part of one. */
function write(bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) {
    at += Deno.stdout.writeSync(bytes.subarray(at));
  }
}

/** Sends a frame; one that is long is not copied together. */
export function writeFrame(parts: readonly Uint8Array[]): void {
  const length = parts.reduce((sum, it) => sum + it.length, 0);
  if (length <= PIECE) return write(frameOf(...parts));
  const header = new Uint8Array(FRAME_HEADER);
  writeFrameHeader(header, length);
  for (const it of [header, ...parts]) write(it);
}

/** Sends data. */
export function answer(data: GroupAnswer | SentError): void {
  const head = new Uint8Array(HEAD);
  if ("message" in data) head[0] = FAILED;
  writeFrame([head, serialize(data)]);
}

const messages: Uint8Array<ArrayBuffer>[] = [];
const frames = new FrameReader({
  message: (bytes) => messages.push(bytes),
  stray: () => {},
});
const input = new Uint8Array(16 * PIECE);

/** Waits for the next message, in which this thread sleeps; none at the end. */
function receive(): Uint8Array<ArrayBuffer> | undefined {
  while (messages.length === 0) {
    const length = Deno.stdin.readSync(input);
    if (length === null) return undefined;
    frames.read(input.subarray(0, length));
  }
  return messages.shift();
}

/**
 * Asks the caller while a command is carried out, and waits for what it says. It ends
 * this process where the caller is gone.
 */
export function ask(
  ...question: readonly Uint8Array[]
): Uint8Array<ArrayBuffer> {
  const head = new Uint8Array(HEAD);
  head[0] = ASKS;
  writeFrame([head, ...question]);
  return receive() ?? Deno.exit();
}

// The caller says when to end: it may still want a snapshot after Ctrl-C, or a
// signal that ends a job, which are sent to all processes of a group.
const IGNORED: readonly Deno.Signal[] = Deno.build.os === "windows"
  ? ["SIGINT"]
  : ["SIGINT", "SIGTERM", "SIGHUP"];

/**
 * Looks from a thread of its own whether the caller is still there, as an
 * environment that hangs keeps this one from seeing the end of its input. A
 * process that can end by itself is given the time for it. It needs no
 * permission, as the process to end is its own. (On Windows orphans keep the
 * number of their parent.)
 */
const WATCHDOG = `
const watch = setInterval(() => {
  if (Deno.ppid === ${Number(parent)}) return;
  clearInterval(watch);
  setTimeout(() => Deno.kill(Deno.pid, "SIGKILL"), 2000);
}, 1000);`;

/** Reports an uncaught error, and ends this process. */
function die(error: unknown): never {
  answer(sendableError(error));
  Deno.exit(1);
}

/**
 * Carries out the caller's requests, one after the other, until it closes the input of
 * this process; then this process ends.
 */
export async function serveRequests(
  carryOut: (request: Uint8Array) => void | Promise<void>,
  close: () => void,
): Promise<never> {
  for (const name of IGNORED) Deno.addSignalListener(name, () => {});
  if (Deno.build.os !== "windows") {
    const source = `data:text/javascript,${encodeURIComponent(WATCHDOG)}`;
    new Worker(source, { type: "module" });
  }
  addEventListener("unhandledrejection", ({ reason }) => die(reason));
  addEventListener("error", ({ error }) => die(error));
  for (let request; (request = receive()) !== undefined;) {
    try {
      await carryOut(request);
    } catch (error) {
      answer(sendableError(error));
    }
  }
  close();
  Deno.exit();
}
