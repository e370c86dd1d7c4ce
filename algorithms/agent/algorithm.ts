import type { Dataset } from "@bellman/buffers/datasets";
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
  ActionArray,
  DictOf,
  Network,
  NoiseSpec,
  ObservationInputArrays,
  Observations,
  ObservationScale,
  Policy,
  PolicyCompilation,
  PolicyOutput,
  PolicyResultInputs,
} from "@bellman/policies";
import type {
  ActionsOf,
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
 * Algorithm: its names and settings, and the parts of its agents. `Agent`, the command
 * line, benches and docs need nothing else.
 *
 * @typeParam Config Settings.
 * @typeParam P Policy that acts.
 */
export interface Algorithm<
  Config extends object = object,
  P extends Policy = Policy,
> {
  /** Names, settings and presets. */
  readonly meta: Meta<Config>;
  /**
   * Throws if settings exclude each other; their ranges were checked before.
   *
   * @param config All settings.
   * @param context Spaces and length of the run.
   */
  check?(config: Config, context: AgentContext): void;
  /**
   * Makes networks, initial state, memory and update.
   *
   * @param config All settings.
   * @param context Spaces, length of the run, random stream of the initial parameters.
   * @returns The parts of an agent.
   */
  build(config: Config, context: BuildContext): AnyParts<P>;
  /**
   * Starts workers that each act and learn in their own environment.
   *
   * @default none: an agent acts in a vector environment
   */
  startWorkers?(run: WorkersRun<Config>): Awaitable<WorkersAlgorithm>;
}

/**
 * Names, settings and presets of an algorithm.
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
  /** Schema of the settings, made from `Config` by `deno task schema`. */
  readonly schema: ConfigSchema;
  /**
   * Tuned settings, as YAML texts by environment id.
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
   * Titles of update statistics that only this algorithm has, each followed by its
   * aliases in other implementations.
   *
   * @default {}
   */
  readonly statistics?: StatisticTitles;
  /**
   * Settings of a small and fast agent, for tests.
   *
   * @default {}
   */
  readonly smallConfig?: Partial<Config>;
  /**
   * True for off-policy algorithms, which take raw observations and rewards, and
   * normalize them when acting and sampling.
   *
   * @default false
   */
  readonly hasReplay?: boolean;
  /**
   * True if it learns from recorded data alone, and steps are updates.
   *
   * @default false
   */
  readonly learnsFromData?: boolean;
  /**
   * True if the policy is always greedy and exploration is separate: evaluation is then
   * deterministic.
   *
   * @default false
   */
  readonly isGreedy?: boolean;
  /**
   * Settings that have defaults by another one, such as a method: where a user sets
   * that, a preset does not give them.
   *
   * @default {}
   */
  readonly defaultedBy?: Readonly<Record<string, readonly string[]>>;
  /**
   * Lists settings that have no effect given the others, with reasons; an agent warns
   * if one of them differs from its default.
   *
   * @param config All settings.
   * @param spaces Spaces of the environment, if known.
   * @returns Reasons by setting.
   * @default none
   */
  unusedSettings?(
    config: Config,
    spaces: Partial<Pick<AgentContext, "observationSpace" | "actionSpace">>,
  ): Readonly<Record<string, string>>;
}

/** Options of {@link Algorithm.startWorkers}. */
export interface WorkersRun<Config extends object = object> {
  /** Settings that differ from the defaults. */
  readonly config: Partial<Config>;
  /** Root seed. */
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
  /** Number of workers. */
  readonly workers: number;
  /**
   * Ray cluster whose nodes run the workers.
   *
   * @default none: they are on this machine
   */
  readonly cluster?: {
    /** Address of its head, `auto` or `local`. */
    readonly cluster: string;
    /** Address of this machine that they connect to. */
    readonly listen?: string;
    /** Code of the workers: ship this one, or use the code at the same path there. */
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
  /** Steps per second of each worker. */
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
   * Root seed: a whole number of at least 0.
   *
   * @default 0
   */
  readonly seed?: number;
  /**
   * Environment steps of the run, over all calls of `train`: the length of schedules. A
   * learning rate that falls to 0 stays there.
   *
   * @default 200000
   */
  readonly totalTimesteps?: number;
  /**
   * Normalization of observations and rewards by the agent.
   *
   * @default none
   */
  readonly normalization?: Normalization;
  /**
   * Recorded episodes to learn from, of the same spaces.
   *
   * @default none
   */
  readonly data?: Dataset;
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
   * Receives notices for the user, such as a setting without effect.
   *
   * @default console.warn
   */
  readonly onNotice?: (line: string) => void;
}

/** Spaces and number of environments; goal-conditioned ones also have goal functions. */
export interface AgentSpaces extends GoalFunctions {
  /** Observation space. */
  readonly observationSpace: Space;
  /** Action space: any but dict and tuple. */
  readonly actionSpace: Space;
  /** Number of parallel environments. */
  readonly numEnvs: number;
  /**
   * Number of frames stacked along an observation's last axis, as `FrameStack` and
   * Atari's environments report: a replay buffer stores each frame once.
   *
   * @default 1
   */
  readonly stackedFrames?: number;
  /**
   * Current observation scaling, if the environment returns normalized observations:
   * exported policies apply it to raw ones.
   *
   * @default none
   */
  readonly observationScaling?: ObservationScaling;
  /**
   * Action masks of the environments, or true if they have some: the agent then acts
   * and learns with the masks of each step.
   *
   * @default none: all actions are allowed
   */
  readonly actionMasks?: Uint8Array | boolean;
}

/**
 * Typed array of an agent's actions: `Int32Array` for discrete ones, `Float32Array` for
 * those of a box of float32.
 *
 * @typeParam E Environments, or their spaces.
 */
export type AgentActions<E> = Extract<ActionsOf<E>, ActionArray>;

/** Spaces and length of the run, with observations as the policy sees them. */
export interface AgentContext
  extends Omit<AgentSpaces, "actionMasks" | keyof GoalFunctions> {
  /**
   * Functions of goal-conditioned environments.
   *
   * @default none
   */
  readonly goals?: GoalFunctions;
  /** Environment steps of the run. */
  readonly totalTimesteps: number;
  /**
   * True if the environments mask actions.
   *
   * @default false
   */
  readonly masked?: boolean;
  /**
   * Recorded episodes to learn from.
   *
   * @default none
   */
  readonly data?: Dataset;
}

/** Scalars by name. */
export type Scalars = Readonly<Record<string, tf.Scalar>>;

/** Tensors by name. */
export type Tensors = Readonly<Record<string, tf.Tensor>>;

/** Arrays by name. */
export type Arrays = Readonly<Record<string, TensorData>>;

/** Context that an agent's parts are built from. */
export interface BuildContext extends AgentContext {
  /** Random stream of the initial parameters. */
  readonly random: RandomStream;
  /** Conversion of observations from the environment to the policy. */
  readonly observations: Observations;
  /**
   * Reward normalization by the agent.
   *
   * @default none
   */
  readonly rewards?: RewardScale;
  /** Parameters of the agent, available once it has been made. */
  readonly learned: LearnedPolicy;
}

/** Parameters of an agent's policy, with their compilation settings. */
export interface LearnedPolicy {
  /** Latest parameters. */
  readonly params: ResidentState<Params>;
  /** Compilation settings: types of the parameters, engine and threads. */
  readonly compilation: PolicyCompilation;
}

/** Running normalization of rewards, such as `RewardNormalizer` of `@bellman/envs`. */
export interface RewardScale {
  /** Updates the running statistics with the rewards of one step `[numEnvs]`. */
  see(
    rewards: ArrayLike<number>,
    ends: { readonly terminated: Uint8Array; readonly truncated: Uint8Array },
  ): void;
  /** Normalizes rewards with the current statistics; each is a sum of up to `span` rewards. */
  scale(rewards: ArrayLike<number>, target: Float32Array, span?: number): void;
  /**
   * Restarts the discounted sums of rewards, as all environments are reset.
   *
   * @default it has none
   */
  reset?(): void;
  /** Saves the running statistics. */
  save(): StateTree;
  /** Restores a saved state. */
  load(state: StateTree): void;
}

/**
 * Normalization by the agent, with the current running statistics, when it acts and
 * when it samples a batch. The environments must not normalize as well.
 */
export interface Normalization {
  /**
   * Normalization of observations.
   *
   * @default raw observations
   */
  readonly observations?: ObservationScale;
  /**
   * Normalization of rewards.
   *
   * @default raw rewards
   */
  readonly rewards?: RewardScale;
}

/** Progress of a run. */
export interface Progress {
  /** Environment steps so far, of all environments. */
  readonly steps: number;
  /** Updates so far. */
  readonly updates: number;
  /** Finished fraction of the run, from 0 to 1. */
  readonly fraction: number;
  /**
   * False if another update follows at once.
   *
   * @default true
   */
  readonly isLast?: boolean;
}

/**
 * Parts of an agent that its algorithm defines. Acting, compiling, counting, saving and
 * exporting are common to all algorithms.
 *
 * @typeParam P Policy that acts.
 * @typeParam S Training state: parameters, target networks, optimizer state.
 * @typeParam B Batch of an update, as tensors.
 * @typeParam I Inputs of an update other than the batch.
 */
export interface Parts<
  P extends Policy = Policy,
  S extends AgentState = AgentState,
  B = Tensors,
  I = Scalars,
> {
  /** Policy; its parameters are the part `policy` of the training state. */
  readonly policy: P;
  /** Initial training state, in new tensors: the agent copies and frees them. */
  readonly state: S;
  /** Memory of transitions: a `Rollout`, `Replay`, `Sequences` or a custom one. */
  readonly memory: Memory<B>;
  /**
   * Returns the inputs of an update besides its batch: scheduled hyperparameters
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
   * Returns the next update, one of a few functions, since each is compiled. When the
   * agent is made it asks for the first one with `updates: -1`, to lay out memory:
   * return the one that changes most of the state.
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
   * Called after each update, outside of the compiled function: computes parts of the
   * state, such as inverted factors, or gives notices.
   *
   * @param update The update.
   * @returns Changed parts of the state, or `undefined`.
   */
  afterUpdate?(update: FinishedUpdate): SavedState | undefined;
  /**
   * Q-function, for plots.
   *
   * @default none
   */
  readonly qFunction?: StateActionValues;
}

/** Parts of an agent with any types of state, batch and inputs. */
export type AnyParts<P extends Policy = Policy> =
  // deno-lint-ignore no-explicit-any -- each algorithm has its own records
  Parts<P, any, any, any>;

/**
 * Memory of transitions that an agent learns from: a rollout or replay buffer.
 *
 * @typeParam B Batch of an update, as tensors.
 */
export interface Memory<B = Tensors> {
  /**
   * Shapes and types of a batch, nested for observations of a dict. The update gets
   * `observations`, `nextObservations` and `betweenObservations` encoded, and
   * `terminated` as float32.
   */
  readonly batch: { readonly [Name in keyof B]: DictOf<TensorType> };
  /**
   * Computes additional results to record at each step, such as values.
   *
   * @param output Output of the policy.
   * @param inputs Parameters and noise.
   * @default nothing
   */
  record?(
    output: PolicyOutput,
    inputs: PolicyResultInputs,
  ): Readonly<Record<string, tf.Tensor | undefined>>;
  /**
   * Returns the number of steps that count as taken before the next updates, of a memory
   * that no step is added to.
   *
   * @default steps are added
   */
  advance?(): number;
  /**
   * Adds a transition; copied.
   *
   * @param step Actions, and the environments' step.
   * @throws {Error} If an update is needed first.
   */
  add(step: PolicyStep): void;
  /**
   * Truncates all running episodes at their last transition, as the environments are
   * reset. Does nothing without a transition since the last update.
   *
   * @param state Recurrent states after that step `[numEnvs, stateSize]`.
   */
  endEpisodes(state: Float32Array): void;
  /**
   * Number of updates due before the next step, which would overwrite their data.
   *
   * @default 0
   */
  readonly overdue?: number;
  /**
   * Returns the number of updates due now; 0 after most steps.
   *
   * @param progress Progress of the run.
   * @param random Random stream of learning.
   */
  ready(progress: Progress, random: RandomStream): number;
  /**
   * Samples the batch of the next update.
   *
   * @param random Random stream of learning.
   * @param progress Progress of the run.
   * @returns Arrays by the names of `batch`, which the next call may overwrite.
   */
  sample(random: RandomStream, progress: Progress): Sample;
  /**
   * Sets the replay priorities of the last batch.
   *
   * @param tdErrors Absolute TD errors, as the update returned them.
   * @default steps have no priorities
   */
  setPriorities?(tdErrors: TensorData): void;
  /**
   * Replay buffer, possibly in a file; it is saved as `replay`.
   *
   * @default none
   */
  readonly store?: ReplayStore;
  /** Saves its contents. */
  save(): StateTree;
  /** Restores a saved state: all of it, or nothing of one that does not fit. */
  load(state: StateTree): void;
}

/** Batch of a {@link Memory}. */
export interface Sample {
  /** Arrays by name, nested for observations of a dict. */
  readonly batch: Readonly<Record<string, DictOf<TensorData>>>;
  /**
   * Statistics for the log.
   *
   * @default {}
   */
  readonly stats?: Statistics;
}

/** A decision of an agent, and what followed; the next one overwrites the arrays. */
export interface PolicyStep {
  /** Step of the environments. */
  readonly step: VecStep;
  /** Observations before the step, raw, in the encoder's type. */
  readonly observations: ObservationInputArrays;
  /** Observations before the step, as the policy saw them; the same without normalization. */
  readonly inputs: ObservationInputArrays;
  /** Actions as the policy sampled them. */
  readonly actions: TensorData;
  /** Action masks of the observations `[numEnvs, choices]`, if there are some. */
  readonly actionMasks?: Uint8Array;
  /** Results of `Memory.record`; undefined if the policy did not act. */
  readonly recorded: Readonly<Record<string, TensorData | undefined>>;
  /** Recurrent states before the actions `[numEnvs, stateSize]`. */
  readonly state: Float32Array;
  /** Episode starts: 1 where an episode starts at this step `[numEnvs]`. */
  readonly starts: Float32Array;
  /** Recurrent states after the actions; recurrent policies only. */
  readonly nextState?: Float32Array;
}

/**
 * Draws random numbers `[rows, size]` for an update: `normal`, `uniform`, or
 * `permutation`, where each row is a permutation of the numbers from 0.
 */
export type Draw = (numbers: RandomNumbers, rows: number) => ArrayWithShape;

/** Kind and size of random numbers. */
export interface RandomNumbers {
  /** Their distribution. */
  readonly kind: NoiseSpec["kind"] | "permutation";
  /** Number of random numbers in a row. */
  readonly size: number;
}

/** Finished update. */
export interface FinishedUpdate {
  /** Progress of the run, this update included. */
  readonly progress: Progress;
  /** Latest statistics by name. */
  readonly statistics: Statistics;
  /** Arrays of the update's `results`. */
  readonly results: Arrays;
  /** Copies the training state from the device. */
  read(): SavedState;
  /** Shows a notice to the user, unless one was shown before. */
  notify(line: string): void;
}

/**
 * Update as a pure function that is traced and compiled: state, batch and inputs are
 * separate records of tensors.
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

/** Exploration that replaces or changes the policy's actions. */
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
  /** Restores a saved state. */
  load?(state: StateTree): void;
}

/** Q-function that an agent learns. */
export interface StateActionValues {
  /** Name of the part of the training state with its parameters. */
  readonly part: string;
  /**
   * Estimates Q-values.
   *
   * @param params Parameters.
   * @param observations Encoded observations `[count, ...]`.
   * @param actions Actions `[count, ...]` as the policy samples them; omitted for
   * discrete actions.
   * @returns Q-values `[count]`, or of all discrete actions `[1, actions]`.
   */
  estimate(
    params: Params,
    observations: tf.Tensor,
    actions?: tf.Tensor,
  ): tf.Tensor;
}

/** Training state: tensors by part and path; the part `policy` acts. */
export type AgentState = { readonly [part: string]: Params };

/** Training state as arrays. */
export type SavedState = {
  readonly [part: string]: Readonly<
    Record<string, { data: TensorData; shape: number[] }>
  >;
};

/** Result of an update, in new tensors; its inputs stay valid. */
export interface UpdateResult<S extends AgentState = AgentState> {
  /** New training state, with the same parts. */
  readonly state: S;
  /** Scalars for the log; each name keeps its latest value. */
  readonly stats: Readonly<Record<string, tf.Tensor | undefined>>;
  /**
   * Arrays for the host; `tdErrors`, at least 0, are new replay priorities, required if
   * the memory has priorities.
   *
   * @default {}
   */
  readonly results?: Tensors;
}

/** Inputs of {@link Explorer.act}. */
export interface Exploration {
  /** Progress of the run. */
  readonly progress: Progress;
  /** Random stream of acting. */
  readonly random: RandomStream;
  /** Samples the policy's actions `[numEnvs, ...]`; the array may be modified. */
  readonly sample: () => TensorData;
  /**
   * Action masks `[numEnvs, choices]`.
   *
   * @default all
   */
  readonly actionMasks?: Uint8Array;
  /**
   * Episode starts, 1 where an episode starts `[numEnvs]`, for noise that restarts with
   * each episode.
   *
   * @default none starts
   */
  readonly starts?: Float32Array;
  /**
   * Changes parts of the training state before the policy acts, such as parameters that
   * other workers have updated.
   *
   * @default nothing does
   */
  readonly write?: (parts: SavedState) => void;
}
