/**
 * Interfaces shared by Bellman's packages. Types only: importing this loads no code.
 *
 * An {@linkcode Env} is one environment, a {@linkcode VecEnv} several in parallel. A
 * {@linkcode Trainable} is an agent: it acts and learns from each {@linkcode VecStep};
 * an {@linkcode Actor} only acts; a {@linkcode World} has several seats. `save` returns
 * a saved state as a {@linkcode StateTree}, `load` restores it.
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
 * Saved state, as in a checkpoint: plain values, typed arrays, and lists and records of
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

/** Seeded random number generator. */
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

/**
 * Typed array of an element type.
 *
 * @typeParam D The element type.
 */
export type ArrayOf<D extends BoxDtype> = {
  float32: Float32Array;
  float64: Float64Array;
  int32: Int32Array;
  uint8: Uint8Array;
}[D];

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

/**
 * Arrays of numbers between bounds, row-major.
 *
 * @typeParam D Element type.
 */
export interface BoxSpace<D extends BoxDtype = BoxDtype> {
  /** Kind of space. */
  readonly type: "box";
  /** Length of each axis; empty for a single number. */
  readonly shape: readonly number[];
  /** Lower bound of every element, or of each; `-Infinity` for none. */
  readonly low: number | readonly number[];
  /** Upper bound of every element, or of each; `Infinity` for none. */
  readonly high: number | readonly number[];
  /** Element type. */
  readonly dtype: D;
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

/** Spaces by name, as Gymnasium's `Dict`. */
export interface DictSpace {
  /** Kind of space. */
  readonly type: "dict";
  /** Spaces by name; flattening takes them in this order. */
  readonly spaces: Readonly<Record<string, Space>>;
}

/** Spaces in order, as Gymnasium's `Tuple`. */
export interface TupleSpace {
  /** Kind of space. */
  readonly type: "tuple";
  /** Spaces in order. */
  readonly spaces: readonly Space[];
}

/** Set of possible observations or actions, as plain data; `type` tells which kind. */
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
 * Batch of observations or actions, one row for each environment: a flat row-major
 * array `[numEnvs, ...shape]`, or a record or list of batches (dict, tuple).
 */
export type Batch = BoxArray | { [key: string]: Batch } | Batch[];

/**
 * Batch of values of a space: `Int32Array` of numbers, and of arrays, records and
 * lists the same with one row for each environment.
 *
 * @typeParam V One value.
 */
export type BatchOf<V> = V extends number | Int32Array ? Int32Array
  : V extends Float32Array ? Float32Array
  : V extends Float64Array ? Float64Array
  : V extends Uint8Array ? Uint8Array
  : V extends object ? {
      -readonly [K in keyof V]: SpaceValue extends V[K] ? Batch : BatchOf<V[K]>;
    }
  : never;

/**
 * One value of a space.
 *
 * @typeParam S The space, such as `BoxSpace<"float32">`.
 */
export type ValueOf<S> = Space extends S ? SpaceValue
  : S extends DiscreteSpace ? number
  : S extends BoxSpace<infer D> ? ArrayOf<D>
  : S extends MultiDiscreteSpace ? Int32Array
  : S extends MultiBinarySpace ? Uint8Array
  : S extends DictSpace ? { readonly [key: string]: SpaceValue }
  : S extends TupleSpace ? readonly SpaceValue[]
  : never;

/**
 * Space of such values.
 *
 * @typeParam V One value, such as `Float32Array`.
 */
export type SpaceOf<V> = V extends number ? DiscreteSpace
  : V extends Float32Array ? BoxSpace<"float32">
  : V extends Float64Array ? BoxSpace<"float64">
  : V extends Int32Array ? BoxSpace<"int32"> | MultiDiscreteSpace
  : V extends Uint8Array ? BoxSpace<"uint8"> | MultiBinarySpace
  : V extends readonly unknown[] ? TupleSpace
  : DictSpace;

/**
 * Observations that an environment returns: one of an `Env`, a batch of a `VecEnv`.
 *
 * @typeParam E The environment.
 */
export type ObservationsOf<E> = E extends { reset(): infer O } ? O : never;

/**
 * Actions that an environment takes: one of an `Env`, a batch of a `VecEnv`, or of
 * spaces alone.
 *
 * @typeParam E The environment, or an object with its `actionSpace`.
 */
export type ActionsOf<E> = E extends { step(actions: infer A): unknown } ? A
  : E extends { readonly actionSpace: infer S } ? BatchOf<ValueOf<S>>
  : never;

/** Metadata of a registered environment. */
export interface EnvSpec {
  /** Name and version, such as `CartPole-v1`. */
  readonly id: string;
  /** Steps after which an episode is truncated. */
  readonly maxEpisodeSteps?: number;
  /** Mean return from which the environment counts as solved. */
  readonly rewardThreshold?: number;
  /**
   * True if observations may lie outside their space's bounds, as in many environments
   * of Gymnasium.
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

/**
 * Parameters of episodes by name: a number, text or flag, `[low, high]` to draw from in
 * each episode, or one of a list.
 */
export type EnvParameters = Readonly<Record<string, EnvParameter>>;

/** A value, a range, or a list. */
export type EnvParameter =
  | number
  | string
  | boolean
  | readonly [low: number, high: number]
  | { readonly oneOf: readonly (number | string | boolean)[] };

/** Result of one step. */
export interface StepResult<O extends SpaceValue = SpaceValue> {
  /** Observation after the step; the final observation where the episode ended. */
  readonly observation: O;
  /** Reward of the step. */
  readonly reward: number;
  /** True if the episode reached a terminal state. */
  readonly terminated: boolean;
  /** True if the episode was cut off, as by a time limit. */
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
   * Computes rewards from achieved and desired goals, both `[rows, ...]`, one for each
   * row `[rows]`.
   *
   * @default the environment has no goals
   */
  computeReward?(achieved: BoxArray, desired: BoxArray): ArrayLike<number>;
  /**
   * Returns 1 where the achieved goal terminates the episode, else 0: `[rows]`.
   *
   * @default ends do not depend on goals
   */
  computeTerminated?(achieved: BoxArray, desired: BoxArray): ArrayLike<number>;
}

/**
 * One environment. The observations that it returns belong to the caller.
 *
 * @typeParam O An observation.
 * @typeParam A An action.
 */
export interface Env<
  O extends SpaceValue = SpaceValue,
  A extends SpaceValue = SpaceValue,
> extends GoalFunctions {
  /** Observation space. */
  readonly observationSpace: Space;
  /** Action space. */
  readonly actionSpace: Space;
  /** Metadata, if the environment was made by its registered name. */
  readonly spec?: EnvSpec;
  /**
   * Number of frames stacked along an observation's last axis, oldest first; at the
   * start of an episode the first frame is repeated. Replay buffers may store each
   * frame once.
   *
   * @default none
   */
  readonly stackedFrames?: number;
  /**
   * Current observation scaling, where a wrapper normalizes observations: exported
   * policies apply it to raw observations.
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
   * Starts an episode and returns its first observation. A seed restarts the random
   * stream; without one the stream continues (from seed 0 at first). The parameters of
   * the episode come only where some are set.
   */
  reset(
    options?: { seed?: number; parameters?: Readonly<Record<string, unknown>> },
  ): O;
  /**
   * Takes one step. After termination it throws or returns the same result until
   * `reset`. The action's arrays may be reused after the call.
   */
  step(action: A): StepResult<O>;
  /**
   * Returns the action mask of the newest observation: 1 or 0 for each choice of each
   * part of an action, side by side; for bits the choice of 0, then of 1. The next step
   * may overwrite it.
   *
   * @default all actions are allowed
   */
  actionMasks?(): Uint8Array;
  /** Saves the environment's state, random stream included. */
  save(): StateTree;
  /** Restores a state that `save` returned. */
  load(state: StateTree): void;
  /** Renders the current frame. */
  render(options?: RenderOptions): RgbImage;
  /** Frees the environment's resources. */
  close(): void;
}

/** Statistics of an entry of `info` over the steps of an episode that report it. */
export interface InfoStatistic {
  /** Sum over these steps. */
  readonly sum: number;
  /** Mean over these steps. */
  readonly mean: number;
  /** Last value. */
  readonly last: number;
}

/** Statistics of a finished episode. */
export interface EpisodeStatistics {
  /** Index of its environment, 0 to `numEnvs - 1`. */
  readonly env: number;
  /** Sum of its rewards, before any scaling. */
  readonly return: number;
  /** Number of its steps. */
  readonly length: number;
  /** True if it terminated, false if it was truncated. */
  readonly terminated: boolean;
  /** Return of each life, in games with several; their sum is `return`. */
  readonly lifeReturns?: readonly number[];
  /** Statistics of the recorded entries of `info`, by name. */
  readonly infoStatistics?: Readonly<Record<string, InfoStatistic>>;
  /** Warning about a recorded entry that no step reported, given once for each. */
  readonly notice?: string;
}

/**
 * Result of stepping all environments. The next step reuses the object and its arrays:
 * copy what you keep.
 *
 * @typeParam O Observations of all environments.
 */
export interface VecStep<O extends Batch = Batch> {
  /** Observations; rows of finished episodes hold the first one of the next episode. */
  readonly observations: O;
  /** Rewards `[numEnvs]`. */
  readonly rewards: Float64Array;
  /** 1 where the episode terminated, `[numEnvs]`. */
  readonly terminated: Uint8Array;
  /** 1 where the episode was truncated, `[numEnvs]`. */
  readonly truncated: Uint8Array;
  /** Final observations of the episodes that ended in this step; other rows are stale. */
  readonly finalObservations: O;
  /** Action masks for `observations`, if the environment has some. */
  readonly actionMasks?: Uint8Array;
  /** Action masks for `finalObservations`, of the episodes that ended. */
  readonly finalActionMasks?: Uint8Array;
  /**
   * Episodes that ended in this step, if the environment records them. In a game with
   * several lives a row may terminate at each life, an episode only when it is over.
   */
  readonly episodes?: readonly EpisodeStatistics[];
  /** Environments that crashed in this step; their episodes count as truncated. */
  readonly lost?: readonly number[];
}

/**
 * Numbers of a recorded episode: one array, row-major, or arrays by name (dict) or in
 * order (tuple).
 */
export type RecordedValues =
  | ArrayLike<number>
  | { readonly [name: string]: RecordedValues }
  | readonly RecordedValues[];

/** Recorded episode. */
export interface Episode {
  /**
   * Observations before each step and after the last one, `[steps + 1, ...shape]`;
   * nested as the space.
   */
  readonly observations: RecordedValues;
  /** Actions, `[steps, ...shape]`; nested as the space. */
  readonly actions: RecordedValues;
  /** Rewards `[steps]`. */
  readonly rewards: ArrayLike<number>;
  /** Above 0 where a step terminated the episode, `[steps]`. */
  readonly terminations: ArrayLike<number>;
  /** Above 0 where the episode was truncated after a step, `[steps]`. */
  readonly truncations: ArrayLike<number>;
  /**
   * Action masks of the observations, `[steps + 1, choices]`; see
   * {@linkcode Env.actionMasks}.
   *
   * @default all actions are allowed
   */
  readonly actionMasks?: ArrayLike<number>;
  /**
   * Seed that the environment was reset with.
   *
   * @default none: its random stream continued
   */
  readonly seed?: number;
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
   * Restart a crashed environment with the same seed instead of a new one, for
   * comparable episodes.
   *
   * @default false
   */
  keepSeeds?: boolean;
}

/**
 * Several environments stepped in parallel. A finished episode is reset in the same
 * step, so each row of each step is a real transition.
 *
 * @typeParam O Observations of all environments, such as `Float32Array`.
 * @typeParam A Actions of all environments, such as `Int32Array`.
 */
export interface VecEnv<O extends Batch = Batch, A extends Batch = Batch>
  extends GoalFunctions {
  /** Number of environments. */
  readonly numEnvs: number;
  /** Space of one environment's observations. */
  readonly observationSpace: Space;
  /** Space of one environment's actions. */
  readonly actionSpace: Space;
  /** Metadata, if the environments were made by their registered name. */
  readonly spec?: EnvSpec;
  /** Number of stacked frames; see {@linkcode Env.stackedFrames}. */
  readonly stackedFrames?: number;
  /** Current observation scaling; see {@linkcode Env.observationScaling}. */
  readonly observationScaling?: ObservationScaling;
  /**
   * Action masks of the newest observations, after `load` too, `[numEnvs, choices]`;
   * see {@linkcode Env.actionMasks}. Set before the first `reset` too.
   *
   * @default all actions are allowed
   */
  readonly actionMasks?: Uint8Array;
  /** Starts an episode in each environment and returns the first observations. */
  reset(options?: VecResetOptions): O;
  /**
   * Sets parameters of the episodes that begin later; snapshots hold them. Returns the
   * names of those of episodes so far that none has looked at.
   *
   * @default the environments have none
   */
  setParameters?(values: EnvParameters): readonly string[];
  /** Steps each environment with its row of `actions`. */
  step(actions: A): VecStep<O>;
  /** Saves the state of all environments, random streams included. */
  save(): StateTree;
  /** Restores a state that `save` returned. */
  load(state: StateTree): void;
  /** Returns the latest observations, after `load` too. */
  observations(): O;
  /** Frees the environments' resources. */
  close(): void;
}

/** Seat of a {@linkcode World}, which one player takes for a game. */
export interface Seat {
  /** Name, such as `first`. */
  readonly name: string;
  /**
   * Name of its role: seats of one role have the same spaces and may share a policy.
   *
   * @default "player"
   */
  readonly role?: string;
  /**
   * Name of its team: the newest policy plays the learner's team mates.
   *
   * @default its own name
   */
  readonly team?: string;
}

/** Spaces of the seats of a role. */
export interface RoleSpaces {
  /** Space of one seat's observations. */
  readonly observationSpace: Space;
  /** Space of one seat's actions. */
  readonly actionSpace: Space;
}

/** Result of a step of several worlds, `[numEnvs, seats]`; reused by the next one. */
export interface WorldStep {
  /** Rewards; 0 in worlds that did not step. */
  readonly rewards: Float64Array;
  /** 1 where a seat's game reached a terminal state in this step. */
  readonly terminated: Uint8Array;
  /** 1 where a seat's game was cut off in this step. */
  readonly truncated: Uint8Array;
}

/**
 * Several worlds in parallel, each with the same seats: a game of two players, or many
 * agents that act at once. `SelfPlayVecEnv` of `@bellman/envs/games` makes a vector
 * environment of it. Methods that a world may also have: `scripted` and `search`
 * (`ScriptedWorld`, `SearchedWorld` there), `actionGrid` and `text` (`PageWorld` of
 * `@bellman/client/page`).
 *
 * @typeParam O Observations of one seat in all worlds, such as `Uint8Array`.
 * @typeParam A Actions of one seat in all worlds, such as `Int32Array`.
 */
export interface World<O extends Batch = Batch, A extends Batch = Batch> {
  /** Number of worlds. */
  readonly numEnvs: number;
  /** Seats of each world. */
  readonly seats: readonly Seat[];
  /** Spaces by role. */
  readonly roles: Readonly<Record<string, RoleSpaces>>;
  /** Metadata, if the worlds were made by their registered name. */
  readonly spec?: EnvSpec;
  /**
   * 1 where a seat acts in the next step, `[numEnvs, seats]`: all of them in parallel
   * games, one in games by turns, none once a game is over; 0 for seats that are out.
   */
  readonly toAct: Uint8Array;
  /**
   * Starts a game in a world.
   *
   * @param env Index of the world.
   * @param random Stream of the world, which it may draw from until its next game.
   */
  begin(env: number, random: RandomSource): void;
  /**
   * Steps the worlds where `which` is 1.
   *
   * @param actions Actions of each seat, by its index; those of seats that are not to
   * act are ignored.
   * @param which 1 for the worlds to step, `[numEnvs]`.
   */
  step(actions: readonly A[], which: Uint8Array): WorldStep;
  /** Returns what a seat sees in all worlds; the next call for it may overwrite it. */
  observe(seat: number): O;
  /**
   * Returns the action masks of a seat, see {@linkcode Env.actionMasks}; 0 for all
   * choices where it is not to act.
   *
   * @default all actions are allowed
   */
  actionMasks?(seat: number): Uint8Array;
  /** Saves the state of all worlds, without their random streams. */
  save(): StateTree;
  /**
   * Restores a state that `save` returned.
   *
   * @param state Saved state.
   * @param randoms Stream of each world, as `begin` got it.
   */
  load(state: StateTree, randoms: readonly RandomSource[]): void;
  /** Renders a world's current state. */
  render(env: number, options?: RenderOptions): RgbImage;
  /** Frees the worlds' resources. */
  close(): void;
}

/** Value or promise of it. */
export type Awaitable<T> = T | Promise<T>;

/** Chooses actions without learning, as evaluation needs. */
export interface Actor {
  /** Number of environments that it acts in, if that is fixed. */
  readonly numEnvs?: number;
  /**
   * Roles of a {@linkcode World} that it plays, each with a policy of its own: it takes
   * and returns dicts with the rows of each role.
   *
   * @default it has one policy
   */
  readonly roles?: readonly string[];
  /** Chooses one allowed action for each environment. */
  act(observations: Batch, actionMasks?: Uint8Array): Awaitable<Batch>;
  /** Records a step, so that recurrent actors reset the rows of finished episodes. */
  observe?(step: VecStep): void;
  /** Resets recurrent states before the environments are reset: `evaluate` calls it. */
  endEpisodes?(): void;
  /** Saves what it needs to act on: its parameters too, if they are frozen. */
  save?(): StateTree;
  /** Restores a state that `save` of such an actor returned. */
  load?(state: StateTree): void;
  /** Frees the actor's resources. */
  close?(): void;
}

/** Options of {@linkcode Trainable.policy}. */
export interface PolicyOptions {
  /**
   * Keep a copy of the current parameters and of the current observation scaling, which
   * is then applied to raw observations, as for an opponent in self-play.
   *
   * @default false: the actor follows the learner
   */
  frozen?: boolean;
  /**
   * Take the most likely action instead of sampling one.
   *
   * @default false
   */
  deterministic?: boolean;
  /**
   * Number of environments.
   *
   * @default that of the training environments
   */
  numEnvs?: number;
  /**
   * Seed of the actor's random stream.
   *
   * @default 0
   */
  seed?: number;
}

/** Observation normalization: `clip((x - mean) / sqrt(variance + epsilon))`. */
export interface ObservationScaling {
  /**
   * Parts of a dict that are normalized: their elements lie side by side in this order.
   *
   * @default the whole observation is scaled
   */
  readonly parts?: readonly string[];
  /** Mean of each element of an observation. */
  readonly mean: ArrayLike<number>;
  /** Variance of each element. */
  readonly variance: ArrayLike<number>;
  /**
   * Type of the raw observations.
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
   * Observation scaling of training.
   *
   * @default that of the agent or of its environment
   */
  readonly scaling?: ObservationScaling;
  /**
   * Fixed batch size of the file's inputs.
   *
   * @default any number
   */
  readonly batchSize?: number;
  /**
   * Take the most likely action instead of sampling one with the input `noise`.
   *
   * @default true
   */
  readonly deterministic?: boolean;
  /**
   * Add the output `probabilities` `[batch, n]`: that of each action, which must be
   * discrete.
   *
   * @default false
   */
  readonly probabilities?: boolean;
  /**
   * Metadata of the file.
   *
   * @default {}
   */
  readonly metadata?: Readonly<Record<string, string>>;
}

/** Statistics of an update, such as its losses, by name. */
export type Statistics = Record<string, number>;

/** Titles of an algorithm's statistics and their aliases, by name. */
export type StatisticTitles = Readonly<
  Record<string, readonly [title: string, ...aliases: string[]]>
>;

/** Rows of a replay buffer that a file holds, outside the saved state. */
export interface SavedRows {
  /**
   * Returns the part of a saved state that tells which rows of the file it needs.
   *
   * @param state State that `Trainable.save` returned.
   * @returns Plain data; undefined if the saved state holds all rows itself.
   */
  of(state: StateTree): StateTree | undefined;
  /**
   * Keeps these rows and frees the space of all others. The training loop passes those
   * of all checkpoints.
   *
   * @param rows Results of `of`.
   */
  keep(rows: readonly StateTree[]): void;
}

/** Agent, as the training loop uses it. */
export interface Trainable {
  /** Gets ready to learn. The training loop awaits it before it starts. */
  ready?(): Promise<void>;
  /** Chooses one allowed action for each environment, exploring as in training. */
  act(observations: Batch, actionMasks?: Uint8Array): Awaitable<Batch>;
  /**
   * Records the transition that followed the last actions; copies what it keeps.
   *
   * @throws {RangeError} If it contains a number that is not finite; nothing is
   * recorded.
   */
  observe(step: VecStep): void;
  /**
   * Learns from the recorded transitions. Called after each step.
   *
   * @returns Statistics of the update; `undefined` if there was none.
   */
  update(): Awaitable<Statistics | undefined>;
  /**
   * Number of updates in the last call of `update`.
   *
   * @default 1
   */
  readonly updatesInCall?: number;
  /**
   * Ends all running episodes as the environments are reset: each counts as truncated
   * at its last transition, and recurrent states are reset. The training loop calls it
   * before it resets the environments and when training ends.
   */
  endEpisodes?(): void;
  /** Saves parameters, optimizer, counters, random streams and buffers. */
  save(): StateTree;
  /** Restores a state that `save` returned. */
  load(state: StateTree): void;
  /** Rows outside the saved states, such as a replay buffer in a file. */
  readonly rows?: SavedRows;
  /** Returns an actor with the current parameters and its own random stream. */
  policy(options?: PolicyOptions): Actor;
  /** Exports the current policy as the bytes of an ONNX file. */
  exportPolicy?(options?: PolicyExport): Uint8Array;
  /** Frees the agent's resources. The training loop does not call it. */
  close?(): void;
}

/** Progress of a call of {@linkcode SteppingAlgorithm.advance}. */
export interface StepsTaken {
  /** Steps taken, over all environments. */
  readonly steps: number;
  /** Episodes that ended in these steps. */
  readonly episodes: readonly EpisodeStatistics[];
}

/**
 * Agent that steps its own environments, in workers or in one compiled program with its
 * updates: the training loop gets no environment.
 */
export interface SteppingAlgorithm
  extends Omit<Trainable, "act" | "observe" | "endEpisodes"> {
  /** Takes steps and learns from them; `update` then returns the statistics. */
  advance(): StepsTaken;
}
