import { type ChildCommand, ChildGroup } from "./child_group.ts";
import type { Batch } from "@bellman/types";
import type { CheckedSource } from "../group_source.ts";
import type {
  GroupAnswer,
  GroupArrays,
  GroupCommand,
  GroupHosts,
  GroupRange,
} from "../group_hosts.ts";
import { thrownFailure } from "../host_failure.ts";
import { bytesOf, wireArrays } from "../_group_arrays.ts";
import {
  ANSWER,
  EPISODES,
  FLAG,
  pack,
  REQUEST,
  type Request,
  unpack,
} from "./_wire_messages.ts";

const ASK_BYTE = Uint8Array.of(REQUEST.data),
  STEP_BYTE = Uint8Array.of(REQUEST.step);
const NO_ANSWER: GroupAnswer = {};
const NONE_ENDED: GroupAnswer = { episodes: [] };

/** Bytes of a message and where they go. */
interface Piece {
  readonly from: number;
  readonly target: Uint8Array;
}

/** Places of the messages of a group. */
interface Wires {
  readonly actions: readonly Uint8Array[];
  readonly observations: readonly Piece[];
  readonly flags: readonly Piece[];
  readonly finals: readonly Piece[];
  readonly shown: number;
  readonly whole: number;
}

/** Environments and command of the processes. */
export interface ProcessHostsOptions {
  readonly source: CheckedSource;
  readonly groups: readonly GroupRange[];
  readonly command: ChildCommand;
  readonly showOutput: boolean;
}

/** Groups in processes of their own. */
export class ProcessHosts implements GroupHosts {
  readonly groups: readonly GroupRange[];
  #options: ProcessHostsOptions;
  #started: ChildGroup | undefined;
  #isStarted: boolean[] = [];
  #opened: NonNullable<GroupAnswer["opened"]>[] = [];
  #wires: Wires[] = [];

  constructor(options: ProcessHostsOptions) {
    this.groups = options.groups;
    this.#options = options;
  }

  /** Returns the process of a group; 0 while it is being started. */
  pid(group: number): number {
    return this.#children.pid(group);
  }

  start(group: number): void {
    // All start together.
    const children = this.#children;
    if (this.#isStarted[group]) children.restart(group);
    this.#isStarted[group] = true;
  }

  attach(arrays: readonly GroupArrays[]): void {
    this.#wires = arrays.map((it, group) => this.#wiresOf(it, group));
  }

  begin(group: number, command: GroupCommand): void {
    if (command.type === "step") {
      this.#children.send(group, STEP_BYTE, ...this.#wires[group].actions);
      return;
    }
    const request: Request = command.type === "open"
      ? {
        type: "make",
        source: this.#options.source,
        range: this.groups[group],
      }
      : command;
    this.#children.send(group, ASK_BYTE, pack(request));
  }

  waitFor(
    groups: readonly number[],
    options: { count: number; timeoutMs: number },
  ): readonly number[] {
    return this.#children.waitFor(groups, options);
  }

  finish(group: number): GroupAnswer {
    const message = this.#children.receive(group, { timeoutMs: 0 });
    const data = message.subarray(1);
    switch (message[0]) {
      case ANSWER.thrown:
        throw thrownFailure(unpack(data));
      case ANSWER.data: {
        const answer = unpack<GroupAnswer>(data);
        if (answer.opened) this.#opened[group] = answer.opened;
        return answer;
      }
      case ANSWER.begun:
        copyPieces(message, this.#wires[group].observations);
        return NO_ANSWER;
      default:
        return takeStep(message, this.#wires[group]);
    }
  }

  output(group: number): string {
    return this.#children.prints(group);
  }

  close(): void {
    this.#started?.close();
  }

  get #children(): ChildGroup {
    const { groups, command, showOutput } = this.#options;
    return this.#started ??= new ChildGroup(groups.map(() => command), {
      showPrints: showOutput,
    });
  }

  #wiresOf(arrays: GroupArrays, group: number): Wires {
    const { numEnvs } = this.groups[group];
    const wire = wireArrays(this.#opened[group], { numEnvs });
    const pieces = (on: Batch, own: Batch): Piece[] => {
      const targets = bytesOf(own);
      return bytesOf(on).map(({ byteOffset: from }, i) => ({
        from,
        target: targets[i],
      }));
    };
    const on = wire.arrays;
    return {
      actions: bytesOf(arrays.actions),
      observations: pieces(on.observations, arrays.observations),
      flags: [
        ...pieces(on.rewards, arrays.rewards),
        ...pieces(on.terminated, arrays.terminated),
        ...pieces(on.truncated, arrays.truncated),
      ],
      finals: pieces(on.finalObservations, arrays.finalObservations),
      shown: wire.shown,
      whole: wire.message.length,
    };
  }
}

function copyPieces(message: Uint8Array, pieces: readonly Piece[]): void {
  for (const { from, target } of pieces) {
    target.set(message.subarray(from, from + target.length));
  }
}

function takeStep(message: Uint8Array, wires: Wires): GroupAnswer {
  copyPieces(message, wires.flags);
  copyPieces(message, wires.observations);
  const hasEnded = message[FLAG.hasEnded] !== 0;
  if (hasEnded) copyPieces(message, wires.finals);
  const kind = message[FLAG.episodes];
  if (kind === EPISODES.some) {
    const from = hasEnded ? wires.whole : wires.shown;
    return { episodes: unpack(message.subarray(from)) };
  }
  return kind === EPISODES.none ? NONE_ENDED : NO_ANSWER;
}
