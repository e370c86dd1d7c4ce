import { bytesOf } from "../_group_arrays.ts";
import type {
  EnvSlice,
  GroupAnswer,
  GroupArrays,
  GroupCommand,
  WorkerBackend,
} from "../group_hosts.ts";
import type { HostFailure } from "../host_failure.ts";
import { type ChildCommand, ChildGroup } from "./child_group.ts";
import { AnswerReader, FAILED, HEAD, REQUEST } from "./host_messages.ts";

const NO_ANSWER: GroupAnswer = {};

/** A command, or one for a picture of the first environment. */
export type HostCommand = GroupCommand | { readonly type: "render" };

/** Children that host groups, here or on other machines. */
export type Children = Pick<
  ChildGroup,
  | "start"
  | "send"
  | "receive"
  | "waitFor"
  | "end"
  | "pid"
  | "usePipes"
  | "close"
>;

/** Settings of {@linkcode ChildHosts}. */
export interface ChildHostsOptions {
  readonly command: ChildCommand;
  readonly showPrints: boolean;
  /** True where environments that end are reset in the same step. */
  readonly resets: boolean;
  /**
   * Makes the children, one for each group; they are closed with this.
   *
   * @default processes of this machine
   */
  readonly children?: () => Children;
}

/** Groups in separate processes, whose language is that of a subclass. */
export abstract class ChildHosts implements WorkerBackend {
  readonly groups: readonly EnvSlice[];
  protected readonly children: Children;
  /** Bytes of the actions of each group. */
  protected actions: readonly (readonly Uint8Array[])[] = [];
  /** Type of the last command to each group. */
  protected readonly commands: HostCommand["type"][] = [];
  #options: ChildHostsOptions;
  #readers: readonly AnswerReader[] = [];

  constructor(groups: readonly EnvSlice[], options: ChildHostsOptions) {
    this.groups = groups;
    this.#options = options;
    this.children = options.children?.() ?? new ChildGroup(options);
  }

  /** Writes the data of a command other than the actions. */
  protected abstract encode(
    group: number,
    command: HostCommand,
  ): readonly Uint8Array[];

  /** Reads the answer to a command but `reset` and `step`. */
  protected abstract decode(
    group: number,
    data: Uint8Array,
    type: HostCommand["type"],
  ): GroupAnswer;

  /** Reads what follows the arrays of a step. */
  protected abstract readRest(data: Uint8Array): GroupAnswer;

  /** Reads the error that a host threw. */
  protected abstract readFailure(data: Uint8Array): HostFailure;

  /** Lists the processes; 0 for one that is being started. */
  pids(): number[] {
    return this.groups.map((_, group) => this.children.pid(group));
  }

  start(group: number): void {
    this.children.start(group, this.#options.command);
  }

  attach(arrays: readonly GroupArrays[]): void {
    const { resets } = this.#options;
    this.actions = arrays.map((it) => bytesOf(it.actions));
    this.#readers = arrays.map((it) => new AnswerReader(it, resets));
  }

  begin(group: number, command: HostCommand): void {
    const { type } = command;
    const data = type === "step"
      ? this.actions[group]
      : this.encode(group, command);
    this.commands[group] = type;
    this.children.send(group, Uint8Array.of(REQUEST[type]), ...data);
  }

  waitFor(groups: readonly number[], timeoutMs: number): boolean {
    return this.children.waitFor(groups, timeoutMs);
  }

  finish(group: number): GroupAnswer {
    const answer = this.receive(group), reader = this.#readers[group];
    const type = this.commands[group];
    switch (type) {
      case "reset":
        reader.readObservations(answer);
        return NO_ANSWER;
      case "step":
        return this.readRest(answer.subarray(reader.readStep(answer)));
      default:
        return this.decode(group, answer.subarray(HEAD), type);
    }
  }

  /** Takes an answer, as far as there is one; throws what the host says instead. */
  protected receive(group: number): Uint8Array {
    const answer = this.children.receive(group, 0);
    if (answer[0] !== FAILED) return answer;
    throw this.readFailure(answer.subarray(HEAD));
  }

  close(): void {
    this.children.close();
  }
}
