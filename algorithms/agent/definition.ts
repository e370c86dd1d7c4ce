import type {
  BackendName,
  Engine,
  Params,
  RandomStream,
  TensorData,
} from "@bellman/compute";
import type { Network, NoiseSpec, Policy } from "@bellman/policies";
import type {
  Awaitable,
  StateTree,
  Statistics,
  StatisticTitles,
  SteppingAlgorithm,
} from "@bellman/types";
import type * as tf from "@tensorflow/tfjs";
import type {
  AgentContext,
  AgentSpaces,
  Moment,
  Scalars,
  Tensors,
} from "./experience/context.ts";
import type { ExperienceSpec } from "./experience/experience.ts";
import type { Normalization } from "./experience/observations.ts";
import type { ConfigSchema } from "./schema.ts";

/**
 * An algorithm: its settings, and how to build its parts. `Agent`, the command
 * line, the learning bench and the docs know it by this value alone.
 *
 * @typeParam Config Settings.
 * @typeParam P Policy that acts.
 */
export interface AlgorithmDefinition<
  Config extends object = object,
  P extends Policy = Policy,
> {
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
  /** Settings that are known to work, as YAML texts by environment id. */
  readonly presets: Readonly<Record<string, string>>;
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
  idle?(
    config: Config,
    spaces: Partial<Pick<AgentContext, "observationSpace" | "actionSpace">>,
  ): Readonly<Record<string, string>>;
  /**
   * Throws if settings exclude each other; ranges are checked before.
   *
   * @param config All settings.
   * @param context Spaces and length of the run.
   */
  check?(config: Config, context: AgentContext): void;
  /**
   * Builds the networks, the first state, the update and the source of its batches.
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

/** Everything that the parts of an agent are built from. */
export interface BuildContext extends AgentContext {
  /** Stream of the first parameters. */
  readonly random: RandomStream;
}

/**
 * The parts of an agent. Acting, compiling, counting and saving are the same for
 * all algorithms.
 *
 * @typeParam P Policy that acts.
 * @typeParam S State: parameters, target networks, optimizer slots.
 * @typeParam B Batch that an update learns from.
 * @typeParam I Inputs of an update other than the batch.
 */
export interface AgentParts<
  P extends Policy = Policy,
  S extends AgentState = AgentState,
  B = Tensors,
  I = Scalars,
> {
  /** Policy that acts; its parameters are the part `policy` of the state. */
  readonly policy: P;
  /** State before the first update, in new tensors: the agent copies and frees them. */
  readonly state: S;
  /** Source of batches: `rollout(...)`, `replay(...)`, `segments(...)` or a custom one. */
  readonly experience: ExperienceSpec;
  /**
   * Values that change over the run (`learningRate` is logged) and random numbers.
   */
  readonly inputs: { readonly [Name in keyof I]: UpdateInput };
  /** Updates by name, each traced and compiled when it is first chosen. */
  readonly programs: Programs<S, B, I>;
  /**
   * Chooses the program of the next update.
   *
   * @param moment Progress of the run before the update.
   * @param isLast False where another update follows at once.
   * @returns Name of the program.
   * @default "learn"
   */
  choose?(moment: Moment, isLast: boolean): string;
  /**
   * Exploration that replaces the policy, such as random actions at first.
   *
   * @default none: the policy acts
   */
  readonly explore?: Explorer;
  /**
   * Computes parts of the state outside the compiled update: before actions, such as
   * parameters that other workers change, or after updates, such as inverted factors.
   *
   * @param when Before an action or a read of the parameters, or after an update.
   * @param moment Progress of the run.
   * @param read Copies the current state out.
   * @returns The parts of the state that change, or `undefined` where all stay.
   */
  sync?(
    when: "action" | "update",
    moment: Moment,
    read: () => SavedState,
  ): SavedState | undefined;
  /**
   * Renewal of state-dependent noise (gSDE).
   *
   * @default drawn again at each step
   */
  readonly noise?: StateDependentNoise;
  /**
   * Q function, for plots.
   *
   * @default none
   */
  readonly actionValues?: ActionValues;
  /**
   * Finds what a user should know, such as of a setting that does not fit; asked after
   * updates until there is something.
   *
   * @param statistics Statistics of the update, by their names there.
   * @returns One line, or `undefined`.
   * @default nothing
   */
  notice?(statistics: Statistics): string | undefined;
}

/** Parts of an agent of which only the policy's type is known. */
export type AnyParts<P extends Policy = Policy> =
  // deno-lint-ignore no-explicit-any -- each algorithm has its own records
  AgentParts<P, any, any, any>;

/** Updates by name. */
export interface Programs<S extends AgentState, B, I> {
  /** Program of all updates, unless `choose` names another one. */
  readonly learn: Update<S, B, I>;
  /** Programs that `choose` names. */
  readonly [name: string]: Update<S, B, I>;
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

/** Input of an update: a scheduled value, or fresh random numbers. */
export type UpdateInput = NumberInput | RandomInput;

/** Number that changes over the run, such as the learning rate. */
export type NumberInput = (moment: Moment) => number;

/** Random numbers `[rows, size]` of an update. */
export interface RandomInput {
  /** Their distribution; each row of a `permutation` orders the numbers from 0. */
  readonly kind: NoiseSpec["kind"] | "permutation";
  /** Number of rows. */
  readonly rows: number;
  /** Numbers of a row. */
  readonly size: number;
  /**
   * The one program that uses them, as drawing takes time.
   *
   * @default all
   */
  readonly only?: string;
}

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
export interface ActionValues {
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
   * Arrays for `Experience.learned`, such as TD errors for priorities.
   *
   * @default {}
   */
  readonly results?: Tensors;
}

/** Inputs of {@link Explorer.act}. */
export interface Exploration {
  /** Progress of the run. */
  readonly moment: Moment;
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
}

/** Renewal of noise that is a function of the state. */
export interface StateDependentNoise {
  /**
   * True where new noise is drawn.
   *
   * @param step Steps of each environment so far.
   */
  renews(step: number): boolean;
  /** Steps between two noise draws of an actor in evaluation; -1 draws once. */
  readonly sampleFrequency: number;
}
