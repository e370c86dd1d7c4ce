import { bytesOf } from "../_group_arrays.ts";
import type { EnvSlice, GroupAnswer, GroupArrays } from "../group_hosts.ts";
import type { HostFailure } from "../host_failure.ts";
import type { HostCommand } from "../threads/_worker_messages.ts";
import type { HostProgram } from "../threads/serve_worker.ts";
import type { Child } from "./child.ts";
import { frameOf } from "./frames.ts";
import { AnswerReader, FAILED, HEAD, REQUEST } from "./host_messages.ts";

const NO_ANSWER: GroupAnswer = {};

/** Data of a group whose host is a process. */
export interface ChildGroup {
  readonly range: EnvSlice;
  /** Arrays of the group, where they are allocated by now. */
  readonly arrays?: GroupArrays;
  /** True where environments that end are reset in the same step. */
  readonly resets: boolean;
}

/** Speaks to the process of a group, whose language is that of a subclass. */
export abstract class ChildProgram implements HostProgram {
  protected readonly range: EnvSlice;
  protected readonly child: Child;
  readonly #resets: boolean;
  /** Bytes of the actions. */
  #actions: readonly Uint8Array[] = [];
  #reader: AnswerReader | undefined;

  constructor({ range, arrays, resets }: ChildGroup, child: Child) {
    this.range = range;
    this.child = child;
    this.#resets = resets;
    if (arrays) this.attach(arrays);
  }

  /** Writes the data of a command other than the actions. */
  protected abstract encode(command: HostCommand): readonly Uint8Array[];

  /** Reads the answer to a command but `reset` and `step`. */
  protected abstract decode(
    data: Uint8Array,
    type: HostCommand["type"],
  ): GroupAnswer;

  /** Reads what follows the arrays of a step. */
  protected abstract readRest(data: Uint8Array): GroupAnswer;

  /** Reads the error that a host threw. */
  protected abstract readFailure(data: Uint8Array): HostFailure;

  get pid(): number {
    return this.child.pid;
  }

  attach(arrays: GroupArrays): void {
    this.#actions = bytesOf(arrays.actions);
    this.#reader = new AnswerReader(arrays, this.#resets);
  }

  async run(command: HostCommand): Promise<() => GroupAnswer> {
    const { type } = command;
    const data = type === "step" ? this.#actions : this.encode(command);
    const frame = frameOf(Uint8Array.of(REQUEST[type]), ...data);
    const answer = await this.child.ask(frame), reader = this.#reader!;
    if (answer[0] === FAILED) throw this.readFailure(answer.subarray(HEAD));
    switch (type) {
      case "reset":
        return () => {
          reader.readObservations(answer);
          return NO_ANSWER;
        };
      case "step":
        return () => this.readRest(answer.subarray(reader.readStep(answer)));
      default: {
        const decoded = this.decode(answer.subarray(HEAD), type);
        return () => decoded;
      }
    }
  }

  close(isBusy: boolean): Promise<HostFailure> {
    return this.child.close(isBusy);
  }
}
