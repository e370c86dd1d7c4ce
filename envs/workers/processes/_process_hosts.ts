import { builtin } from "@bellman/files";
import type { EnvSlice, GroupAnswer, GroupCommand } from "../group_hosts.ts";
import type { CheckedSource } from "../group_source.ts";
import { type HostFailure, thrownFailure } from "../host_failure.ts";
import { ChildHosts, type ChildHostsOptions } from "./_child_hosts.ts";
import { type ChildCommand, PARENT } from "./child_group.ts";
import { programArguments } from "./program_arguments.ts";

const bytesOf = (value: unknown) => builtin("node:v8").serialize(value);
const valueOf = (bytes: Uint8Array) => builtin("node:v8").deserialize(bytes);

const UNRECORDED: GroupAnswer = {};
const NONE_ENDED: GroupAnswer = { episodes: [] };

/** What a host makes environments of. */
interface Made {
  readonly source: CheckedSource;
  /**
   * Address of a folder here, of whose copy the host imports modules.
   *
   * @default none
   */
  readonly root?: string;
}

/** Groups in Deno processes; `_process_main.ts` is the other side. */
export class ProcessHosts extends ChildHosts {
  #made: Made;

  constructor(
    groups: readonly EnvSlice[],
    { source, root, ...options }: ChildHostsOptions & Made,
  ) {
    super(groups, options);
    this.#made = { source, root };
  }

  override encode(group: number, command: GroupCommand): Uint8Array[] {
    const made = { ...this.#made, range: this.groups[group] };
    return [
      bytesOf(command.type === "open" ? { ...command, ...made } : command),
    ];
  }

  override decode(_group: number, data: Uint8Array): GroupAnswer {
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
