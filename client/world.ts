import type { RandomSource, Space } from "@bellman/types";
import type { GameValue } from "./rows.ts";

/** Numbers, texts and flags of a game that a trainer sets, by name. */
export type GameParameters = Readonly<Record<string, unknown>>;

/** Space as plain data: in a field of a class `type` is any text to TypeScript. */
export type GameSpace = Space | { readonly type: string };

/** What an episode begins with. */
export interface GameReset {
  /**
   * Seed, for a game with random numbers of its own; only with the first episode.
   *
   * @default none: the streams continue
   */
  readonly seed?: number;
  /** Seeded stream of the world, which snapshots hold; `Math.random` they cannot. */
  readonly random: RandomSource;
  /** Parameters of this episode; none where the trainer sets none. */
  // deno-lint-ignore no-explicit-any
  readonly parameters: Readonly<Record<string, any>>;
}

/** Result of a step. Of a world with `agents` each is a list, in their order. */
export interface GameStep {
  /** Observation after the step, the last one where the episode ended. */
  readonly observation: GameValue;
  /** Reward of the step. */
  readonly reward: number | ArrayLike<number>;
  /** True if the episode ended by the rules. */
  readonly terminated: boolean | readonly boolean[];
  /** True if it was cut off, as by a time limit. */
  readonly truncated: boolean | readonly boolean[];
  /**
   * First observation of an agent that is reborn while its world goes on.
   *
   * @default the world is reset
   */
  readonly next?: GameValue | readonly (GameValue | undefined)[];
}

/** Step that a person made. */
export interface WatchedStep extends GameStep {
  /** The action that was taken. */
  readonly action: GameValue;
}

/**
 * A world of a game that an agent learns in; an `Env` of `@bellman/envs` is one, too.
 * Where a function gives a promise, it is waited for: a game at its own pace settles it
 * some frames later.
 */
export interface GameWorld {
  /** Space of an observation. */
  readonly observationSpace: GameSpace;
  /** Space of an action. */
  readonly actionSpace: GameSpace;
  /**
   * Number of agents, which act side by side with one policy.
   *
   * @default none: one, whose values are in no lists
   */
  readonly agents?: number;
  /**
   * Name, limit of steps and what return solves it.
   *
   * @default none
   */
  readonly spec?: object;
  /**
   * Steps per second for people.
   *
   * @default unknown
   */
  readonly framesPerSecond?: number;
  /** Starts an episode, and returns the first observation. */
  reset(options: GameReset): GameValue | Promise<GameValue>;
  /** Takes one step. */
  // deno-lint-ignore no-explicit-any
  step(action: any): GameStep | Promise<GameStep>;
  /** Returns 1 or 0 for each choice of an action; all are allowed where it is missing. */
  actionMasks?(): ArrayLike<number> | readonly ArrayLike<number>[];
  /**
   * Saves the state. A world without this is restored by its random stream and the
   * actions of its episode, which are played again.
   */
  save?(): unknown;
  /** Restores a state that `save` returned. */
  // deno-lint-ignore no-explicit-any
  load?(state: any): void | Promise<void>;
  /** Takes a step by a person's own action, when there is one. */
  watch?(): Promise<WatchedStep>;
  /** Frees what it holds. */
  close?(): void;
}
