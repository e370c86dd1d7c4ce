/** Program of a process of a {@linkcode SubprocessVecEnv}. */
import { pathToFileURL } from "node:url";
import { deserialize, serialize } from "node:v8";
import { bytesOf } from "../_group_arrays.ts";
import { GroupRunner } from "../_group_runner.ts";
import type { GroupAnswer, GroupCommand, GroupRange } from "../group_hosts.ts";
import { type CheckedSource, makeGroup, movedSource } from "../group_source.ts";
import { sendableError, type SentError } from "../host_failure.ts";
import { frameOf, FrameReader } from "./frames.ts";
import { AnswerWriter, FAILED, HEAD, REQUEST } from "./host_messages.ts";

/** A request but `step`, whose actions follow as they are; `open` has the rest. */
type Request = GroupCommand & {
  readonly source: CheckedSource;
  readonly range: GroupRange;
  /** Folder of the caller, of which there is a copy here. */
  readonly root?: string;
};

/** Arguments: the process to end with, and the folder of the code on this machine. */
const [parent, code] = Deno.args;

function write(bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) {
    at += Deno.stdout.writeSync(bytes.subarray(at));
  }
}

/** Sends data. */
function answer(data: GroupAnswer | SentError): void {
  const head = new Uint8Array(HEAD);
  if ("message" in data) head[0] = FAILED;
  write(frameOf(head, serialize(data)));
}

/** Follows the arrays of a step in which no episode has ended. */
const NONE_ENDED = new Uint8Array(1);

/** Environments, and the memory of their answers. */
class Host {
  readonly runner: GroupRunner;
  #answers: AnswerWriter;
  #actions: Uint8Array[];

  constructor(runner: GroupRunner) {
    this.runner = runner;
    const { observationSpace, actionSpace, numEnvs, actionMasks } = runner.env;
    const masksActions = actionMasks !== undefined;
    const spaces = { observationSpace, actionSpace, masksActions };
    this.#answers = new AnswerWriter(spaces, numEnvs);
    this.#actions = bytesOf(this.#answers.arrays.actions);
    runner.attach(this.#answers.arrays);
  }

  step(actions: Uint8Array): void {
    let at = 0;
    for (const bytes of this.#actions) {
      bytes.set(actions.subarray(at, at += bytes.length));
    }
    const { episodes } = this.runner.run({ type: "step" });
    this.runner.write();
    const more = episodes?.length ? serialize(episodes) : NONE_ENDED;
    write(this.#answers.stepped(episodes ? more.length : 0));
    if (episodes) write(more);
  }

  run(command: GroupCommand): void {
    const result = this.runner.run(command);
    if (command.type !== "reset") return answer(result);
    this.runner.write();
    write(this.#answers.begun());
  }
}

let host: Host | undefined;

async function carryOut(message: Uint8Array): Promise<void> {
  try {
    const data = message.subarray(1);
    if (message[0] === REQUEST.step) return host!.step(data);
    const request = deserialize(data) as Request;
    if (request.type === "open") {
      const { source, range, root } = request;
      const own = root === undefined
        ? source
        : movedSource(source, root, pathToFileURL(`${code}/`).href);
      const env = await makeGroup(own, range);
      host = new Host(new GroupRunner(env, range.first));
    }
    host!.run(request);
  } catch (error) {
    answer(sendableError(error));
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
  if (Deno.ppid === ${Number(parent)}) return;
  clearInterval(watch);
  setTimeout(() => Deno.kill(Deno.pid, "SIGKILL"), 2000);
}, 1000);`;

if (Deno.build.os !== "windows") {
  const source = `data:text/javascript,${encodeURIComponent(WATCHDOG)}`;
  new Worker(source, { type: "module" });
}

/** Reports an uncaught error, and ends this process. */
function die(error: unknown): never {
  answer(sendableError(error));
  Deno.exit(1);
}

addEventListener("unhandledrejection", ({ reason }) => die(reason));
addEventListener("error", ({ error }) => die(error));

const frames = new FrameReader({
  // One request at a time: the next one comes after the answer.
  message: (bytes) => void carryOut(bytes),
  stray: () => {},
});
const piece = new Uint8Array(65_536);
for (let length; (length = await Deno.stdin.read(piece)) !== null;) {
  frames.read(piece.subarray(0, length));
}
host?.runner.close();
Deno.exit();
