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
import { checkOptions, FLAG } from "../_options.ts";
import { snapshotRecord } from "../snapshot.ts";
import { allocateBatch } from "../spaces/batch.ts";
import { bytesOf } from "../workers/_group_arrays.ts";
import type {
  EnvSlice,
  GroupAnswer,
  GroupCommand,
} from "../workers/group_hosts.ts";
import { HostFailure } from "../workers/host_failure.ts";
import {
  ChildHosts,
  type ChildHostsOptions,
  type HostCommand,
} from "../workers/processes/_child_hosts.ts";
import { REQUEST } from "../workers/processes/host_messages.ts";
import {
  checkPlain,
  defaultPython,
  type GymnasiumOptions,
  hostCommand,
  otherPython,
} from "./python.ts";

/** Time for a host to change over to other pipes. */
const SWITCH_MS = 10_000;

/** Version of the messages that this side speaks. */
const PROTOCOL = 1;

/** Description that a host gives of its environments. */
interface Handshake {
  readonly protocol: number;
  /** The folder of the named pipes, which the host removes once they are open. */
  readonly pipes: string | null;
  readonly observationSpace: Space;
  readonly actionSpace: Space;
  readonly maxEpisodeSteps: number | null;
  readonly rewardThreshold: number | null;
  readonly framesPerSecond?: number | null;
  readonly masksActions: boolean;
  readonly goalFunctions: readonly GoalFunctionName[];
  readonly recordsInfo: boolean;
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

/** A failure whose message is a whole sentence, of one of this side's classes. */
export class Refusal extends HostFailure {
  constructor(message: string, thrown: { name: string; stack?: string }) {
    super("error", message, thrown);
  }
}

/** Number of seeds of NumPy's old generator. */
const SEEDS = 2 ** 32;

/**
 * Seeds as a host reads them, eight bytes each: their lowest 32 bits, as many
 * environments seed that generator.
 */
export function seedBytes(seeds: readonly number[]): Uint8Array {
  const words = BigUint64Array.from(seeds, (seed) => BigInt(seed % SEEDS));
  return new Uint8Array(words.buffer);
}

/**
 * True where a named pipe can be made: not on Windows, nor without permission.
 */
function mayMakePipe(): boolean {
  const isGranted = (name: "read" | "write"): boolean =>
    Deno.permissions.querySync({ name }).state === "granted";
  return Deno.build.os !== "windows" && isGranted("read") && isGranted("write");
}

/** Environments and number of the hosts. */
interface GymnasiumHostsOptions extends GymnasiumOptions {
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
  /** Makes processes of other machines. */
  readonly children?: ChildHostsOptions["children"];
}

/**
 * Environments of Gymnasium, one Python process for each group; `host/main.py` is
 * the other side.
 */
export class GymnasiumHosts extends ChildHosts {
  /** The `info` of the last step of a single environment. */
  info: StepResult["info"];
  /** The last picture. */
  picture: RgbImage | undefined;
  #id: string;
  #recordsInfo = false;
  #python: string;
  #isElsewhere: boolean;
  #settings: object;
  #observationSpace: Space | undefined;

  constructor(
    id: string,
    {
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
      children,
    }: GymnasiumHostsOptions,
  ) {
    checkDeno(`make gym:${id}`);
    checkPlain(kwargs, "kwargs");
    checkOptions(`gym:${id}`, { useActionMasks }, { useActionMasks: FLAG });
    const wrapped = wrappers.map(({ name, kwargs = {} }) => ({ name, kwargs }));
    checkPlain(wrapped, "wrappers");
    const command = hostCommand(python);
    super(groups, { command, showPrints, resets, children });
    this.#id = id;
    this.#python = python;
    this.#isElsewhere = children !== undefined;
    this.#settings = {
      protocol: PROTOCOL,
      id,
      kwargs,
      modules,
      wrappers: wrapped,
      infoStatistics,
      useActionMasks,
      resets,
      draws,
      otherPython: otherPython(),
      pipes: this.#pipes(),
    };
  }

  /**
   * Names the pipes that a host is to make, which are faster for short messages:
   * one for its answers only where this thread has no other host to wait for.
   */
  #pipes(): string[] {
    if (this.#isElsewhere || !mayMakePipe()) return [];
    return this.groups.length === 1 ? ["input", "output"] : ["input"];
  }

  override encode(group: number, command: HostCommand): Uint8Array[] {
    switch (command.type) {
      case "open":
        return [textBytes({ ...this.#settings, ...this.groups[group] })];
      case "reset":
        return [seedBytes(command.seeds ?? [])];
      case "load":
        return statePieces(command.snapshot);
      case "render":
        return [new Uint8Array(4)];
      case "goals":
        return goalPieces(this.#observationSpace as DictSpace, command);
      default:
        return [];
    }
  }

  override decode(
    group: number,
    data: Uint8Array,
    type: HostCommand["type"],
  ): GroupAnswer {
    if (type === "open") return { opened: this.#opened(group, data) };
    if (type === "save") return { snapshot: readState(data) };
    if (type === "goals") {
      return { results: new Float64Array(data.slice().buffer) };
    }
    if (type === "render") {
      const [[width, height], pixels] = readSizes(data);
      this.picture = { width, height, data: pixels.slice() };
    }
    return {};
  }

  override readRest(info: Uint8Array): GroupAnswer {
    if (this.#recordsInfo) {
      return { episodes: info.length > 0 ? readJson(info) : [] };
    }
    this.info = info.length > 0 ? readJson(info) : undefined;
    return {};
  }

  override readFailure(data: Uint8Array): HostFailure {
    const told = readJson<HostError>(data);
    const { name, message, traceback: stack, known } = told;
    if (!told.isRefusal) {
      return new HostFailure("error", message, { name, stack });
    }
    // Ids as one asks for them with the module that this one names, if it does.
    const id = this.#id, prefix = id.slice(0, id.lastIndexOf(":") + 1);
    const unknown = known?.map((it) => prefix + it);
    const error = unknown && unknownEnvironment(id, unknown);
    const owner = prefix === ""
      ? `; a Python module that registers it goes in front: 'module:${id}' (gym:module:${id} on the command line)`
      : "";
    return new Refusal(error ? error.message + owner : message, {
      name,
      stack,
    });
  }

  /**
   * Returns more for a restore, which plays actions again, of each environment
   * for itself.
   */
  patience(group: number, command: GroupCommand): number {
    if (command.type !== "load") return 1;
    const { actions } = snapshotRecord(command.snapshot, ["actions"]);
    const { numEnvs } = this.groups[group];
    const all = this.actions[group].reduce((sum, it) => sum + it.length, 0);
    return 1 + (actions as Uint8Array).length / (all / numEnvs);
  }

  override finish(group: number): GroupAnswer {
    if (this.commands[group] === "open") this.#checkPython(group);
    return super.finish(group);
  }

  /** Throws where what was started has ended and is no Python for this. */
  #checkPython(group: number): void {
    // Elsewhere it is the node that says why.
    const end = this.#isElsewhere ? undefined : this.children.end(group);
    if (end?.failure === undefined && end?.code !== 0) return;
    const message = end.failure === undefined
      ? `Cannot host environments in '${this.#python}': it ended with code 0 before it answered, by its environment or as it is no Python`
      : `Cannot start Python '${this.#python}': ${end.failure}`;
    throw new Refusal(`${message}; ${otherPython()}`, { name: "TypeError" });
  }

  #opened(group: number, data: Uint8Array): GroupAnswer["opened"] {
    const { observationSpace, actionSpace, pipes, ...told } = this
      .#readHandshake(data);
    checkSpace(this.#observationSpace = observationSpace);
    checkSpace(actionSpace);
    this.#recordsInfo = told.recordsInfo;
    if (pipes !== null) {
      const paths = this.#pipes().map((name) => `${pipes}/${name}`);
      this.children.usePipes(group, paths, (used) => this.#switch(group, used));
    }
    return {
      observationSpace,
      actionSpace,
      masksActions: told.masksActions,
      goalFunctions: told.goalFunctions,
      spec: {
        id: `gym:${this.#id}`,
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
    throw new Refusal(
      `Cannot use '${this.#python}' as Python: its answer is not of protocol ${PROTOCOL}`,
      { name: "TypeError" },
    );
  }

  /** Has a host change over to named pipes; it answers by the way before. */
  #switch(group: number, paths: readonly string[]): void {
    this.children.send(group, Uint8Array.of(REQUEST.switch), textBytes(paths));
    this.children.waitFor([group], SWITCH_MS);
    this.receive(group);
  }
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
