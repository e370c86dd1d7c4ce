/** Program of a process of a {@linkcode SubprocessVecEnv}. */
import { allocateArrays, bytesOf } from "../_group_arrays.ts";
import { GroupRunner } from "../_group_runner.ts";
import type { EnvSlice, GroupCommand } from "../group_hosts.ts";
import { type CheckedSource, makeGroup } from "../group_source.ts";
import { relocate } from "../_relocate.ts";
import {
  AnswerWriter,
  deserialize,
  REQUEST,
  serialize,
} from "./host_messages.ts";
import { answer, code, serveRequests, writeFrame } from "./_process_side.ts";

/** A request but `step`, whose actions follow as they are; `open` has the rest. */
type Request = GroupCommand & {
  readonly source: CheckedSource;
  readonly range: EnvSlice;
  /** Folder of the caller, of which there is a copy here. */
  readonly root?: string;
};

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
    const arrays = allocateArrays(spaces, numEnvs);
    this.#answers = new AnswerWriter(arrays);
    this.#actions = bytesOf(arrays.actions);
    runner.attach(arrays);
  }

  step(actions: Uint8Array): void {
    let at = 0;
    for (const bytes of this.#actions) {
      bytes.set(actions.subarray(at, at += bytes.length));
    }
    const { episodes } = this.runner.run({ type: "step" });
    this.runner.write();
    const parts = this.#answers.stepped();
    if (episodes) {
      parts.push(episodes.length > 0 ? serialize(episodes) : NONE_ENDED);
    }
    writeFrame(parts);
  }

  run(command: GroupCommand): void {
    const result = this.runner.run(command);
    if (command.type !== "reset") return answer(result);
    this.runner.write();
    writeFrame(this.#answers.begun);
  }
}

let host: Host | undefined;

async function carryOut(message: Uint8Array): Promise<void> {
  const data = message.subarray(1);
  if (message[0] === REQUEST.step) return host!.step(data);
  const request = deserialize<Request>(data);
  if (request.type === "open") {
    const { source, range, root } = request;
    const env = await makeGroup(relocate(source, root, code), range);
    host = new Host(new GroupRunner(env, range.first));
  }
  host!.run(request);
}

await serveRequests(carryOut, () => host?.runner.close());
