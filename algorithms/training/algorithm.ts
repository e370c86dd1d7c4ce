import type { StateTree, TypedArray } from "./state_tree.ts";

/**
 * A value now, or a promise of it. Sources that can answer at once should: the
 * training loop then does not wait.
 *
 * @typeParam T The value.
 */
export type Awaitable<T> = T | Promise<T>;

/**
 * A batch of observations or actions, one row per environment copy: a flat
 * row-major array `[numEnvs, ...shape]`, or a record or list of batches.
 */
export type Batch = TypedArray | { [key: string]: Batch } | Batch[];

/** Named numbers that describe an update. */
export type Statistics = Record<string, number>;

/** An episode that ended in one copy of the environment. */
export interface EpisodeEnd {
  /** Which copy, 0 to `numEnvs - 1`. */
  readonly env: number;
  /** Sum of the rewards of the episode. */
  readonly return: number;
  /** Number of steps of the episode. */
  readonly length: number;
  /** True where it reached an end state, false where it was cut short. */
  readonly terminated: boolean;
  /** The return of each life of a game that has some; their sum is `return`. */
  readonly lifeReturns?: readonly number[];
}

/**
 * What one step of all environment copies gives. The arrays may be reused by the next step.
 */
export interface VecStepLike {
  /** Observations after the step; rows that ended hold the first observation of the next episode. */
  readonly observations: Batch;
  /** Rewards, `[numEnvs]`. */
  readonly rewards: Float64Array;
  /** 1 where the episode reached an end state, `[numEnvs]`. */
  readonly terminated: Uint8Array;
  /** 1 where the episode was cut short, `[numEnvs]`. */
  readonly truncated: Uint8Array;
  /** True last observations; a row is valid where the episode ended. */
  readonly finalObservations: Batch;
  /** Episodes that ended in this step; left out when the environment does not record them. */
  readonly episodes?: readonly EpisodeEnd[];
  /** Copies that failed in this step, which cut their episodes off; left out where none did. */
  readonly lost?: readonly number[];
}

/** The members of a vector environment that training and evaluation need. */
export interface VecEnvLike {
  /** Number of copies. */
  readonly numEnvs: number;
  /**
   * Starts an episode in each copy; without a seed the random streams continue.
   * With `keepSeeds` copies that fail begin again with the same seed.
   */
  reset(options?: { seed?: number; keepSeeds?: boolean }): Batch;
  /** Steps each copy with its row of `actions`; ended copies are reset at once. */
  step(actions: Batch): VecStepLike;
  /** The state of all copies with their random streams. */
  snapshot(): StateTree;
  /** Continues from a state that `snapshot` gave. */
  restore(state: StateTree): void;
  /** The current observations; valid after `restore` too. */
  observations(): Batch;
  /** Releases what the environment holds. */
  close(): void;
}

/** Something that chooses actions: a policy as evaluation sees it. */
export interface Actor {
  /** The actions for a batch of observations, one row per environment copy. */
  act(observations: Batch): Awaitable<Batch>;
  /** Told of each step, so that recurrent actors can reset the rows that ended. */
  observe?(step: VecStepLike): void;
  /** Releases what the actor holds. */
  close?(): void;
}

/** How {@link Algorithm.policy} makes an actor. */
export interface PolicyOptions {
  /**
   * Take the most likely action instead of sampling one.
   *
   * @default false
   */
  deterministic?: boolean;
  /**
   * Number of environment copies that the actor will act for.
   *
   * @default that of the training environment
   */
  numEnvs?: number;
  /**
   * Seed of the actor's own random stream.
   *
   * @default 0
   */
  seed?: number;
}

/** What the training loop needs of an algorithm. */
export interface Algorithm {
  /** The actions to take in training, one row per environment copy. */
  act(observations: Batch): Awaitable<Batch>;
  /**
   * Takes in the step that followed the last actions; must copy what it keeps.
   * `train` has looked at it with `checkStep`; an algorithm that is used without
   * does so itself.
   */
  observe(step: VecStepLike): void;
  /**
   * Learns from what was observed. Called after each step.
   *
   * @returns The update's statistics, or `undefined` when there is not enough data yet.
   */
  update(): Awaitable<Statistics | undefined>;
  /** Everything needed to continue: parameters, optimizer, counters, random streams, half-filled buffers. */
  save(): StateTree;
  /** Continues from a state that `save` gave. */
  restore(state: StateTree): void;
  /** An actor with the present parameters, for evaluation; it shares no random stream with training. */
  policy(options?: PolicyOptions): Actor;
  /**
   * The present policy as a file that other programs can act with.
   *
   * @returns The bytes of an ONNX file.
   */
  exportPolicy?(options?: PolicyExport): Uint8Array;
  /** Releases what the algorithm holds. The training loop does not call it. */
  close?(): void;
}

/** How {@link Algorithm.exportPolicy} writes a policy. */
export interface PolicyExport {
  /**
   * How observations were scaled in training:
   * `clip((x - mean) / sqrt(variance + epsilon))`.
   *
   * @default not at all
   */
  readonly scaling?: {
    readonly mean: ArrayLike<number>;
    readonly variance: ArrayLike<number>;
    readonly epsilon?: number;
    readonly clip?: number;
  };
  /**
   * Observations that the file takes at once.
   *
   * @default 1
   */
  readonly batchSize?: number;
  /**
   * Take the likeliest action instead of one that an input `noise` chooses.
   *
   * @default true
   */
  readonly deterministic?: boolean;
  /**
   * Text by key that the file holds for its readers.
   *
   * @default {}
   */
  readonly metadata?: Readonly<Record<string, string>>;
}
