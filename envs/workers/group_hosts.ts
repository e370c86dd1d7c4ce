import type {
  Batch,
  EnvSpec,
  EpisodeStatistics,
  Space,
  StateTree,
} from "@bellman/types";

/**
 * Copies `first` up to and without `first + numEnvs` of a vector environment:
 * those that one host steps together.
 */
export interface GroupRange {
  /** The first copy. */
  readonly first: number;
  /** How many copies. */
  readonly numEnvs: number;
}

/**
 * Where the numbers of a group's steps stand: its rows of the arrays of the
 * whole vector environment, in shared memory.
 */
export interface GroupArrays {
  /** What is done next: written by the caller. */
  readonly actions: Batch;
  /** What is seen now: written by the host, as is the rest. */
  readonly observations: Batch;
  /** The rewards. */
  readonly rewards: Float64Array;
  /** 1 where an episode ended by the task's own rules. */
  readonly terminated: Uint8Array;
  /** 1 where an episode was cut off. */
  readonly truncated: Uint8Array;
  /** The last observations of the episodes that ended. */
  readonly finalObservations: Batch;
}

/**
 * What a host is asked to do:
 *
 * - `open`: make its copies and tell their spaces;
 * - `reset`: start episodes, with one seed for each copy where there are seeds;
 * - `step`: take the group's `actions`;
 * - `save`: tell the state of its copies;
 * - `load`: go on from such a state.
 */
export type GroupCommand =
  | { readonly type: "open" }
  | { readonly type: "reset"; readonly seeds?: readonly number[] }
  | { readonly type: "step" }
  | { readonly type: "save" }
  | { readonly type: "load"; readonly snapshot: StateTree };

/**
 * What a host answered; each command has its own part. The numbers of `reset`
 * and `step` are in the group's arrays by then.
 */
export interface GroupAnswer {
  /** To `open`: the spaces of one copy, and what is known of it. */
  readonly opened?: {
    /** What observations can be. */
    readonly observationSpace: Space;
    /** What actions can be. */
    readonly actionSpace: Space;
    /** What is known of the environment, if it was made by name. */
    readonly spec?: EnvSpec;
    /** Frames that an observation stacks, where they can be shared. */
    readonly stackedFrames?: number;
  };
  /** To `save`: the state of the copies. */
  readonly snapshot?: StateTree;
  /**
   * To `step`, where the hosted copies record their episodes themselves: those
   * that ended, with copies counted from the group's first.
   */
  readonly episodes?: readonly EpisodeStatistics[];
}

/**
 * What steps the groups of a {@linkcode HostedVecEnv}: threads, processes,
 * programs in other languages. One command at a time is under way in a group.
 */
export interface GroupHosts {
  /** Which copies each group has. */
  readonly groups: readonly GroupRange[];
  /**
   * Starts the host of a group, in the place of the one before where there is
   * one: nothing of that arrives any more. It does not wait.
   *
   * @param group Which group.
   */
  start(group: number): void;
  /**
   * Says where the numbers of each group go, once, before the first `reset`.
   *
   * @param arrays The arrays of each group.
   */
  attach(arrays: readonly GroupArrays[]): void;
  /**
   * Asks a group to do something. It neither waits nor throws where the host
   * has died: {@linkcode GroupHosts.finish} tells that.
   *
   * @param group Which group.
   * @param command What to do.
   */
  begin(group: number, command: GroupCommand): void;
  /**
   * How long a command may take, where that is not as long as a step may.
   *
   * @param group Which group.
   * @param command What it was asked.
   * @returns How many times the time-out of a step; 1 where this is left out.
   */
  patience?(group: number, command: GroupCommand): number;
  /**
   * Waits until groups are ready: their hosts have answered, or died.
   *
   * @param groups Which groups; each was asked something.
   * @param options How many of them, and how long to wait in milliseconds.
   * @returns Those that are ready, the first one first; fewer than wanted when
   * the time is up.
   */
  waitFor(
    groups: readonly number[],
    options: { count: number; timeoutMs: number },
  ): readonly number[];
  /**
   * Ends a command. Of a group that is not ready nothing arrives afterwards.
   *
   * @param group Which group.
   * @returns What the host answered.
   * @throws {HostFailure} If it threw, died, or has not answered.
   */
  finish(group: number): GroupAnswer;
  /**
   * What a host has printed, as far as that is known.
   *
   * @param group Which group.
   * @returns The last of it.
   */
  output(group: number): string;
  /** Ends all hosts; nothing is left of them. */
  close(): void;
}

/**
 * Divides copies among groups as evenly as possible, in their order; the first
 * groups have one more where it does not come out even.
 *
 * @param numEnvs How many copies.
 * @param groups How many groups.
 * @returns The copies of each group.
 * @throws {RangeError} If one is not a whole number of at least 1, or there are
 * more groups than copies.
 * @example
 * ```ts
 * import { splitCopies } from "@bellman/envs/workers";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(splitCopies(5, 2), [
 *   { first: 0, numEnvs: 3 },
 *   { first: 3, numEnvs: 2 },
 * ]);
 * ```
 */
export function splitCopies(numEnvs: number, groups: number): GroupRange[] {
  for (const [count, what] of [[numEnvs, "copies"], [groups, "groups"]]) {
    if (Number.isSafeInteger(count) && count as number >= 1) continue;
    throw new RangeError(
      `Cannot host ${count} ${what}: expected a whole number of at least 1`,
    );
  }
  if (groups > numEnvs) {
    throw new RangeError(
      `Cannot host ${numEnvs} copies in ${groups} groups: expected at most one group a copy`,
    );
  }
  return Array.from({ length: groups }, (_, group) => {
    const first = Math.ceil(group * numEnvs / groups);
    const end = Math.ceil((group + 1) * numEnvs / groups);
    return { first, numEnvs: end - first };
  });
}
