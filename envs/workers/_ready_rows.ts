import { ActionRows } from "../spaces/_action_rows.ts";
import { allocateBatch, writeRowAt } from "../spaces/batch.ts";
import type { Batch, EpisodeStatistics, Space } from "@bellman/types";
import type { GroupArrays, GroupRange } from "./group_hosts.ts";
import type { ReadyStep } from "./ready_step.ts";
import { placeRows } from "./_shared_batch.ts";

type Spaces = { observationSpace: Space; actionSpace: Space };
type Rows = { -readonly [K in keyof ReadyStep]: ReadyStep[K] };

/** Actions for some of the groups, and the rows of those that are ready. */
export class ReadyRows {
  #spaces: Spaces;
  #groups: readonly GroupRange[];
  #rows: readonly GroupArrays[];
  #actions: Batch;
  #groupOf: Int32Array;
  /** By the number of copies. */
  #readers = new Map<number, ActionRows>();
  #steps = new Map<number, Rows>();

  constructor(
    spaces: Spaces,
    groups: readonly GroupRange[],
    { actions, rows }: { actions: Batch; rows: readonly GroupArrays[] },
  ) {
    this.#spaces = spaces;
    this.#groups = groups;
    this.#rows = rows;
    this.#actions = actions;
    this.#groupOf = Int32Array.from(
      groups.flatMap(({ numEnvs }, group) => Array(numEnvs).fill(group)),
    );
  }

  /** The groups of copies that are named as whole groups, each once. */
  groupsOf(copies?: ArrayLike<number>): number[] {
    if (copies === undefined) return [...this.#groups.keys()];
    const named = new Set<number>(), groups = new Set<number>();
    for (const copy of Array.from(copies)) {
      if (!(copy in this.#groupOf) || named.has(copy)) {
        throw new RangeError(
          `Cannot send actions to copy ${copy}: expected different whole numbers from 0 to ${
            this.#groupOf.length - 1
          }`,
        );
      }
      named.add(copy);
      groups.add(this.#groupOf[copy]);
    }
    const missing = this.#groupOf.findIndex((group, copy) =>
      groups.has(group) && !named.has(copy)
    );
    if (missing < 0) return [...groups];
    throw new RangeError(
      `Cannot send actions to ${named.size} copies without copy ${missing}: expected whole groups, which step together`,
    );
  }

  /** Puts actions in their places, after a look at all of them. */
  takeActions(actions: Batch, copies?: ArrayLike<number>): void {
    const count = copies?.length ?? this.#groupOf.length;
    let reader = this.#readers.get(count);
    if (reader === undefined) {
      reader = new ActionRows(this.#spaces.actionSpace, count);
      this.#readers.set(count, reader);
    }
    const values = reader.read(actions);
    for (let row = 0; row < count; row++) {
      const copy = copies === undefined ? row : copies[row];
      writeRowAt(this.#spaces.actionSpace, values[row], this.#actions, copy);
    }
  }

  /** How many copies groups have. */
  copiesIn(groups: readonly number[]): number {
    return groups.reduce((sum, it) => sum + this.#groups[it].numEnvs, 0);
  }

  /** The first groups that have so many copies together, if they do. */
  first(
    groups: readonly number[],
    copies: number,
  ): readonly number[] | undefined {
    let sum = 0;
    for (const [i, group] of groups.entries()) {
      sum += this.#groups[group].numEnvs;
      if (sum >= copies) return groups.slice(0, i + 1);
    }
    return undefined;
  }

  /** The rows of groups, one group after the other. */
  gather(
    groups: readonly number[],
    episodes: readonly EpisodeStatistics[] | undefined,
  ): ReadyStep {
    const step = this.#stepOf(this.copiesIn(groups));
    let at = 0;
    for (const group of groups) {
      const { first, numEnvs } = this.#groups[group], rows = this.#rows[group];
      for (let i = 0; i < numEnvs; i++) step.copies[at + i] = first + i;
      const place = { at, rows: numEnvs };
      placeRows(rows.observations, step.observations, place);
      placeRows(rows.finalObservations, step.finalObservations, place);
      step.rewards.set(rows.rewards, at);
      step.terminated.set(rows.terminated, at);
      step.truncated.set(rows.truncated, at);
      at += numEnvs;
    }
    step.episodes = episodes;
    return step;
  }

  #stepOf(count: number): Rows {
    let step = this.#steps.get(count);
    if (step === undefined) {
      const space = this.#spaces.observationSpace;
      step = {
        copies: new Int32Array(count),
        observations: allocateBatch(space, count),
        rewards: new Float64Array(count),
        terminated: new Uint8Array(count),
        truncated: new Uint8Array(count),
        finalObservations: allocateBatch(space, count),
      };
      this.#steps.set(count, step);
    }
    return step;
  }
}
