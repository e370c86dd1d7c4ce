/** Program of a process of a {@linkcode SubprocessVecEnv}. */
import { FRAME_HEADER, FrameReader, writeFrameHeader } from "./frames.ts";
import { anyEnded } from "../../_steps.ts";
import { GroupRunner } from "../_group_runner.ts";
import type { GroupAnswer, GroupCommand } from "../group_hosts.ts";
import { makeGroup } from "../group_source.ts";
import { bytesOf, type WireArrays, wireArrays } from "../_group_arrays.ts";
import {
  ANSWER,
  EPISODES,
  FLAG,
  pack,
  REQUEST,
  type Request,
  unpack,
} from "./_wire_messages.ts";
import { sendableError, type SentError } from "../host_failure.ts";

const STEP: GroupCommand = { type: "step" };

function write(bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) {
    at += Deno.stdout.writeSync(bytes.subarray(at));
  }
}

/** Copies, and the message that their numbers are sent in. */
class Host {
  #runner: GroupRunner;
  #wire: WireArrays;
  #actions: Uint8Array[];
  /** The frame around the message. */
  #frame: Uint8Array;

  constructor(runner: GroupRunner) {
    const { env } = this.#runner = runner;
    const { numEnvs } = env;
    this.#wire = wireArrays(env, { numEnvs, before: FRAME_HEADER });
    const { arrays, message: { buffer, byteOffset } } = this.#wire;
    runner.attach(arrays);
    this.#actions = bytesOf(arrays.actions);
    this.#frame = new Uint8Array(buffer, byteOffset - FRAME_HEADER);
  }

  step(actions: Uint8Array): void {
    let at = 0;
    for (const bytes of this.#actions) {
      bytes.set(actions.subarray(at, at += bytes.length));
    }
    const { episodes } = this.#runner.run(STEP);
    this.#runner.write();
    const { message, arrays, shown } = this.#wire;
    const hasEnded = anyEnded(arrays);
    message[FLAG.hasEnded] = hasEnded ? 1 : 0;
    const some = episodes?.length ? pack(episodes) : undefined;
    message[FLAG.episodes] = some
      ? EPISODES.some
      : episodes
      ? EPISODES.none
      : EPISODES.unrecorded;
    this.#send(ANSWER.stepped, hasEnded ? message.length : shown, some);
  }

  run(command: GroupCommand): void {
    const answer = this.#runner.run(command);
    if (command.type !== "reset") return tell(answer);
    this.#runner.write();
    this.#send(ANSWER.begun, this.#wire.shown);
  }

  /** Sends the arrays up to `length`, and what follows them. */
  #send(kind: number, length: number, rest?: Uint8Array): void {
    this.#wire.message[0] = kind;
    writeFrameHeader(this.#frame, length + (rest?.length ?? 0));
    write(this.#frame.subarray(0, FRAME_HEADER + length));
    if (rest !== undefined) write(rest);
  }
}

/** Sends data. */
function tell(data: GroupAnswer | SentError): void {
  const kind = "message" in data ? ANSWER.thrown : ANSWER.data,
    bytes = pack(data);
  const frame = new Uint8Array(FRAME_HEADER + 1 + bytes.length);
  writeFrameHeader(frame, 1 + bytes.length);
  frame[FRAME_HEADER] = kind;
  frame.set(bytes, FRAME_HEADER + 1);
  write(frame);
}

let runner: GroupRunner | undefined;
let host: Host;

async function make(request: Request & { type: "make" }): Promise<void> {
  const { source, range } = request;
  runner = new GroupRunner(await makeGroup(source, range), range.first);
  host = new Host(runner);
  tell(runner.run({ type: "open" }));
}

async function obey(message: Uint8Array): Promise<void> {
  try {
    const data = message.subarray(1);
    if (message[0] === REQUEST.step) return host.step(data);
    const request = unpack<Request>(data);
    if (request.type === "make") await make(request);
    else host.run(request);
  } catch (error) {
    tell(sendableError(error));
  }
}

// The caller says when to end: it may still want a snapshot after Ctrl-C, or a
// signal that ends a job, which are sent to all processes of a group.
const IGNORED: readonly Deno.Signal[] = Deno.build.os === "windows"
  ? ["SIGINT"]
  : ["SIGINT", "SIGTERM", "SIGHUP"];
for (const name of IGNORED) Deno.addSignalListener(name, () => {});

/**
 * Looks from a thread of its own whether the caller is still there, as an
 * environment that hangs keeps this one from seeing the end of its input. A
 * process that can end by itself is given the time for it. It needs no
 * permission, as the process to end is its own. (On Windows orphans keep the
 * number of their parent.)
 */
const WATCHDOG = `
const watch = setInterval(() => {
  if (Deno.ppid === ${Number(Deno.args[0])}) return;
  clearInterval(watch);
  setTimeout(() => Deno.kill(Deno.pid, "SIGKILL"), 2000);
}, 1000);`;

if (Deno.build.os !== "windows") {
  const source = `data:text/javascript,${encodeURIComponent(WATCHDOG)}`;
  new Worker(source, { type: "module" });
}

/** Tells of an error that nobody caught, which ends this process. */
function die(error: unknown): never {
  tell(sendableError(error));
  Deno.exit(1);
}

addEventListener("unhandledrejection", ({ reason }) => die(reason));
addEventListener("error", ({ error }) => die(error));

let inbox = new Uint8Array(0);
const frames = new FrameReader({
  begin: (length) => {
    if (inbox.length < length) inbox = new Uint8Array(length);
  },
  part: (bytes, at) => inbox.set(bytes, at),
  // One request at a time: the next one comes after the answer.
  end: (length) => void obey(inbox.subarray(0, length)),
  stray: () => {},
});
for await (const piece of Deno.stdin.readable) await frames.read(piece);
runner?.env.close();
Deno.exit();
