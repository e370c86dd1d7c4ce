import { bytesOf } from "../_group_arrays.ts";
import type { EnvSlice, GroupAnswer, GroupArrays } from "../group_hosts.ts";
import type { CheckedSource } from "../group_source.ts";
import { type HostFailure, thrownFailure } from "../host_failure.ts";
import {
  type HostCommand,
  NO_ANSWER,
  NONE_ENDED,
} from "../threads/_worker_messages.ts";
import type { HostProgram } from "../threads/serve_worker.ts";
import {
  type Child,
  type ChildCommand,
  ChildProcess,
  PARENT,
} from "./child.ts";
import { frameOf } from "./frames.ts";
import {
  AnswerReader,
  deserialize,
  FAILED,
  HEAD,
  REQUEST,
  serialize,
} from "./host_messages.ts";
import { serveHosts } from "./host_thread.ts";
import { programArguments } from "./program_arguments.ts";

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

  close(isBusy: boolean): Promise<string | undefined> {
    return this.child.close(isBusy);
  }
}

/** A group in a Deno process. */
export interface DenoGroup extends ChildGroup {
  readonly source: CheckedSource;
  /**
   * Address of a folder here, of whose copy the host imports modules.
   *
   * @default none
   */
  readonly root?: string;
}

/** Speaks to a Deno process; `_process_main.ts` is the other side. */
export class DenoProgram extends ChildProgram {
  readonly #made: Pick<DenoGroup, "source" | "root">;

  constructor({ source, root, ...group }: DenoGroup, child: Child) {
    super(group, child);
    this.#made = { source, root };
  }

  override encode(command: HostCommand): Uint8Array[] {
    const made = { ...this.#made, range: this.range };
    return [
      serialize(command.type === "open" ? { ...command, ...made } : command),
    ];
  }

  override decode(data: Uint8Array): GroupAnswer {
    return deserialize(data);
  }

  override readRest(episodes: Uint8Array): GroupAnswer {
    if (episodes.length > 1) return { episodes: deserialize(episodes) };
    return episodes.length === 0 ? NO_ANSWER : NONE_ENDED;
  }

  override readFailure(data: Uint8Array): HostFailure {
    return thrownFailure(deserialize(data));
  }
}

/** Command of a process of this machine, and the handling of its prints. */
export interface LocalChild {
  readonly command: ChildCommand;
  /** True where prints also go to stderr. */
  readonly showPrints: boolean;
}

/** Speaks to the processes of a `SubprocessVecEnv`, in a thread of this very module. */
export function main(): void {
  serveHosts<DenoGroup & LocalChild>((data) =>
    new DenoProgram(data, new ChildProcess(data.command, data.showPrints))
  );
}

/** Program of a host process. */
export const MAIN: string = import.meta.resolve("./_process_main.ts");

/** Makes the command that starts a host process. */
export function hostCommand(
  { main = MAIN, permissions, flags, program = Deno.execPath() }: {
    main?: string;
    permissions: readonly string[];
    flags?: readonly string[];
    program?: string;
  },
): ChildCommand & { args: readonly string[] } {
  if (Deno.build.standalone) {
    throw new TypeError(
      "Cannot host environments in processes as this is a compiled program, whose modules no other process can run: use WorkerVecEnv",
    );
  }
  return {
    program,
    // It ends with the process that starts it.
    args: [...programArguments(main, { permissions, flags }), PARENT],
    // What it prints is kept as text.
    env: { NO_COLOR: "1" },
  };
}
