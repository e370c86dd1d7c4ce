import type { Batch, EpisodeStatistics, Space, VecStep } from "@bellman/types";
import type { GroupArrays, GroupHosts, GroupRange } from "./group_hosts.ts";
import { LATE_MS, stoodStill } from "./_timeouts.ts";
import { ActionRows, countCopies } from "../spaces/_action_rows.ts";
import { allocateStep } from "../_steps.ts";
import { writeRowAt } from "../spaces/batch.ts";
import { placeRows } from "./_group_arrays.ts";

/**
 * A step of the environments that were ready first: row `j` of its arrays is of
 * environment `copies[j]`. The object and its arrays are reused by the next
 * `recv`.
 */
export interface ReadyStep extends VecStep {
  /** Numbers of the environments, `[rows]`. */
  readonly copies: Int32Array;
}

/** A group on its way. */
interface Sent {
  readonly timeoutMs: number;
  /** Until when it may take. */
  until: number;
  /** Time of the last look for its answer. */
  seenAt: number;
  /** True where its timeout was restarted. */
  isExcused: boolean;
  /** Heartbeats of its host when its timeout was last restarted. */
  signs: number;
}

/** Groups that were sent actions, and until when each may take. */
export class SentGroups {
  #sent = new Map<number, Sent>();

  /** Their number. */
  get size(): number {
    return this.#sent.size;
  }

  /** The groups, the earliest first. */
  get groups(): readonly number[] {
    return [...this.#sent.keys()];
  }

  has(group: number): boolean {
    return this.#sent.has(group);
  }

  add(group: number, timeoutMs: number): void {
    const now = performance.now(), until = now + timeoutMs;
    const sent = { timeoutMs, until, seenAt: now, isExcused: false, signs: 0 };
    this.#sent.set(group, sent);
  }

  /**
   * Waits until enough groups have answered, were lost, or are overdue; takes
   * those out. What is broken comes before the first that are ready: where there
   * are always enough of those, it would never be its turn.
   *
   * @param enough The shortest beginning of a list that is enough, if any is.
   */
  take(
    hosts: GroupHosts,
    { lost, enough }: {
      lost: (group: number) => boolean;
      enough: (groups: readonly number[]) => readonly number[] | undefined;
    },
  ): readonly number[] {
    const gone = this.groups.filter(lost);
    const alive = this.groups.filter((group) => !lost(group));
    const until = (group: number): number => this.#sent.get(group)!.until;
    // A copy, as hosts may use their list again.
    let arrived = [...hosts.waitFor(alive, { count: 0, timeoutMs: 0 })];
    this.#excuse(alive.filter((group) => !arrived.includes(group)));
    for (;;) {
      const now = performance.now();
      const pending = alive.filter((group) => !arrived.includes(group));
      const silent = pending.filter((group) =>
        until(group) <= now && !this.#isAlive(hosts, group)
      );
      const taken = enough([...gone, ...silent, ...arrived]);
      if (taken !== undefined) {
        for (const group of taken) this.#sent.delete(group);
        for (const sent of this.#sent.values()) sent.seenAt = now;
        return taken;
      }
      const untils = pending.map(until).filter((it) => it > now);
      const timeoutMs = Math.min(...untils) - now;
      const count = arrived.length + 1;
      arrived = [...hosts.waitFor(alive, { count, timeoutMs })];
      this.#extend(stoodStill({ since: now, timeoutMs }));
    }
  }

  /** Restarts the timeout of a group whose host sent heartbeats. */
  #isAlive(hosts: GroupHosts, group: number): boolean {
    const sent = this.#sent.get(group)!, signs = hosts.signs?.(group) ?? 0;
    if (signs === sent.signs) return false;
    sent.signs = signs;
    sent.until = performance.now() + sent.timeoutMs;
    return true;
  }

  /**
   * Restarts, once, the timeout of groups that ran out while nobody looked:
   * all may have been stopped then, as a step that waits would have noticed.
   */
  #excuse(groups: readonly number[]): void {
    const now = performance.now();
    for (const group of groups) {
      const sent = this.#sent.get(group)!;
      if (sent.isExcused || sent.until > now) continue;
      if (now - sent.seenAt <= LATE_MS) continue;
      sent.until = now + sent.timeoutMs;
      sent.isExcused = true;
    }
  }

  #extend(ms: number): void {
    if (ms === 0) return;
    for (const sent of this.#sent.values()) sent.until += ms;
  }
}

type Spaces = { observationSpace: Space; actionSpace: Space };
type Rows = { -readonly [K in keyof ReadyStep]: ReadyStep[K] };

/** Actions for some of the groups, and the rows of those that are ready. */
export class ReadyRows {
  #spaces: Spaces;
  #groups: readonly GroupRange[];
  #rows: readonly GroupArrays[];
  #actions: Batch;
  #groupOf: Int32Array;
  /** By the number of environments. */
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

  /**
   * Returns the groups of environments that are named as whole groups, each
   * once.
   */
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
      `Cannot send actions to ${
        countCopies(named.size)
      } without copy ${missing}: expected whole groups, which step together`,
    );
  }

  /** Checks all actions, and writes them to their places. */
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

  /** Counts the environments of groups. */
  copiesIn(groups: readonly number[]): number {
    return groups.reduce((sum, it) => sum + this.#groups[it].numEnvs, 0);
  }

  /**
   * Returns the first groups that have so many environments together, if they
   * do.
   */
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

  /** Gathers the rows of groups, one group after the other. */
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
      const { observationSpace } = this.#spaces;
      step = {
        copies: new Int32Array(count),
        ...allocateStep(observationSpace, count),
      };
      this.#steps.set(count, step);
    }
    return step;
  }
}
