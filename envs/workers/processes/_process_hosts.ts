import { builtin } from "@bellman/files";
import type { GroupAnswer } from "../group_hosts.ts";
import type { CheckedSource } from "../group_source.ts";
import { type HostFailure, thrownFailure } from "../host_failure.ts";
import type { HostCommand } from "../threads/_worker_messages.ts";
import { type ChildGroup, ChildProgram } from "./_child_program.ts";
import {
  type Child,
  type ChildCommand,
  ChildProcess,
  PARENT,
} from "./child.ts";
import { serveHosts } from "./host_thread.ts";
import { programArguments } from "./program_arguments.ts";

const bytesOf = (value: unknown) => builtin("node:v8").serialize(value);
const valueOf = (bytes: Uint8Array) => builtin("node:v8").deserialize(bytes);

const UNRECORDED: GroupAnswer = {};
const NONE_ENDED: GroupAnswer = { episodes: [] };

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
      bytesOf(command.type === "open" ? { ...command, ...made } : command),
    ];
  }

  override decode(data: Uint8Array): GroupAnswer {
    return valueOf(data);
  }

  override readRest(episodes: Uint8Array): GroupAnswer {
    if (episodes.length > 1) return { episodes: valueOf(episodes) };
    return episodes.length === 0 ? UNRECORDED : NONE_ENDED;
  }

  override readFailure(data: Uint8Array): HostFailure {
    return thrownFailure(valueOf(data));
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
