import { ChildGroup } from "../workers/processes/child_group.ts";
import { AnswerPipe, NamedPipe } from "../workers/processes/named_pipes.ts";
import {
  AnswerReader,
  checkAnswer,
  type Handshake,
  HEAD,
  type HostSettings,
  ORDERS,
  PROTOCOL,
  readJson,
  readSpace,
  Refusal,
  seedBytes,
} from "./_messages.ts";
import type { RgbImage, StateTree, StepResult } from "@bellman/types";
import { snapshotRecord } from "../snapshot.ts";
import type {
  GroupAnswer,
  GroupArrays,
  GroupCommand,
  GroupHosts,
  GroupRange,
} from "../workers/group_hosts.ts";
import { bytesOf } from "../workers/_group_arrays.ts";
import {
  checkPlain,
  defaultPython,
  type GymnasiumOptions,
  hostCommand,
  otherPython,
} from "./python.ts";

/** Requests to a host. */
type Order = keyof typeof ORDERS;

/** Time for a host to change over to another pipe. */
const SWITCH_MS = 10_000;
const NOTHING: readonly Uint8Array[] = [];

/**
 * True where a named pipe can be made: not on Windows, nor without permission.
 */
function mayMakePipe(): boolean {
  const isGranted = (name: "read" | "write"): boolean =>
    Deno.permissions.querySync({ name }).state === "granted";
  return Deno.build.os !== "windows" && isGranted("read") && isGranted("write");
}

/**
 * The way to and from one host: by the pipes of a child, and, where that can be
 * had, by named pipes, which are faster for short messages. From the host there
 * is one only where this thread has no other host to wait for.
 */
export class HostLine {
  /** The last request. */
  asked: Order = "open";
  #children: ChildGroup;
  #group: number;
  #id: string;
  #isAlone: boolean;
  #pipe: NamedPipe | undefined;
  #answers: AnswerPipe | undefined;
  /** Answer that came through the pipe of answers; `null`: look elsewhere. */
  #answer: Uint8Array | null | undefined;

  constructor(
    children: ChildGroup,
    { group, id, isAlone }: { group: number; id: string; isAlone: boolean },
  ) {
    this.#children = children;
    this.#group = group;
    this.#id = id;
    this.#isAlone = isAlone;
  }

  /**
   * Returns the named pipes that the host is to make, for this process of its
   * alone.
   */
  offerPipes(): string[] {
    this.dropPipes();
    if (!mayMakePipe()) return [];
    return this.#isAlone ? ["input", "output"] : ["input"];
  }

  /** Takes named pipes into use, if the host has made them. */
  takePipes(folder: string | null): void {
    if (folder === null) return;
    const input = `${folder}/input`, output = `${folder}/output`;
    this.#pipe = new NamedPipe(input);
    const answers = this.#isAlone ? new AnswerPipe(output) : undefined;
    const paths = answers && this.#children.openWakePipe(this.#group, output)
      ? [input, output]
      : [input];
    try {
      this.#switch(paths);
    } catch (error) {
      answers?.close();
      this.dropPipes();
      throw error;
    }
    if (paths.length === 2) this.#answers = answers;
    else answers?.close();
  }

  /** Has the host change over to the pipes; it answers by the way before. */
  #switch(paths: readonly string[]): void {
    this.asked = "switch";
    const text = new TextEncoder().encode(JSON.stringify(paths));
    this.#children.send(this.#group, Uint8Array.of(ORDERS.switch), text);
    const timeoutMs = SWITCH_MS;
    this.#children.waitFor([this.#group], { count: 1, timeoutMs });
    this.receive();
  }

  /**
   * Waits for the answer in the pipe of answers, if there is one.
   *
   * @returns True if there is nothing to wait for any more; nothing if the
   * answer comes the other way.
   */
  await(timeoutMs: number): boolean | undefined {
    const answers = this.#answers;
    if (answers === undefined || this.#answer === null) return undefined;
    if (this.#answer !== undefined) return true;
    const deadline = performance.now() + timeoutMs;
    const answer = this.#children.sleep(
      this.#group,
      (hasEnded) =>
        timeoutMs <= 0
          ? answers.look()
          : answers.receive(() => hasEnded() || performance.now() > deadline),
    );
    this.#answer = answer;
    if (answer === null) return undefined;
    return answer !== undefined ||
      this.#children.end(this.#group) !== undefined;
  }

  /** Asks for something; a host that has died is told of by `receive`. */
  ask(order: Order, ...parts: readonly Uint8Array[]): void {
    this.asked = order;
    this.#answer = undefined;
    const message = [Uint8Array.of(ORDERS[order]), ...parts];
    if (this.#pipe === undefined) {
      this.#children.send(this.#group, ...message);
      return;
    }
    this.#children.release(this.#group);
    if (this.#pipe.send(message)) return;
    // Nothing in the one pipe means: look into the other.
    this.#pipe.send(NOTHING);
    this.#children.send(this.#group, ...message);
  }

  /**
   * Returns the answer, as far as there is one; throws what the host says
   * instead.
   */
  receive(): Uint8Array {
    const answer = this.#answer ??
      this.#children.receive(this.#group, { timeoutMs: 0 });
    this.#answer = undefined;
    checkAnswer(answer, this.#id);
    return answer;
  }

  /** Closes the named pipes, on which the host ends. */
  dropPipes(): void {
    this.#pipe?.close();
    this.#answers?.close();
    this.#pipe = this.#answers = this.#answer = undefined;
  }
}

/** Environments and number of the hosts. */
interface GymnasiumHostsOptions extends GymnasiumOptions {
  readonly groups: readonly GroupRange[];
  readonly resets: boolean;
  readonly draws: boolean;
}

/** Environments of Gymnasium, one Python process for each group. */
export class GymnasiumHosts implements GroupHosts {
  readonly groups: readonly GroupRange[];
  #id: string;
  #python: string;
  #settings: Omit<HostSettings, "first" | "numEnvs" | "pipes">;
  #children: ChildGroup;
  #isStarted: boolean[] = [];
  #lines: HostLine[];
  #actions: Uint8Array[][] = [];
  #readers: AnswerReader[] = [];
  #info: StepResult["info"];

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
      showOutput = false,
    }: GymnasiumHostsOptions,
  ) {
    checkPlain(kwargs, "kwargs");
    const wrapped = wrappers.map(({ name, kwargs = {} }) => ({ name, kwargs }));
    checkPlain(wrapped, "wrappers");
    this.groups = groups;
    this.#id = id;
    this.#python = python;
    this.#settings = {
      protocol: PROTOCOL,
      id,
      kwargs,
      modules,
      wrappers: wrapped,
      resets,
      draws,
      otherPython: otherPython(),
    };
    const command = hostCommand(python);
    this.#children = new ChildGroup(groups.map(() => command), {
      showPrints: showOutput,
    });
    this.#lines = groups.map((_, group) =>
      new HostLine(this.#children, { group, id, isAlone: groups.length === 1 })
    );
  }

  /** Returns the process of a group; 0 while it is being started. */
  pid(group: number): number {
    return this.#children.pid(group);
  }

  start(group: number): void {
    this.#lines[group].dropPipes();
    // All were started with the group of them.
    if (this.#isStarted[group]) this.#children.restart(group);
    this.#isStarted[group] = true;
  }

  attach(arrays: readonly GroupArrays[]): void {
    this.#actions = arrays.map((it) => bytesOf(it.actions));
    this.#readers = arrays.map((it) => new AnswerReader(it, this.#settings));
  }

  begin(group: number, command: GroupCommand): void {
    const line = this.#lines[group];
    switch (command.type) {
      case "open": {
        const pipes = line.offerPipes(), range = this.groups[group];
        const settings = JSON.stringify({ ...this.#settings, ...range, pipes });
        return line.ask("open", new TextEncoder().encode(settings));
      }
      case "reset":
        return line.ask("reset", seedBytes(command.seeds ?? []));
      case "step":
        return line.ask("step", ...this.#actions[group]);
      case "save":
        return line.ask("snapshot");
      case "load":
        return line.ask("restore", ...statePieces(command.snapshot));
    }
  }

  /**
   * Returns more for a restore, which plays actions again, of each environment
   * for itself.
   */
  patience(group: number, command: GroupCommand): number {
    if (command.type !== "load") return 1;
    const { actions } = snapshotRecord(command.snapshot, ["actions"]);
    const { numEnvs } = this.groups[group];
    const all = this.#actions[group].reduce((sum, it) => sum + it.length, 0);
    return 1 + (actions as Uint8Array).length / (all / numEnvs);
  }

  waitFor(
    groups: readonly number[],
    options: { count: number; timeoutMs: number },
  ): readonly number[] {
    const isDone = this.groups.length === 1 && groups.length === 1
      ? this.#lines[groups[0]].await(options.count > 0 ? options.timeoutMs : 0)
      : undefined;
    if (isDone !== undefined) return isDone ? groups : [];
    return this.#children.waitFor(groups, options);
  }

  finish(group: number): GroupAnswer {
    const line = this.#lines[group];
    if (line.asked === "open") return { opened: this.#finishOpen(group) };
    const answer = line.receive();
    switch (line.asked) {
      case "reset":
        this.#readers[group].readObservations(answer);
        return {};
      case "step":
        this.#readStep(group, answer);
        return {};
      case "snapshot":
        return { snapshot: readState(answer) };
      default:
        return {};
    }
  }

  /** The `info` of the last step of a single environment. */
  get info(): StepResult["info"] {
    return this.#info;
  }

  #readStep(group: number, answer: Uint8Array): void {
    const at = this.#readers[group].readStep(answer);
    this.#info = at < answer.length
      ? readJson<NonNullable<StepResult["info"]>>(answer.subarray(at))
      : undefined;
  }

  /** Asks for a picture of an environment. */
  beginRender(group: number, copy: number): void {
    const which = new Uint8Array(Uint32Array.of(copy).buffer);
    this.#lines[group].ask("render", which);
  }

  /** Returns the picture that was asked for. */
  finishRender(group: number): RgbImage {
    const answer = this.#lines[group].receive();
    const [width, height] = new Uint32Array(
      answer.slice(HEAD, HEAD + 8).buffer,
    );
    return { width, height, data: answer.slice(HEAD + 8) };
  }

  output(group: number): string {
    return this.#children.prints(group);
  }

  /** Ends a host that is of no use any more. */
  kill(group: number): void {
    this.#children.kill(group);
  }

  close(): void {
    for (const line of this.#lines) line.dropPipes();
    this.#children.close();
  }

  #finishOpen(group: number): NonNullable<GroupAnswer["opened"]> {
    const end = this.#children.end(group);
    if (end?.failure !== undefined) {
      throw new Refusal(
        `Cannot start Python '${this.#python}': ${end.failure}; ${otherPython()}`,
        { name: "TypeError" },
      );
    }
    if (end?.code === 0) {
      throw new Refusal(
        `Cannot host environments in '${this.#python}': it ended before it answered; ${otherPython()}`,
        { name: "TypeError" },
      );
    }
    const line = this.#lines[group];
    const told = this.#parseHandshake(line.receive());
    line.takePipes(told.pipes);
    return {
      observationSpace: readSpace(told.observationSpace),
      actionSpace: readSpace(told.actionSpace),
      spec: {
        id: `gym:${this.#id}`,
        maxEpisodeSteps: told.maxEpisodeSteps ?? undefined,
        rewardThreshold: told.rewardThreshold ?? undefined,
        looseBounds: true,
      },
    };
  }

  #parseHandshake(answer: Uint8Array): Handshake {
    try {
      const told = readJson<Handshake>(answer.subarray(HEAD));
      if (told.protocol === PROTOCOL) return told;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
    throw new Refusal(
      `Cannot use '${this.#python}' as Python: its answer is not of protocol ${PROTOCOL}`,
      { name: "TypeError" },
    );
  }
}

/** Reads the state of a group as plain data. */
function readState(answer: Uint8Array): StateTree {
  const sizes = new Uint32Array(answer.slice(HEAD, HEAD + 8).buffer);
  const first = HEAD + 8, second = first + sizes[0], third = second + sizes[1];
  return {
    episodes: new TextDecoder().decode(answer.slice(first, second)),
    actions: answer.slice(second, third),
    observations: answer.slice(third),
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
