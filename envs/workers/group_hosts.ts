import type {
  Batch,
  BoxArray,
  EnvParameters,
  EnvSpec,
  EpisodeStatistics,
  GoalFunctions,
  Space,
  StateTree,
} from "@bellman/types";

/**
 * Environments `first` up to and without `first + numEnvs` of a vector environment:
 * those that one host steps together.
 */
export interface EnvSlice {
  /** The first environment. */
  readonly first: number;
  /** Number of environments. */
  readonly numEnvs: number;
}

/**
 * Arrays of the numbers of a group's steps: its rows of the arrays of the whole
 * vector environment, in shared memory.
 */
export interface GroupArrays {
  /** Next actions: written by the caller. */
  readonly actions: Batch;
  /** Present observations: written by the host, as is the rest. */
  readonly observations: Batch;
  /** The rewards. */
  readonly rewards: Float64Array;
  /** 1 where an episode ended by the task's own rules. */
  readonly terminated: Uint8Array;
  /** 1 where an episode was cut off. */
  readonly truncated: Uint8Array;
  /** The last observations of the episodes that ended. */
  readonly finalObservations: Batch;
  /** Actions that the present observations allow, where some are masked. */
  readonly actionMasks?: Uint8Array;
  /** Actions that the last observations of the episodes that ended allow. */
  readonly finalActionMasks?: Uint8Array;
}

/**
 * A command to a host:
 *
 * - `open`: make its environments and send their spaces;
 * - `reset`: start episodes, with one seed for each environment where there are
 * seeds;
 * - `step`: take the group's `actions`;
 * - `watch`: take a step in which people act, and write the actions that they took;
 * - `save`: send the state of its environments;
 * - `load`: continue from such a state;
 * - `parameters`: take values for the episodes that begin later;
 * - `goals`: send the results of a function of goals.
 */
export type GroupCommand =
  | { readonly type: "open" }
  | {
    readonly type: "reset";
    readonly seeds?: readonly number[];
    /** Values for these episodes, where some were set. */
    readonly parameters?: EnvParameters;
  }
  | { readonly type: "step" }
  | { readonly type: "watch" }
  | { readonly type: "save" }
  | { readonly type: "load"; readonly snapshot: StateTree }
  | { readonly type: "parameters"; readonly values: EnvParameters }
  | {
    readonly type: "goals";
    readonly name: keyof GoalFunctions;
    readonly achieved: BoxArray;
    readonly desired: BoxArray;
  };

/**
 * A host's answer; each command has its own part. The numbers of `reset` and
 * `step` are in the group's arrays by then.
 */
export interface GroupAnswer {
  /** To `open`: the spaces of one environment, and what is known of it. */
  readonly opened?: {
    /** Space of observations. */
    readonly observationSpace: Space;
    /** Space of actions. */
    readonly actionSpace: Space;
    /**
     * True where they mask actions.
     *
     * @default false
     */
    readonly masksActions?: boolean;
    /**
     * Functions of goals that they have.
     *
     * @default []
     */
    readonly goalFunctions?: readonly (keyof GoalFunctions)[];
    /** The registered specification, where it was made by name. */
    readonly spec?: EnvSpec;
    /** Frames that an observation stacks, where they can be shared. */
    readonly stackedFrames?: number;
    /** Names of the seats, of a game. */
    readonly seats?: readonly string[];
    /** Steps per second of its images, where they are known. */
    readonly framesPerSecond?: number;
  };
  /** To `save`: the state of the environments. */
  readonly snapshot?: StateTree;
  /** To `parameters`: those that no episode has looked at. */
  readonly unread?: readonly string[];
  /** To `goals`: a number for each row. */
  readonly results?: Float64Array;
  /**
   * To `step`, where the hosted environments record their episodes themselves:
   * those that ended, with environments counted from the group's first.
   */
  readonly episodes?: readonly EpisodeStatistics[];
}

/**
 * Hosts of the groups of a {@linkcode AsyncVecEnv}: threads, processes,
 * programs in other languages. A group has one command at a time.
 */
export interface WorkerBackend {
  /** Environments of each group. */
  readonly groups: readonly EnvSlice[];
  /**
   * Starts the host of a group, replacing the one before: nothing of that arrives
   * any more. It does not wait.
   *
   * @param group Number of the group.
   */
  start(group: number): void;
  /**
   * Sets the arrays of the numbers of each group, once, before the first `reset`.
   *
   * @param arrays The arrays of each group.
   */
  attach(arrays: readonly GroupArrays[]): void;
  /**
   * Sends a command to a group. It neither waits nor throws where the host has died:
   * {@linkcode WorkerBackend.finish} does.
   *
   * @param group Number of the group.
   * @param command The command.
   */
  begin(group: number, command: GroupCommand): void;
  /**
   * Returns the time for a command, where that is not as long as for a step.
   *
   * @param group Number of the group.
   * @param command The command.
   * @returns Multiple of the time-out of a step; 1 where this is left out.
   */
  patience?(group: number, command: GroupCommand): number;
  /**
   * Waits until groups are ready: their hosts have answered, or died.
   *
   * @param groups Numbers of the groups; each was sent a command.
   * @param timeoutMs Time to wait, in milliseconds.
   * @returns True if all are ready.
   */
  waitFor(groups: readonly number[], timeoutMs: number): boolean;
  /**
   * Ends a command. Of a group that is not ready nothing arrives afterwards.
   *
   * @param group Number of the group.
   * @returns The host's answer.
   * @throws {HostFailure} If it threw, died, or has not answered.
   */
  finish(group: number): GroupAnswer;
  /** Ends all hosts; nothing is left of them. */
  close(): void;
}

/**
 * Divides environments among groups as evenly as possible, in their order; the
 * first groups have one more where it does not come out even.
 *
 * @param numEnvs Number of environments.
 * @param groups Number of groups.
 * @returns The environments of each group.
 * @throws {RangeError} If one is not a whole number of at least 1, or there are
 * more groups than environments.
 * @example
 * ```ts
 * import { splitEnvs } from "@bellman/envs/workers";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(splitEnvs(5, 2), [
 *   { first: 0, numEnvs: 3 },
 *   { first: 3, numEnvs: 2 },
 * ]);
 * ```
 */
export function splitEnvs(numEnvs: number, groups: number): EnvSlice[] {
  for (const [count, what] of [[numEnvs, "environments"], [groups, "groups"]]) {
    if (Number.isSafeInteger(count) && count as number >= 1) continue;
    throw new RangeError(
      `Cannot host ${count} ${what}: expected a whole number of at least 1`,
    );
  }
  if (groups > numEnvs) {
    throw new RangeError(
      `Cannot host ${numEnvs} environments in ${groups} groups: expected at most one group for each environment`,
    );
  }
  return Array.from({ length: groups }, (_, group) => {
    const first = Math.ceil(group * numEnvs / groups);
    const end = Math.ceil((group + 1) * numEnvs / groups);
    return { first, numEnvs: end - first };
  });
}
