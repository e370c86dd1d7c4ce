import type { EnvSpec } from "./env.ts";
import type { Snapshot } from "./snapshot.ts";
import type { BoxArray, Space } from "./space.ts";

/**
 * Values of a space, one for each copy: a flat row-major array
 * `[numEnvs, ...shape]` for a leaf space, a record or a list of batches for a
 * dict or a tuple.
 */
export type Batch = BoxArray | { [key: string]: Batch } | Batch[];

/** An episode that has ended. */
export interface EpisodeStatistics {
  /** Which copy it ran in. */
  readonly env: number;
  /** The sum of its rewards, before any scaling. */
  readonly return: number;
  /** Its number of steps. */
  readonly length: number;
  /** Whether it ended by the task's own rules, not by a time limit. */
  readonly terminated: boolean;
  /** The return of each life of a game that has some; their sum is `return`. */
  readonly lifeReturns?: readonly number[];
}

/**
 * What one step of all copies returns. The object and its arrays are reused by
 * the next step: copy what is to be kept.
 */
export interface VecStep {
  /** What is seen now: of a copy that ended, the next episode's first. */
  readonly observations: Batch;
  /** The rewards, `[numEnvs]`. */
  readonly rewards: Float64Array;
  /** 1 where the episode ended by the task's own rules, `[numEnvs]`. */
  readonly terminated: Uint8Array;
  /** 1 where the episode was cut off, `[numEnvs]`. */
  readonly truncated: Uint8Array;
  /** The last observation of the episodes that ended; other rows are stale. */
  readonly finalObservations: Batch;
  /**
   * The episodes that ended in this step, where they are recorded. An environment
   * that records its own may count otherwise than in rows that ended: a game has
   * several lives.
   */
  readonly episodes?: readonly EpisodeStatistics[];
  /**
   * Copies whose host failed in this step: it is the failure that cut their
   * episodes off.
   */
  readonly lost?: readonly number[];
}

/** How a vector environment starts its episodes. */
export interface VecResetOptions {
  /**
   * Starts every copy's random stream anew: a number gives copy `i` the seed
   * `deriveSeed(seed, i)`, a list of `numEnvs` numbers gives each its own.
   *
   * @default none: the streams go on
   */
  seed?: number | readonly number[];
  /**
   * Whether a copy whose host fails begins again with the same seed, as where
   * its episodes are to be compared. Otherwise it goes on with a new one.
   *
   * @default false
   */
  keepSeeds?: boolean;
}

/**
 * Several copies of one environment, stepped together. A copy whose episode
 * ended is reset in the same step, so that each row of each step is a real
 * transition.
 */
export interface VecEnv {
  /** How many copies there are. */
  readonly numEnvs: number;
  /** What one copy's observations can be. */
  readonly observationSpace: Space;
  /** What one copy's actions can be. */
  readonly actionSpace: Space;
  /** What is known of it, if it was made by name. */
  readonly spec?: EnvSpec;
  /**
   * Frames that an observation stacks along its last axis, oldest first, the
   * first one of an episode repeated: who keeps observations may keep each frame
   * once.
   *
   * @default none
   */
  readonly stackedFrames?: number;
  /**
   * Starts an episode in every copy.
   *
   * @param options A seed starts every copy's random stream anew; without one
   * they go on, from those of seed 0 if there never was one.
   * @returns The first observations; reused by the next step.
   */
  reset(options?: VecResetOptions): Batch;
  /**
   * Takes one step in every copy.
   *
   * @param actions One action for each copy.
   * @returns What came of it; reused by the next step.
   */
  step(actions: Batch): VecStep;
  /**
   * The whole state of all copies, random streams included.
   *
   * @returns Plain data that later steps do not change.
   */
  snapshot(): Snapshot;
  /**
   * Goes on exactly from a snapshot.
   *
   * @param snapshot What `snapshot` returned.
   */
  restore(snapshot: Snapshot): void;
  /**
   * The observations that were returned last, also after `restore`.
   *
   * @returns The batch; reused by the next step.
   */
  observations(): Batch;
  /** Frees what the copies hold. */
  close(): void;
}
