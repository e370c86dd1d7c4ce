/**
 * The interfaces that Bellman's packages meet in. Types only: importing this
 * loads nothing.
 *
 * An environment ({@linkcode Env}) runs alone or as one of several
 * ({@linkcode VecEnv}); an {@linkcode Trainable} acts in them and learns from
 * each {@linkcode VecStep}; an {@linkcode Actor} only acts. Stateful objects return
 * their state as a {@linkcode StateTree} from `save` and restore it by `load`.
 *
 * @example
 * ```ts
 * import type { Actor } from "@bellman/types";
 * import { assertEquals } from "@std/assert";
 *
 * const still: Actor = { act: () => new Float32Array(2) };
 * assertEquals(await still.act([]), new Float32Array(2));
 * ```
 *
 * @module
 */

/** Typed arrays that a {@linkcode StateTree} may hold. */
export type StateArray =
  | Float32Array
  | Float64Array
  | Int32Array
  | Uint32Array
  | Uint8Array;

/**
 * State that can be saved: plain values, typed arrays, and lists and records of
 * them. It shares no memory with the object that returned it.
 */
export type StateTree =
  | null
  | boolean
  | number
  | string
  | StateArray
  | StateTree[]
  | { [key: string]: StateTree };

/** Seeded stream of random numbers. */
export interface RandomSource {
  /** Draws from the uniform distribution on [0, 1). */
  uniform(): number;
  /** Draws from the normal distribution with mean 0 and variance 1. */
  normal(): number;
  /** Draws a whole number from 0 to `n - 1`. */
  integer(n: number): number;
}

/** Element types of a box. */
export type BoxDtype = "float32" | "float64" | "int32" | "uint8";

/** Typed arrays that hold the values of a box. */
export type BoxArray = Float32Array | Float64Array | Int32Array | Uint8Array;

/** Whole numbers from `start` to `start + n - 1`. */
export interface DiscreteSpace {
  /** Kind of space. */
  readonly type: "discrete";
  /** Number of values, at least 1. */
  readonly n: number;
  /**
   * Smallest value.
   *
   * @default 0
   */
  readonly start?: number;
}

/** Arrays of numbers between bounds, row-major. */
export interface BoxSpace {
  /** Kind of space. */
  readonly type: "box";
  /** Length of each axis; empty for a single number. */
  readonly shape: readonly number[];
  /** Lower bound of every element, or of each; `-Infinity` for none. */
  readonly low: number | readonly number[];
  /** Upper bound of every element, or of each; `Infinity` for none. */
  readonly high: number | readonly number[];
  /** Element type. */
  readonly dtype: BoxDtype;
}

/** Several whole numbers, the i-th from 0 to `nvec[i] - 1`. */
export interface MultiDiscreteSpace {
  /** Kind of space. */
  readonly type: "multiDiscrete";
  /** Number of values of each. */
  readonly nvec: readonly number[];
}

/** Several numbers that are 0 or 1. */
export interface MultiBinarySpace {
  /** Kind of space. */
  readonly type: "multiBinary";
  /** Number of bits. */
  readonly n: number;
}

/** Spaces by name. */
export interface DictSpace {
  /** Kind of space. */
  readonly type: "dict";
  /** Spaces by name; flattening takes them in this order. */
  readonly spaces: Readonly<Record<string, Space>>;
}

/** Spaces in order. */
export interface TupleSpace {
  /** Kind of space. */
  readonly type: "tuple";
  /** Spaces in order. */
  readonly spaces: readonly Space[];
}

/** Set of possible observations or actions, as plain data, distinguished by `type`. */
export type Space =
  | DiscreteSpace
  | BoxSpace
  | MultiDiscreteSpace
  | MultiBinarySpace
  | DictSpace
  | TupleSpace;

/**
 * One value of a space: a number (discrete), a typed array (box, `Int32Array`
 * for multi-discrete, `Uint8Array` for multi-binary), a record (dict) or a list
 * (tuple).
 */
export type SpaceValue =
  | number
  | BoxArray
  | { readonly [key: string]: SpaceValue }
  | readonly SpaceValue[];

/**
 * Values of a space, one for each environment: a flat row-major array
 * `[numEnvs, ...shape]`, or a record or list of batches (dict, tuple).
 */
export type Batch = BoxArray | { [key: string]: Batch } | Batch[];

/** Metadata of a registered environment. */
export interface EnvSpec {
  /** Name and version, such as `CartPole-v1`. */
  readonly id: string;
  /** Steps after which an episode is truncated. */
  readonly maxEpisodeSteps?: number;
  /** Mean return from which the environment counts as solved. */
  readonly rewardThreshold?: number;
  /**
   * True where observations may lie outside their space's bounds, as in many
   * environments of Gymnasium.
   *
   * @default false
   */
  readonly looseBounds?: boolean;
  /**
   * Entries of `info` that are recorded for each episode.
   *
   * @default []
   */
  readonly infoStatistics?: readonly string[];
}

/** Result of one step. */
export interface StepResult<O extends SpaceValue = SpaceValue> {
  /** Observation after the step; at an end, the episode's last one. */
  readonly observation: O;
  /** Reward of the step. */
  readonly reward: number;
  /** True where the episode reached an end state of the task. */
  readonly terminated: boolean;
  /** True where the episode was truncated, as by a time limit. */
  readonly truncated: boolean;
  /** Additional data by name. */
  readonly info?: Readonly<Record<string, unknown>>;
}

/** Image: three bytes a pixel (red, green, blue), row by row. */
export interface RgbImage {
  /** Pixels in a row. */
  readonly width: number;
  /** Number of rows. */
  readonly height: number;
  /** `width * height * 3` bytes. */
  readonly data: Uint8Array;
}

/** Size of an image; each environment has its own default. */
export interface RenderOptions {
  /** Pixels in a row. */
  width?: number;
  /** Number of rows. */
  height?: number;
}

/**
 * Functions of a goal-conditioned environment, whose observations are dicts with
 * `observation`, `achieved_goal` and `desired_goal`.
 */
export interface GoalFunctions {
  /**
   * Returns rewards of steps after which goals were achieved where others were desired,
   * both `[rows, ...]`: `[rows]`.
   *
   * @default the environment has no goals
   */
  computeReward?(achieved: BoxArray, desired: BoxArray): ArrayLike<number>;
  /**
   * Returns 1 where such a step reaches an end state of the task, else 0: `[rows]`.
   *
   * @default ends do not depend on goals
   */
  computeTerminated?(achieved: BoxArray, desired: BoxArray): ArrayLike<number>;
}

/** One environment. The observations that it returns belong to the caller. */
export interface Env<
  O extends SpaceValue = SpaceValue,
  A extends SpaceValue = SpaceValue,
> extends GoalFunctions {
  /** Space of observations. */
  readonly observationSpace: Space;
  /** Space of actions. */
  readonly actionSpace: Space;
  /** Its metadata, if it was made by name. */
  readonly spec?: EnvSpec;
  /**
   * Frames that an observation stacks along its last axis, oldest first, with
   * the first one of an episode repeated: buffers may store each frame once.
   *
   * @default none
   */
  readonly stackedFrames?: number;
  /**
   * Current scale of its observations, where a wrapper scales them: a policy that
   * is exported applies it to unscaled observations.
   *
   * @default none
   */
  readonly observationScaling?: ObservationScaling;
  /**
   * Steps per second for playback in real time.
   *
   * @default unknown
   */
  readonly framesPerSecond?: number;
  /**
   * Starts an episode and returns its first observation. A seed restarts the
   * random stream; without one it continues, from seed 0 if there never was one.
   */
  reset(options?: { seed?: number }): O;
  /**
   * Takes one step. After a termination it throws or returns the same again,
   * until `reset`. The action's arrays may change after the call.
   */
  step(action: A): StepResult<O>;
  /**
   * Returns the actions that the newest observation allows, 1 or 0 for each choice of
   * each part of an action, side by side; for bits the choice of 0, then that of 1. The
   * array may be overwritten by the next step.
   *
   * @default all actions are allowed
   */
  actionMasks?(): Uint8Array;
  /** Saves the whole state, random stream included. */
  save(): StateTree;
  /** Restores a state that `save` returned. */
  load(state: StateTree): void;
  /** Renders the current state. */
  render(options?: RenderOptions): RgbImage;
  /** Frees the environment's resources. */
  close(): void;
}

/** Statistics of an entry of `info` over the steps of an episode that have it. */
export interface InfoStatistic {
  /** Sum over these steps. */
  readonly sum: number;
  /** Mean over these steps. */
  readonly mean: number;
  /** Last value. */
  readonly last: number;
}

/** Statistics of an episode that ended. */
export interface EpisodeStatistics {
  /** Index of its environment, 0 to `numEnvs - 1`. */
  readonly env: number;
  /** Sum of its rewards, before any scaling. */
  readonly return: number;
  /** Number of its steps. */
  readonly length: number;
  /** True where it reached an end state, false where it was truncated. */
  readonly terminated: boolean;
  /** Return of each life of a game that has several; their sum is `return`. */
  readonly lifeReturns?: readonly number[];
  /** Statistics of recorded entries of the environment's `info` that a step had, by name. */
  readonly infoStatistics?: Readonly<Record<string, InfoStatistic>>;
  /** Line on recorded entries that no step had, once for each of them. */
  readonly notice?: string;
}

/**
 * Step of all environments. The object and its arrays are reused by the next
 * step: copy what is to be kept.
 */
export interface VecStep {
  /** Observations; rows that ended hold the first of the next episode. */
  readonly observations: Batch;
  /** Rewards `[numEnvs]`. */
  readonly rewards: Float64Array;
  /** 1 where the episode reached an end state, `[numEnvs]`. */
  readonly terminated: Uint8Array;
  /** 1 where the episode was truncated, `[numEnvs]`. */
  readonly truncated: Uint8Array;
  /** Last observations of the episodes that ended; other rows are stale. */
  readonly finalObservations: Batch;
  /** Actions that `observations` allow, where the environment masks some. */
  readonly actionMasks?: Uint8Array;
  /** Actions that `finalObservations` allow, of the episodes that ended. */
  readonly finalActionMasks?: Uint8Array;
  /**
   * Episodes that ended, where the environment records them. It may count them
   * otherwise than in rows that ended: a game has several lives.
   */
  readonly episodes?: readonly EpisodeStatistics[];
  /** Environments that failed in this step, which truncated their episodes. */
  readonly lost?: readonly number[];
}

/** Options of {@linkcode VecEnv.reset}. */
export interface VecResetOptions {
  /**
   * Seed that restarts every random stream: environment `i` gets
   * `deriveSeed(seed, i)`, or the i-th number of a list.
   *
   * @default none: the streams continue
   */
  seed?: number | readonly number[];
  /**
   * Restart a failed environment with the same seed instead of a new one, for
   * comparable episodes.
   *
   * @default false
   */
  keepSeeds?: boolean;
}

/**
 * Several environments that are stepped together. An environment is reset in the step
 * that ends its episode, so that each row of each step is a real transition.
 */
export interface VecEnv extends GoalFunctions {
  /** Number of environments. */
  readonly numEnvs: number;
  /** Space of one environment's observations. */
  readonly observationSpace: Space;
  /** Space of one environment's actions. */
  readonly actionSpace: Space;
  /** Facts about the environment, if it was made by name. */
  readonly spec?: EnvSpec;
  /** Frames that an observation stacks; see {@linkcode Env.stackedFrames}. */
  readonly stackedFrames?: number;
  /** Current scale of its observations; see {@linkcode Env.observationScaling}. */
  readonly observationScaling?: ObservationScaling;
  /**
   * Actions that the newest observations allow, after `load` too, `[numEnvs, choices]`;
   * see {@linkcode Env.actionMasks}. There before the first `reset`, if at all.
   *
   * @default all actions are allowed
   */
  readonly actionMasks?: Uint8Array;
  /** Starts an episode in each environment and returns the first observations. */
  reset(options?: VecResetOptions): Batch;
  /** Steps each environment with its row of `actions`. */
  step(actions: Batch): VecStep;
  /** Saves the state of all environments, random streams included. */
  save(): StateTree;
  /** Restores a state that `save` returned. */
  load(state: StateTree): void;
  /** Returns the latest observations, after `load` too. */
  observations(): Batch;
  /** Frees the environments' resources. */
  close(): void;
}

/** Value now, or a promise of it. */
export type Awaitable<T> = T | Promise<T>;

/** Something that chooses actions, as evaluation sees it. */
export interface Actor {
  /** Number of environments that it acts in, where it is made for one. */
  readonly numEnvs?: number;
  /** Chooses actions, of those that are allowed, one row for each environment. */
  act(observations: Batch, actionMasks?: Uint8Array): Awaitable<Batch>;
  /** Records each step, so that recurrent actors reset the rows that ended. */
  observe?(step: VecStep): void;
  /** Empties its memory, as the environments are reset: `evaluate` calls it. */
  endEpisodes?(): void;
  /** Frees the actor's resources. */
  close?(): void;
}

/** Options of {@linkcode Trainable.policy}. */
export interface PolicyOptions {
  /**
   * Take the most likely action instead of sampling one.
   *
   * @default false
   */
  deterministic?: boolean;
  /**
   * Number of environments that the actor acts for.
   *
   * @default that of the training environments
   */
  numEnvs?: number;
  /**
   * Seed of the actor's own random stream.
   *
   * @default 0
   */
  seed?: number;
}

/** Scale of observations: `clip((x - mean) / sqrt(variance + epsilon))`. */
export interface ObservationScaling {
  /**
   * Parts of a dict that are scaled: their numbers lie side by side in this order.
   *
   * @default the whole observation is scaled
   */
  readonly parts?: readonly string[];
  /** Mean of each number of an observation. */
  readonly mean: ArrayLike<number>;
  /** Variance of each number. */
  readonly variance: ArrayLike<number>;
  /**
   * Type of the observations before they are scaled.
   *
   * @default "float32"
   */
  readonly dtype?: BoxSpace["dtype"];
  /**
   * Number added to the variance, inside the root.
   *
   * @default 1e-8
   */
  readonly epsilon?: number;
  /**
   * Largest absolute value of a scaled number.
   *
   * @default 10
   */
  readonly clip?: number;
}

/** Options of {@linkcode Trainable.exportPolicy}. */
export interface PolicyExport {
  /**
   * Scaling of observations in training.
   *
   * @default that of the agent or of its environment
   */
  readonly scaling?: ObservationScaling;
  /**
   * Observations that the file takes at once.
   *
   * @default any number
   */
  readonly batchSize?: number;
  /**
   * Take the likeliest action instead of one that an input `noise` chooses.
   *
   * @default true
   */
  readonly deterministic?: boolean;
  /**
   * Metadata of the file, as text by key.
   *
   * @default {}
   */
  readonly metadata?: Readonly<Record<string, string>>;
}

/** Named numbers that describe an update. */
export type Statistics = Record<string, number>;

/** Titles of an algorithm's statistics, then their aliases, by name. */
export type StatisticTitles = Readonly<
  Record<string, readonly [title: string, ...aliases: string[]]>
>;

/** Rows of saved states that are stored in a file. */
export interface SavedRows {
  /**
   * Locates the rows of a saved state.
   *
   * @param state State that `Trainable.save` returned.
   * @returns Plain data; undefined where the state holds all rows.
   */
  of(state: StateTree): StateTree | undefined;
  /**
   * Keeps rows, and reuses the space of all others. The training loop passes those of
   * all checkpoints.
   *
   * @param rows Results of `of`.
   */
  keep(rows: readonly StateTree[]): void;
}

/** An agent as the training loop sees it. */
export interface Trainable {
  /**
   * Chooses the actions to take in training, of those that are allowed, one row for
   * each environment.
   */
  act(observations: Batch, actionMasks?: Uint8Array): Awaitable<Batch>;
  /**
   * Records the step that followed the last actions; copies what it keeps.
   *
   * @throws {RangeError} If a number in it is not finite; nothing is recorded then.
   */
  observe(step: VecStep): void;
  /**
   * Learns from what was observed. Called after each step.
   *
   * @returns The update's statistics, or `undefined` while there is too little data.
   */
  update(): Awaitable<Statistics | undefined>;
  /**
   * Updates that the last call of `update` represents.
   *
   * @default 1
   */
  readonly updatesInCall?: number;
  /**
   * Ends the episodes that run, as the environments are reset: the last step of each
   * is truncated, with the observation that it led to, and recurrent memory is empty.
   * The training loop calls it before it resets the environments, and when it is done.
   */
  endEpisodes?(): void;
  /** Saves parameters, optimizer, counters, random streams and buffers. */
  save(): StateTree;
  /** Restores a state that `save` returned. */
  load(state: StateTree): void;
  /** Rows that saved states refer to, such as a replay buffer in a file. */
  readonly rows?: SavedRows;
  /** Returns an actor with the current parameters and its own random stream. */
  policy(options?: PolicyOptions): Actor;
  /** Writes the current policy as the bytes of an ONNX file. */
  exportPolicy?(options?: PolicyExport): Uint8Array;
  /** Frees the algorithm's resources. The training loop does not call it. */
  close?(): void;
}

/** Steps that a {@linkcode SteppingAlgorithm} took. */
export interface StepsTaken {
  /** Number of the steps, of all environments. */
  readonly steps: number;
  /** Episodes that ended in them. */
  readonly episodes: readonly EpisodeStatistics[];
}

/**
 * Trainable that steps its own environments, in workers or in one program with its
 * updates: the training loop gets none.
 */
export interface SteppingAlgorithm
  extends Omit<Trainable, "act" | "observe" | "endEpisodes"> {
  /** Takes steps and learns from them; `update` then returns the statistics. */
  advance(): StepsTaken;
}
