import type {
  ArrayWithShape,
  BackendName,
  Engine,
  Params,
  RandomStream,
  ResidentState,
  TensorData,
  TensorType,
} from "@bellman/compute";
import type {
  Network,
  NoiseSpec,
  ObservationInputArrays,
  Observations,
  ObservationScale,
  Policy,
  PolicyCompilation,
  PolicyGiven,
  PolicyOutput,
} from "@bellman/policies";
import type {
  Awaitable,
  GoalFunctions,
  ObservationScaling,
  Space,
  StateTree,
  Statistics,
  StatisticTitles,
  SteppingAlgorithm,
  VecStep,
} from "@bellman/types";
import type * as tf from "@tensorflow/tfjs";
import type { ReplayStore } from "./replay_store.ts";
import type { ConfigSchema } from "./schema.ts";

/**
 * An algorithm: what it is called and set by, and the parts of its agents. `Agent`,
 * the command line, the learning bench and the docs know it by this value alone.
 *
 * @typeParam Config Settings.
 * @typeParam P Policy that acts.
 */
export interface Algorithm<
  Config extends object = object,
  P extends Policy = Policy,
> {
  /** Name, settings and presets. */
  readonly meta: Meta<Config>;
  /**
   * Throws if settings exclude each other; ranges are checked before.
   *
   * @param config All settings.
   * @param context Spaces and length of the run.
   */
  check?(config: Config, context: AgentContext): void;
  /**
   * Builds the networks, the first state, the memory and the update.
   *
   * @param config All settings.
   * @param context Spaces, length of the run, stream of the first parameters.
   * @returns The parts of an agent.
   */
  build(config: Config, context: BuildContext): AnyParts<P>;
  /**
   * Starts workers that each act and learn in their own environment, instead of one
   * agent.
   *
   * @default none: an agent acts in a vector environment
   */
  startWorkers?(run: WorkersRun<Config>): Awaitable<WorkersAlgorithm>;
}

/**
 * Name, settings and presets of an algorithm.
 *
 * @typeParam Config Settings.
 */
export interface Meta<Config extends object = object> {
  /** Name on the command line and in files, such as `a2c`. */
  readonly name: string;
  /**
   * Name in messages, such as `A2C`.
   *
   * @default name
   */
  readonly title?: string;
  /** One line for lists of algorithms. */
  readonly summary: string;
  /** Settings with defaults and ranges, made from `Config` by `deno task schema`. */
  readonly schema: ConfigSchema;
  /**
   * Settings that are known to work, as YAML texts by environment id.
   *
   * @default {}
   */
  readonly presets?: Readonly<Record<string, string>>;
  /**
   * Defaults of run settings that differ for this algorithm.
   *
   * @default {}
   */
  readonly runDefaults?: Readonly<Record<string, unknown>>;
  /**
   * Titles of statistics that its updates return and others do not, each followed by
   * its names in original implementations.
   *
   * @default {}
   */
  readonly statistics?: StatisticTitles;
  /**
   * Settings of a small and quick agent, for tests of all algorithms.
   *
   * @default {}
   */
  readonly smallConfig?: Partial<Config>;
  /**
   * True for off-policy algorithms: they take unscaled observations and rewards,
   * and scale them when they act and sample.
   *
   * @default false
   */
  readonly hasReplay?: boolean;
  /**
   * True where the policy is always greedy and exploration is separate: evaluation
   * is then deterministic.
   *
   * @default false
   */
  readonly isGreedy?: boolean;
  /**
   * Finds settings without effect given the others, and why: an agent tells where one
   * of them differs from its default.
   *
   * @param config All settings.
   * @param spaces Spaces of the environment, where they are known.
   * @returns Reasons by setting.
   * @default none
   */
  unusedSettings?(
    config: Config,
    spaces: Partial<Pick<AgentContext, "observationSpace" | "actionSpace">>,
  ): Readonly<Record<string, string>>;
}

/** Run of an algorithm with workers. */
export interface WorkersRun<Config extends object = object> {
  /** Settings that differ from the defaults. */
  readonly config: Partial<Config>;
  /** Root of the random streams. */
  readonly seed: number;
  /** Steps of all workers in the whole run. */
  readonly totalTimesteps: number;
  /** Module with the environment's factory as its default export. */
  readonly source: {
    /** Its absolute URL. */
    readonly module: string;
    /** Options of its default export, as plain data. */
    readonly options: Readonly<Record<string, unknown>>;
  };
  /** Spaces of one environment. */
  readonly spaces: Omit<AgentSpaces, "numEnvs">;
  /** Workers that learn. */
  readonly workers: number;
  /**
   * Cluster of Ray whose nodes the workers are on.
   *
   * @default none: they are on this machine
   */
  readonly cluster?: {
    /** Address of its head, `auto` or `local`. */
    readonly cluster: string;
    /** Address of this machine that they connect to. */
    readonly listen?: string;
    /** Code that they run: this one, or what is at its path there. */
    readonly code?: "ship" | "here";
    /** Time for one to start, in milliseconds. */
    readonly startTimeoutMs?: number;
  };
  /** Milliseconds without a step after which a worker is replaced. */
  readonly stepTimeoutMs: number;
  /** Engine of acting and learning. */
  readonly engine: Engine;
  /** Backend of the eager engine. */
  readonly backend: BackendName;
  /** Called with one line when a worker is replaced. */
  readonly onNotice: (line: string) => void;
  /** True for evaluation: a state is restored, and nothing is learned. */
  readonly isForEvaluation: boolean;
}

/** Algorithm whose workers each act and learn in their own environment. */
export interface WorkersAlgorithm extends SteppingAlgorithm {
  /** Steps a second of each worker. */
  readonly workerRates: readonly number[];
}

/**
 * Settings that differ from the defaults. A custom network may replace a named one.
 *
 * @typeParam Config Settings of the algorithm.
 */
export type AgentSettings<Config extends object = object> = {
  readonly [Key in keyof Config]?: Key extends "network" ? Config[Key] | Network
    : Config[Key];
};

/**
 * Options of `Agent`.
 *
 * @typeParam Config Settings of the algorithm.
 */
export interface AgentOptions<Config extends object = object> {
  /**
   * Settings that differ from the defaults.
   *
   * @default {}
   */
  readonly config?: AgentSettings<Config>;
  /**
   * Root of the random streams: a whole number of at least 0.
   *
   * @default 0
   */
  readonly seed?: number;
  /**
   * Environment steps of the whole run, over all calls of `train`: the length of
   * schedules. A learning rate that falls to 0 stays there.
   *
   * @default 200000
   */
  readonly totalTimesteps?: number;
  /**
   * Running scales of observations and rewards.
   *
   * @default none
   */
  readonly normalization?: Normalization;
  /**
   * Engine of acting and learning: ONNX Runtime on compiled graphs, or
   * TensorFlow.js.
   *
   * @default "auto"
   */
  readonly engine?: Engine;
  /**
   * Threads of ONNX Runtime; `auto` takes one for small networks.
   *
   * @default "auto"
   */
  readonly threads?: number | "auto";
  /**
   * Takes a line that a user should see, such as a setting that does not fit what is
   * learned.
   *
   * @default console.warn
   */
  readonly onNotice?: (line: string) => void;
}

/**
 * Spaces of one environment, and the number of environments. Those with goals also
 * have their functions.
 */
export interface AgentSpaces extends GoalFunctions {
  /** Space of one observation. */
  readonly observationSpace: Space;
  /** Space of one action: any but dict and tuple. */
  readonly actionSpace: Space;
  /** Environments that step in parallel. */
  readonly numEnvs: number;
  /**
   * Frames that an observation stacks along its last axis, as `FrameStack`
   * and Atari's environments report: a replay buffer keeps each frame once.
   *
   * @default 1
   */
  readonly stackedFrames?: number;
  /**
   * Current scale of the observations, where the environment gives them scaled:
   * files of the policy apply it.
   *
   * @default none
   */
  readonly observationScaling?: ObservationScaling;
  /**
   * Masks of the actions as a vector environment has them, or true, where the
   * environments mask actions: the agent then acts and learns by the masks of each step.
   *
   * @default none: all actions are allowed
   */
  readonly actionMasks?: Uint8Array | boolean;
}

/** Everything that an agent is built for, observations as the policy sees them. */
export interface AgentContext
  extends Omit<AgentSpaces, "actionMasks" | keyof GoalFunctions> {
  /**
   * Functions of goals, of environments with goals.
   *
   * @default none
   */
  readonly goals?: GoalFunctions;
  /** Environment steps of the whole run. */
  readonly totalTimesteps: number;
  /**
   * True where the environments mask actions.
   *
   * @default false
   */
  readonly masked?: boolean;
}

/** Scalars by name. */
export type Scalars = Readonly<Record<string, tf.Scalar>>;

/** Tensors by name. */
export type Tensors = Readonly<Record<string, tf.Tensor>>;

/** Arrays by name. */
export type Arrays = Readonly<Record<string, TensorData>>;

/** Everything that the parts of an agent are built from. */
export interface BuildContext extends AgentContext {
  /** Stream of the first parameters. */
  readonly random: RandomStream;
  /** Observations as the environment gives them, and as the policy sees them. */
  readonly observations: Observations;
  /**
   * Scale of rewards that the agent applies itself.
   *
   * @default none
   */
  readonly rewards?: RewardScale;
  /** Parameters of the agent, once it has been made. */
  readonly learned: LearnedPolicy;
}

/** Parameters of a policy that an agent holds, and how functions of them are compiled. */
export interface LearnedPolicy {
  /** Latest parameters. */
  readonly params: ResidentState<Params>;
  /** Types of the parameters, engine and threads. */
  readonly compilation: PolicyCompilation;
}

/**
 * Running scale of rewards, such as
 * `RewardNormalizer` of `@bellman/envs`.
 */
export interface RewardScale {
  /** Updates the statistics with the rewards of one step `[numEnvs]`. */
  see(
    rewards: ArrayLike<number>,
    ends: { readonly terminated: Uint8Array; readonly truncated: Uint8Array },
  ): void;
  /**
   * Scales rewards by the current statistics; each is a sum that may be as large
   * as `span` rewards.
   */
  scale(rewards: ArrayLike<number>, target: Float32Array, span?: number): void;
  /**
   * Begins the sums of rewards anew, as all environments are reset.
   *
   * @default it has none
   */
  reset?(): void;
  /** Saves the statistics as plain data. */
  save(): StateTree;
  /** Restores what `save` returned. */
  load(state: StateTree): void;
}

/**
 * Scales that an agent applies itself, by the current statistics, when it acts and
 * when it samples a batch. Its environments must not scale as well.
 */
export interface Normalization {
  /**
   * Scale of observations.
   *
   * @default as the environment gives them
   */
  readonly observations?: ObservationScale;
  /**
   * Scale of rewards.
   *
   * @default as the environment gives them
   */
  readonly rewards?: RewardScale;
}

/** Progress of a run. */
export interface Progress {
  /** Environment steps so far, of all environments. */
  readonly steps: number;
  /** Updates so far. */
  readonly updates: number;
  /** Fraction of the run that is done, from 0 to 1. */
  readonly fraction: number;
  /**
   * False where another update follows at once.
   *
   * @default true
   */
  readonly isLast?: boolean;
}

/**
 * The parts of an agent. Acting, compiling, counting and saving are the same for
 * all algorithms.
 *
 * @typeParam P Policy that acts.
 * @typeParam S State: parameters, target networks, optimizer slots.
 * @typeParam B Batch that an update learns from, as tensors.
 * @typeParam I Inputs of an update other than the batch.
 */
export interface Parts<
  P extends Policy = Policy,
  S extends AgentState = AgentState,
  B = Tensors,
  I = Scalars,
> {
  /** Policy that acts; its parameters are the part `policy` of the state. */
  readonly policy: P;
  /** State before the first update, in new tensors: the agent copies and frees them. */
  readonly state: S;
  /** Steps to learn from: a `Rollout`, `Replay`, `Sequences` or another one. */
  readonly memory: Memory<B>;
  /**
   * Returns what an update takes beside its batch: numbers that change over the run
   * (`learningRate` is logged), and random numbers. Names and shapes stay the same.
   *
   * @param progress Progress of the run before the update.
   * @param draw Draws random numbers.
   */
  inputs(
    progress: Progress,
    draw: Draw,
  ): { readonly [Name in keyof I]: number | ArrayWithShape };
  /**
   * Returns the next update: one of a few functions that are made once, as each is
   * compiled. The agent
   * asks for the first one when it is made, with `updates: -1`: the memory of the state
   * is laid out for it, so that should be the one that changes most.
   *
   * @param progress Progress of the run before the update.
   */
  learn(progress: Progress): Update<S, B, I>;
  /**
   * Exploration that replaces the policy, such as random actions at first.
   *
   * @default none: the policy acts
   */
  readonly explore?: Explorer;
  /**
   * Follows each update outside of the compiled function: computes parts of the state,
   * such as inverted factors, or tells what a user should know.
   *
   * @param update The update.
   * @returns The parts of the state that change, or `undefined` where all stay.
   */
  afterUpdate?(update: FinishedUpdate): SavedState | undefined;
  /**
   * Q function, for plots.
   *
   * @default none
   */
  readonly qFunction?: StateActionValues;
}

/** Parts of an agent of which only the policy's type is known. */
export type AnyParts<P extends Policy = Policy> =
  // deno-lint-ignore no-explicit-any -- each algorithm has its own records
  Parts<P, any, any, any>;

/**
 * Steps that an agent learns from.
 *
 * @typeParam B Batch of an update, as tensors.
 */
export interface Memory<B = Tensors> {
  /**
   * Shapes and types of a batch by name. The update gets `observations`,
   * `nextObservations` and `betweenObservations` encoded, those of a dict from their
   * parts, as `observations.camera`, and `terminated` as numbers.
   */
  readonly batch: { readonly [Name in keyof B]: TensorType };
  /**
   * Computes what a step is recorded with in addition to actions, such as values.
   *
   * @param output Output of the policy.
   * @param given Parameters and noise.
   * @default nothing
   */
  record?(
    output: PolicyOutput,
    given: PolicyGiven,
  ): Readonly<Record<string, tf.Tensor | undefined>>;
  /**
   * Adds a step; copied.
   *
   * @param step The decision, and the environments' answer.
   * @throws {Error} If an update is needed first.
   */
  add(step: PolicyStep): void;
  /**
   * Truncates the episodes that the last step left running, with the observations
   * that it led to: the environments are reset. Nothing is left to do where no step
   * was added since the last update, or ever.
   *
   * @param state Recurrent state after that step `[numEnvs, stateSize]`.
   */
  endEpisodes(state: Float32Array): void;
  /**
   * Updates to take before the next step, which would write over what they learn from.
   *
   * @default 0
   */
  readonly overdue?: number;
  /**
   * Counts the updates to take now: none after most steps.
   *
   * @param progress Progress of the run.
   * @param random Stream of learning.
   */
  ready(progress: Progress, random: RandomStream): number;
  /**
   * Draws the batch of the next update.
   *
   * @param random Stream of learning.
   * @param progress Progress of the run.
   * @returns Arrays by the names of `batch`, which the next call may overwrite.
   */
  sample(random: RandomStream, progress: Progress): Sample;
  /**
   * Sets the priorities of the last batch.
   *
   * @param tdErrors Absolute errors, as the update returned them.
   * @default steps have no priorities
   */
  setPriorities?(tdErrors: TensorData): void;
  /**
   * The replay buffer, which may be in a file; its state is `replay` of `save`.
   *
   * @default none
   */
  readonly store?: ReplayStore;
  /** Saves its whole state, as plain data. */
  save(): StateTree;
  /** Restores what `save` returned. */
  load(state: StateTree): void;
}

/** A batch that a {@link Memory} drew. */
export interface Sample {
  /** Arrays by name. */
  readonly batch: Arrays;
  /**
   * Statistics for the log.
   *
   * @default {}
   */
  readonly stats?: Statistics;
}

/** A decision of an agent, and what followed; the next one overwrites the arrays. */
export interface PolicyStep {
  /** Answer of the environments. */
  readonly step: VecStep;
  /** Observations as the environment returned them, in the encoder's type. */
  readonly observations: ObservationInputArrays;
  /** Observations as the policy saw them; the same where nothing is scaled. */
  readonly inputs: ObservationInputArrays;
  /** Actions as the policy sampled them. */
  readonly actions: TensorData;
  /** Masks that they were chosen by `[numEnvs, choices]`, where actions are masked. */
  readonly actionMasks?: Uint8Array;
  /** Results of `Memory.record`; undefined where the policy did not act. */
  readonly recorded: Readonly<Record<string, TensorData | undefined>>;
  /** Recurrent state before the decision `[numEnvs, stateSize]`. */
  readonly state: Float32Array;
  /** 1 where an episode started with it `[numEnvs]`. */
  readonly starts: Float32Array;
  /** Recurrent state after the decision; recurrent policies only. */
  readonly nextState?: Float32Array;
}

/**
 * Draws random numbers `[rows, size]` for an update: `normal`, `uniform`, or
 * permutations, of which each row orders the numbers from 0.
 */
export type Draw = (numbers: RandomNumbers, rows: number) => ArrayWithShape;

/** Random numbers of a row. */
export interface RandomNumbers {
  /** Their distribution. */
  readonly kind: NoiseSpec["kind"] | "permutation";
  /** How many there are. */
  readonly size: number;
}

/** An update that has been made. */
export interface FinishedUpdate {
  /** Progress of the run, this update included. */
  readonly progress: Progress;
  /** Statistics by name, of this update and the last ones before. */
  readonly statistics: Statistics;
  /** Arrays of `UpdateResult.results`. */
  readonly results: Arrays;
  /** Copies the current state out. */
  read(): SavedState;
  /** Tells a user one line; the first one only is told. */
  notify(line: string): void;
}

/**
 * One update as a pure function, which is traced and compiled: state, batch and
 * inputs are separate records of tensors.
 */
export type Update<
  S extends AgentState = AgentState,
  B = Tensors,
  I = Scalars,
> = (
  state: S,
  batch: B,
  inputs: I,
) => UpdateResult<S>;

/** Update of any records. */
// deno-lint-ignore no-explicit-any -- each algorithm has its own records
export type AnyUpdate = Update<any, any, any>;

/** Exploration that replaces the policy. */
export interface Explorer {
  /**
   * Chooses actions, or changes those of the policy.
   *
   * @param exploration Progress, random stream, and the policy's actions.
   * @returns Actions `[numEnvs, ...]` as the policy samples them.
   */
  act(exploration: Exploration): TensorData;
  /**
   * Saves its state.
   *
   * @default nothing
   */
  save?(): StateTree;
  /** Restores what `save` returned. */
  load?(state: StateTree): void;
}

/** A Q function that an agent learns. */
export interface StateActionValues {
  /** Part of the state that holds its parameters. */
  readonly part: string;
  /**
   * Estimates values.
   *
   * @param params The part.
   * @param observations Encoded observations `[count, ...]`.
   * @param actions Actions `[count, ...]` as the policy samples them; left out
   * where actions are discrete.
   * @returns Values `[count]`, or of all discrete actions `[1, actions]`.
   */
  estimate(
    params: Params,
    observations: tf.Tensor,
    actions?: tf.Tensor,
  ): tf.Tensor;
}

/** All tensors that an update changes, by part and path; `policy` acts. */
export type AgentState = { readonly [part: string]: Params };

/** Arrays of an {@link AgentState}. */
export type SavedState = {
  readonly [part: string]: Readonly<
    Record<string, { data: TensorData; shape: number[] }>
  >;
};

/** Result of an update, in new tensors; its inputs stay valid. */
export interface UpdateResult<S extends AgentState = AgentState> {
  /** State after the update, of the same parts. */
  readonly state: S;
  /** Scalars for the log; each name keeps its last value. */
  readonly stats: Readonly<Record<string, tf.Tensor | undefined>>;
  /**
   * Arrays for the host: `tdErrors`, of at least 0, are priorities, and needed where
   * the memory has some.
   *
   * @default {}
   */
  readonly results?: Tensors;
}

/** Inputs of {@link Explorer.act}. */
export interface Exploration {
  /** Progress of the run. */
  readonly progress: Progress;
  /** Stream of acting. */
  readonly random: RandomStream;
  /** Samples the policy's actions `[numEnvs, ...]`, which may be written to. */
  readonly sample: () => TensorData;
  /**
   * Actions that are allowed `[numEnvs, choices]`.
   *
   * @default all
   */
  readonly actionMasks?: Uint8Array;
  /**
   * 1 where an episode starts `[numEnvs]`, for noise that an episode begins with.
   *
   * @default none starts
   */
  readonly starts?: Float32Array;
  /**
   * Overwrites parts of the state before the policy is asked, such as parameters that
   * other workers have changed.
   *
   * @default nothing does
   */
  readonly write?: (parts: SavedState) => void;
}
