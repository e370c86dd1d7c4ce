import { checkDeno } from "@bellman/files";
import type {
  BoxArray,
  DictSpace,
  RgbImage,
  Space,
  StateTree,
  StepResult,
} from "@bellman/types";
import { unknownEnvironment } from "../_checks.ts";
import { checkSpace } from "../spaces/check_space.ts";
import { GOAL_FUNCTIONS, type GoalFunctionName } from "../_goals.ts";
import { checkOptions, FLAG } from "@bellman/files/options";
import { snapshotRecord } from "../snapshot.ts";
import { allocateBatch } from "../spaces/batch.ts";
import { bytesOf } from "../workers/_group_arrays.ts";
import type {
  EnvSlice,
  GroupAnswer,
  GroupArrays,
  GroupCommand,
} from "../workers/group_hosts.ts";
import { HostFailure } from "../workers/host_failure.ts";
import { type Child, ChildProcess } from "../workers/processes/child.ts";
import { HostThread, serveHosts } from "../workers/processes/host_thread.ts";
import {
  type ChildGroup,
  ChildProgram,
  type LocalChild,
} from "../workers/processes/_process_hosts.ts";
import { WorkerHosts } from "../workers/threads/_worker_hosts.ts";
import type { HostCommand } from "../workers/threads/_worker_messages.ts";
import type { Launcher } from "../workers/threads/worker_thread.ts";
import {
  checkPlain,
  defaultPython,
  type GymnasiumOptions,
  hostCommand,
  otherPython,
} from "./python.ts";

/** Version of the messages that this side speaks. */
const PROTOCOL = 1;

/** Description that a host gives of its environments. */
interface Handshake {
  readonly protocol: number;
  readonly observationSpace: Space;
  readonly actionSpace: Space;
  readonly maxEpisodeSteps: number | null;
  readonly rewardThreshold: number | null;
  readonly framesPerSecond?: number | null;
  readonly masksActions: boolean;
  readonly goalFunctions: readonly GoalFunctionName[];
  readonly recordsInfo: boolean;
  readonly seats?: readonly string[] | null;
}

/** Error that a host sends. */
interface HostError {
  readonly name: string;
  readonly message: string;
  readonly traceback: string;
  /** True where the message says all: the caller asked for what cannot be. */
  readonly isRefusal: boolean;
  /** Ids that there are, where an unknown one was asked for. */
  readonly known: string[] | null;
}

/** Packages by the scheme of their ids. */
const TITLES = { gym: "Gymnasium", pz: "PettingZoo" };

/** Infinite bounds, which JSON has as texts. */
const INFINITIES = new Map<unknown, number>([
  ["inf", Infinity],
  ["-inf", -Infinity],
]);

function readJson<T>(
  bytes: Uint8Array,
  revive?: (key: string, value: unknown) => unknown,
): T {
  return JSON.parse(new TextDecoder().decode(bytes), revive);
}

/** Number of seeds of NumPy's old generator. */
export const SEEDS: number = 2 ** 32;

/** Stands for the seed of an environment that goes on with its episode. */
export const UNTOUCHED = -1;

/**
 * Seeds as a host reads them, eight bytes each: their lowest 32 bits, as many
 * environments seed that generator.
 */
export function seedBytes(seeds: readonly number[]): Uint8Array {
  const words = BigUint64Array.from(seeds, (seed) => BigInt(seed % SEEDS));
  return new Uint8Array(words.buffer);
}

/** Environments and number of the hosts. */
export interface GymnasiumHostsOptions extends GymnasiumOptions {
  /**
   * Package that makes them, as their ids begin: `pz` for games of PettingZoo.
   *
   * @default "gym"
   */
  readonly scheme?: "gym" | "pz";
  readonly groups: readonly EnvSlice[];
  /**
   * True where an environment whose episode ended is reset in the same step. A
   * single environment is not; its steps tell their `info` instead.
   */
  readonly resets: boolean;
  /** Entries of `info` that are recorded, where environments are reset. */
  readonly infoStatistics?: readonly string[];
  /** True where pictures are wanted if there are some. */
  readonly draws: boolean;
  /**
   * Returns what starts processes of other machines.
   *
   * @default processes of this machine
   */
  readonly launcher?: () => Launcher;
}

/** Environments of Gymnasium, one Python process for each group. */
export class GymnasiumHosts extends WorkerHosts {
  /** Bytes of the actions of an environment. */
  #actionBytes = 0;

  constructor(
    id: string,
    {
      scheme = "gym",
      groups,
      resets,
      draws,
      python = defaultPython(),
      kwargs = {},
      modules = [],
      wrappers = [],
      infoStatistics = [],
      useActionMasks,
      showOutput: showPrints = false,
      launcher,
    }: GymnasiumHostsOptions,
  ) {
    checkDeno(`make ${scheme}:${id}`);
    checkPlain(kwargs, "kwargs");
    checkOptions(`${scheme}:${id}`, { useActionMasks }, {
      useActionMasks: FLAG,
    });
    const wrapped = wrappers.map(({ name, kwargs = {} }) => ({ name, kwargs }));
    checkPlain(wrapped, "wrappers");
    const settings = {
      ...{ protocol: PROTOCOL, scheme, id, kwargs, modules, wrappers: wrapped },
      ...{ infoStatistics, useActionMasks, resets, draws },
      otherPython: otherPython(TITLES[scheme]),
    };
    const local = { command: hostCommand(python), showPrints };
    super({
      groups,
      launcher: launcher?.() ?? new HostThread(import.meta.url),
      data: {
        ...local,
        ...{ settings, scheme, id, python, resets },
        isElsewhere: launcher !== undefined,
      },
    });
  }

  override attach(arrays: readonly GroupArrays[]): void {
    super.attach(arrays);
    const [{ actions, rewards }] = arrays;
    const all = bytesOf(actions).reduce((sum, it) => sum + it.length, 0);
    this.#actionBytes = all / rewards.length;
  }

  /**
   * Returns more for a restore, which plays actions again, of each environment
   * for itself.
   */
  patience(_group: number, command: GroupCommand): number {
    if (command.type !== "load") return 1;
    const { actions } = snapshotRecord(command.snapshot, ["actions"]);
    return 1 + (actions as Uint8Array).length / this.#actionBytes;
  }
}

/** Answer of a host of a single environment. */
export interface GymnasiumAnswer extends GroupAnswer {
  /** The `info` of a step, where there is some. */
  readonly info?: StepResult["info"];
  /** A picture that was asked for. */
  readonly picture?: RgbImage;
}

/** A group in a Python process. */
export interface GymnasiumGroup extends ChildGroup {
  readonly scheme: "gym" | "pz";
  readonly id: string;
  readonly python: string;
  readonly settings: object;
  readonly isElsewhere: boolean;
}

/** Speaks to the processes, in a thread of this very module. */
export function main(): void {
  serveHosts<GymnasiumGroup & LocalChild>((data) =>
    new GymnasiumProgram(data, new ChildProcess(data.command, data.showPrints))
  );
}

/** Speaks to a Python process; `host/main.py` is the other side. */
export class GymnasiumProgram extends ChildProgram {
  #group: GymnasiumGroup;
  #recordsInfo = false;
  #observationSpace: Space | undefined;

  constructor(group: GymnasiumGroup, child: Child) {
    super(group, child);
    this.#group = group;
  }

  override encode(command: HostCommand): readonly Uint8Array[] {
    switch (command.type) {
      case "open":
        return [textBytes({ ...this.#group.settings, ...this.range })];
      case "reset":
        return [seedBytes(command.seeds ?? [])];
      case "load":
        return statePieces(command.snapshot);
      case "render":
        return [new Uint8Array(Uint32Array.of(command.env ?? 0).buffer)];
      case "goals":
        return goalPieces(this.#observationSpace as DictSpace, command);
      case "parameters":
        throw new TypeError("its episodes take no parameters");
      default:
        return [];
    }
  }

  override decode(
    data: Uint8Array,
    type: HostCommand["type"],
  ): GymnasiumAnswer {
    if (type === "open") return { opened: this.#opened(data) };
    if (type === "save") return { snapshot: readState(data) };
    if (type === "goals") {
      return { results: new Float64Array(data.slice().buffer) };
    }
    if (type !== "render") return {};
    const [[width, height], pixels] = readSizes(data);
    return { picture: { width, height, data: pixels.slice() } };
  }

  override readRest(info: Uint8Array): GymnasiumAnswer {
    if (this.#recordsInfo) {
      return { episodes: info.length > 0 ? readJson(info) : [] };
    }
    return info.length > 0 ? { info: readJson(info) } : {};
  }

  override readFailure(data: Uint8Array): HostFailure {
    const { name, message, traceback: stack, known, isRefusal } = readJson<
      HostError
    >(data);
    if (!isRefusal) return new HostFailure("error", message, { name, stack });
    // Ids as one asks for them with the module that this one names, if it does.
    const { id, scheme } = this.#group;
    const prefix = id.slice(0, id.lastIndexOf(":") + 1);
    const unknown = known?.map((it) => prefix + it);
    const error = unknown && unknownEnvironment(id, unknown);
    const owner = prefix === ""
      ? `; a Python module that ${
        scheme === "gym" ? "registers" : "has"
      } it goes in front: 'module:${id}' (${scheme}:module:${id} on the command line)`
      : "";
    return refusal(error ? error.message + owner : message, { name, stack });
  }

  override async run(command: HostCommand): Promise<() => GroupAnswer> {
    try {
      return await super.run(command);
    } catch (error) {
      throw command.type === "open" && this.#whyNoPython() || error;
    }
  }

  /** Explains an end that says that what was started is no Python for this. */
  #whyNoPython(): HostFailure | undefined {
    const { python, isElsewhere } = this.#group, { end } = this.child;
    // Elsewhere it is the node that says why.
    if (isElsewhere || end?.failure === undefined && end?.code !== 0) return;
    const message = end.failure === undefined
      ? `Cannot host environments in '${python}': it ended with code 0 before it answered, by its environment or as it is no Python`
      : `Cannot start Python '${python}': ${end.failure}`;
    return refusal(
      `${message}; ${otherPython(TITLES[this.#group.scheme])}`,
    );
  }

  #opened(data: Uint8Array): GroupAnswer["opened"] {
    const { observationSpace, actionSpace, ...told } = this
      .#readHandshake(data);
    checkSpace(this.#observationSpace = observationSpace);
    checkSpace(actionSpace);
    this.#recordsInfo = told.recordsInfo;
    return {
      observationSpace,
      actionSpace,
      masksActions: told.masksActions,
      goalFunctions: told.goalFunctions,
      seats: told.seats ?? undefined,
      spec: {
        id: `${this.#group.scheme}:${this.#group.id}`,
        maxEpisodeSteps: told.maxEpisodeSteps ?? undefined,
        rewardThreshold: told.rewardThreshold ?? undefined,
        looseBounds: true,
      },
      framesPerSecond: told.framesPerSecond ?? undefined,
    };
  }

  #readHandshake(data: Uint8Array): Handshake {
    try {
      const told = readJson<Handshake>(
        data,
        (_, it) => INFINITIES.get(it) ?? it,
      );
      if (told.protocol === PROTOCOL) return told;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
    throw refusal(
      `Cannot use '${this.#group.python}' as Python: its answer is not of protocol ${PROTOCOL}`,
    );
  }
}

/** Makes a failure whose message is a whole sentence, of one of this side's classes. */
function refusal(
  message: string,
  { name, stack }: { name: string; stack?: string } = { name: "TypeError" },
): HostFailure {
  return new HostFailure("error", message, { name, stack, isWhole: true });
}

/** Writes a value as JSON. */
function textBytes(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

/** Writes a question about goals: the function, then both as their spaces hold them. */
function goalPieces(
  { spaces }: DictSpace,
  { name, achieved, desired }: Extract<GroupCommand, { type: "goals" }>,
): Uint8Array[] {
  const bytes = (space: Space, goals: BoxArray) => {
    const { constructor } = allocateBatch(space, 1);
    return bytesOf((constructor as typeof Float64Array).from(goals));
  };
  return [
    Uint8Array.of(GOAL_FUNCTIONS.indexOf(name)),
    ...bytes(spaces.achieved_goal, achieved),
    ...bytes(spaces.desired_goal, desired),
  ];
}

/** Reads two sizes and returns what follows them. */
function readSizes(
  bytes: Uint8Array,
): [sizes: Uint32Array, rest: Uint8Array] {
  return [new Uint32Array(bytes.slice(0, 8).buffer), bytes.subarray(8)];
}

/** Reads the state of a group as plain data. */
function readState(data: Uint8Array): StateTree {
  const [[first, second], rest] = readSizes(data);
  return {
    episodes: new TextDecoder().decode(rest.subarray(0, first)),
    actions: rest.slice(first, first + second),
    observations: rest.slice(first + second),
  };
}

/** Writes the state of a group as bytes. */
function statePieces(snapshot: StateTree): Uint8Array[] {
  const state = snapshotRecord(snapshot, [
    "episodes",
    "actions",
    "observations",
  ]);
  const episodes = new TextEncoder().encode(state.episodes as string);
  const actions = state.actions as Uint8Array;
  const sizes = Uint32Array.of(episodes.length, actions.length);
  return [
    new Uint8Array(sizes.buffer),
    episodes,
    actions,
    state.observations as Uint8Array,
  ];
}
