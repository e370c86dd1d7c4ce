import type {
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
  ObservationInputArray,
  Policy,
  PolicyCompilation,
  PolicyGiven,
  PolicyOutput,
} from "@bellman/policies";
import type {
  Algorithm,
  Awaitable,
  ObservationScaling,
  Space,
  StateTree,
  VecEnv,
  VecStep,
} from "@bellman/types";
import type { Storage } from "@bellman/buffers/storage";
import type * as tf from "@tensorflow/tfjs";
import type { Observations, RewardScale } from "./observations.ts";
import type { ConfigSchema } from "./schema.ts";

/**
 * An algorithm: its settings, and the parts that they make. `Agent`, the command
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
  /**
   * Name of the package, where it has several algorithms, such as `async`.
   *
   * @default name
   */
  readonly family?: string;
  /** One line for lists of algorithms. */
  readonly summary: string;
  /** Settings with defaults and ranges, made from `Config` by `deno task schema`. */
  readonly schema: ConfigSchema;
  /** Settings that are known to work, as YAML texts by environment id. */
  readonly presets: Readonly<Record<string, string>>;
  /**
   * Settings of a run whose defaults differ for this algorithm.
   *
   * @default {}
   */
  readonly runDefaults?: Readonly<Record<string, unknown>>;
  /**
   * True where it learns from old steps: it takes original observations and
   * rewards, and scales them itself when it acts and when it draws.
   *
   * @default false
   */
  readonly hasReplay?: boolean;
  /**
   * True where the policy always takes the best action, and exploration chooses in
   * its place: evaluations have no other form.
   *
   * @default false
   */
  readonly isGreedy?: boolean;
  /**
   * Finds settings that do nothing beside the others, and why: a run says so where
   * one of them is given.
   *
   * @param config All settings.
   * @returns Reasons by setting.
   * @default none
   */
  idle?(config: Config): Readonly<Record<string, string>>;
  /**
   * Refuses settings that exclude each other; ranges are checked before.
   *
   * @param config All settings.
   * @param context Spaces and length of the run.
   */
  check?(config: Config, context: AgentContext): void;
  /**
   * Builds the networks, the update and the source of its batches.
   *
   * @param config All settings.
   * @param context Spaces and length of the run.
   * @returns The parts of an agent.
   */
  build(config: Config, context: AgentContext): AgentParts<P>;
  /**
   * Starts workers that act and learn in environments of their own, in the place of
   * one agent.
   *
   * @default none: an agent acts in a vector environment
   */
  startWorkers?(run: WorkersRun<Config>): Awaitable<WorkersAlgorithm>;
}

/** Run of an algorithm whose workers have environments of their own. */
export interface WorkersRun<Config extends object = object> {
  /** Settings that differ from the defaults. */
  readonly config: Partial<Config>;
  /** Root of the random streams. */
  readonly seed: number;
  /** Steps of all workers in the whole run. */
  readonly totalTimesteps: number;
  /** Module whose default export makes a worker's environment. */
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
  /** Milliseconds without a step after which a worker is replaced. */
  readonly stepTimeoutMs: number;
  /** Engine of acting and learning. */
  readonly engine: Engine;
  /** Backend of the eager engine. */
  readonly backend: BackendName;
  /** Takes a line about a worker that was replaced. */
  readonly onNotice: (line: string) => void;
  /** True where a state is restored and acted by, and nothing is learned. */
  readonly isForEvaluation: boolean;
}

/** Algorithm whose workers act and learn in environments of their own. */
export interface WorkersAlgorithm extends Algorithm {
  /** Environment that the training loop steps, which stands for the workers'. */
  readonly env: VecEnv;
  /** Steps a second of each worker. */
  readonly workerRates: readonly number[];
}

/**
 * Settings that differ from the defaults. Where they name a network, one of your
 * own may stand.
 *
 * @typeParam Config Settings of the algorithm.
 */
export type AgentSettings<Config extends object = object> = {
  readonly [Key in keyof Config]?: Key extends "network" ? Config[Key] | Network
    : Config[Key];
};

/** Spaces of one environment, and the number of environments. */
export interface AgentSpaces {
  /** Space of one observation: any but dict and tuple. */
  readonly observationSpace: Space;
  /** Space of one action: any but dict and tuple. */
  readonly actionSpace: Space;
  /** Environments that step side by side. */
  readonly numEnvs: number;
  /**
   * Frames that an observation stacks along its last axis, as `VecFrameStack`
   * and Atari's environments report: a replay buffer keeps each frame once.
   *
   * @default 1
   */
  readonly stackedFrames?: number;
  /**
   * Present scale of the observations, where the environment gives them scaled:
   * files of the policy apply it.
   *
   * @default none
   */
  readonly observationScaling?: ObservationScaling;
}

/** Everything that an agent is built for, observations as the policy sees them. */
export interface AgentContext extends AgentSpaces {
  /** Environment steps of the whole run. */
  readonly totalTimesteps: number;
}

/**
 * The parts of an agent. Acting, compiling, counting and saving are the same for
 * all algorithms.
 *
 * @typeParam P Policy that acts.
 */
export interface AgentParts<P extends Policy = Policy> {
  /** Policy that acts; its parameters are the part `policy` of the state. */
  readonly policy: P;
  /** Source of batches: `rollout(...)`, `replay(...)`, `segments(...)` or one of its own. */
  readonly experience: (runtime: AgentRuntime) => Experience;
  /**
   * Initializes parameters, target networks and optimizer slots; called once,
   * before all else.
   *
   * @param random Stream of the first parameters.
   * @returns New tensors; the agent copies and frees them.
   */
  init(random: RandomStream): AgentState;
  /**
   * Computes one update as a pure function, which is traced and compiled.
   *
   * @param state Tensors before the update.
   * @param batch Tensors of `Experience.batch` and `updateNoise`.
   * @param numbers Scalars of `numbers`.
   * @returns Tensors after the update.
   */
  update(
    state: AgentState,
    batch: Tensors,
    numbers: Readonly<Record<string, tf.Scalar>>,
  ): UpdateResult;
  /**
   * Computes the same update where nobody reads its statistics, so that what they
   * alone need is left out: of the updates that are due at once, all but the last.
   *
   * @default update
   */
  readonly quietUpdate?: AgentParts["update"];
  /**
   * Computes the updates that do more than most, such as to take in statistics:
   * they are a program of their own, and `update` is that of all others.
   *
   * @default none
   */
  readonly fullUpdate?: {
    /**
     * Tells if an update is one of them.
     *
     * @param moment Progress of the run before the update.
     */
    isDue(moment: Moment): boolean;
    /** Takes the update, with the same statistics. */
    readonly update: AgentParts["update"];
  };
  /**
   * Gives the numbers of the next update, always of the same names;
   * `learningRate` is logged.
   *
   * @param moment Progress of the run.
   */
  numbers(moment: Moment): Readonly<Record<string, number>>;
  /**
   * Random inputs of an update by name, drawn anew for each that takes them.
   *
   * @default {}
   */
  readonly updateNoise?: Readonly<Record<string, UpdateNoise>>;
  /**
   * Chooses actions in the policy's place, or changes them: random ones at first.
   *
   * @default the policy's
   */
  explore?(exploration: Exploration): TensorData;
  /**
   * State that `explore` keeps from step to step, which is saved with the agent.
   *
   * @default none
   */
  readonly explorationState?: {
    /** Returns the state as plain data. */
    save(): StateTree;
    /** Restores a state that `save` gave. */
    load(state: StateTree): void;
  };
  /**
   * Gives a state that was learned elsewhere, before each decision and whenever the
   * parameters are asked for.
   *
   * @returns The records of the state that change, or `undefined` where all stay.
   */
  renew?(): SavedState | undefined;
  /**
   * Renewal of state-dependent noise (gSDE).
   *
   * @default drawn anew at each step
   */
  readonly stateDependentNoise?: StateDependentNoise;
  /**
   * Computes parts of the state outside of the compiled update, after each
   * update: factors that are inverted now and then.
   *
   * @param moment Progress of the run, this update included.
   * @param read Copies the present state out.
   * @returns The records of the state that change, or `undefined` where all stay.
   */
  refresh?(
    moment: Moment,
    read: () => SavedState,
  ): SavedState | undefined;
  /** Frees what the parts hold beside tensors, such as threads. */
  close?(): void;
  /**
   * Q function, for plots.
   *
   * @default none
   */
  readonly actionValues?: ActionValues;
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

/** Tensors by name. */
export type Tensors = Readonly<Record<string, tf.Tensor>>;

/** Arrays by name. */
export type Arrays = Readonly<Record<string, TensorData>>;

/** All tensors that an update moves, by part and path; `policy` acts. */
export type AgentState = { readonly [part: string]: Params };

/** Numbers of an {@link AgentState}. */
export type SavedState = {
  readonly [part: string]: Readonly<
    Record<string, { data: TensorData; shape: number[] }>
  >;
};

/** Result of an update: new tensors, those that it was given stay. */
export interface UpdateResult {
  /** State after the update, of the same parts. */
  readonly state: AgentState;
  /** Scalars for the log. */
  readonly stats: Readonly<Record<string, tf.Tensor | undefined>>;
  /**
   * Arrays for `Experience.learned`, such as errors that become priorities.
   *
   * @default {}
   */
  readonly results?: Tensors;
}

/** Random numbers that an update takes: their kind and, by row, their number. */
export interface UpdateNoise extends NoiseSpec {
  /** Number of rows. */
  readonly rows: number;
  /**
   * True where `fullUpdate` alone takes them: drawing them takes time.
   *
   * @default false
   */
  readonly fullOnly?: boolean;
}

/** Progress of a run. */
export interface Moment {
  /** Environment steps so far, of all environments. */
  readonly steps: number;
  /** Updates so far. */
  readonly updates: number;
  /** Share of the run that is over, from 0 to 1. */
  readonly progress: number;
}

/** Inputs of {@link AgentParts.explore}. */
export interface Exploration {
  /** Progress of the run. */
  readonly moment: Moment;
  /** Stream of acting. */
  readonly random: RandomStream;
  /** Samples the policy's actions `[numEnvs, ...]`, which may be written to. */
  readonly sample: () => TensorData;
}

/** Renewal of noise that is a function of the state. */
export interface StateDependentNoise {
  /**
   * Tells where new noise is drawn.
   *
   * @param step Steps of each environment so far.
   */
  renews(step: number): boolean;
  /** Steps between two draws of an actor in evaluation; -1 draws once. */
  readonly sampleFrequency: number;
}

/** One decision of an agent; the arrays are written anew by the next one. */
export interface Decision {
  /** Observations as the environment gave them, in the encoder's type. */
  readonly observations: ObservationInputArray;
  /** Observations as the policy saw them; the same where nothing is scaled. */
  readonly inputs: ObservationInputArray;
  /** Actions as the policy sampled them. */
  readonly actions: TensorData;
  /** Results of `Experience.record`; undefined where the policy did not act. */
  readonly recorded: Readonly<Record<string, TensorData | undefined>>;
  /** Recurrent state before the decision `[numEnvs, stateSize]`. */
  readonly state: Float32Array;
  /** 1 where an episode started with it `[numEnvs]`. */
  readonly starts: Float32Array;
  /** Recurrent state after the decision; recurrent policies only. */
  readonly nextState?: Float32Array;
}

/** Everything around an {@link Experience}. */
export interface AgentRuntime extends AgentContext {
  /** Policy that acts. */
  readonly policy: Policy;
  /** Newest parameters of the policy. */
  readonly params: () => ResidentState<Params>;
  /** Compilation of functions of the policy. */
  readonly compilation: PolicyCompilation;
  /** Observations as they are kept and as the policy sees them. */
  readonly observations: Observations;
  /**
   * Scale of rewards that the agent applies itself.
   *
   * @default none
   */
  readonly rewards?: RewardScale;
}

/** Steps that an agent learns from. */
export interface Experience {
  /** Shapes and types of a batch by name: inputs of the update. */
  readonly batch: Readonly<Record<string, TensorType>>;
  /** Steps or transitions that it can learn from. */
  readonly length: number;
  /**
   * True where the next thing to do is an update.
   *
   * @default false
   */
  readonly full?: boolean;
  /**
   * Computes beside the actions what a step is recorded with, such as values.
   *
   * @param output Output of the policy.
   * @param given Parameters and noise.
   */
  record?(
    output: PolicyOutput,
    given: PolicyGiven,
  ): Readonly<Record<string, tf.Tensor | undefined>>;
  /**
   * Records a step.
   *
   * @param decision The decision.
   * @param step The environments' answer; copied.
   */
  add(decision: Decision, step: VecStep): void;
  /**
   * Tells how many updates are due: none after most steps.
   *
   * @param moment Progress of the run.
   * @param random Stream of learning.
   */
  due(moment: Moment, random: RandomStream): number;
  /**
   * Gives the batch of the next update.
   *
   * @param moment Progress of the run.
   * @param random Stream of learning.
   * @returns Arrays of `batch`, which the next call may write anew.
   */
  draw(moment: Moment, random: RandomStream): Arrays;
  /**
   * Computes inputs of the update from a batch, as a part of the compiled update.
   *
   * @param params Parameters of the policy.
   * @param batch Tensors of `batch`.
   * @returns Tensors that the update takes in the place of the batch, and
   * scalars for the log.
   * @default none: the update takes the batch
   */
  readonly prepare?: (
    params: Params,
    batch: Tensors,
  ) => { readonly batch: Tensors; readonly stats: Tensors };
  /** Statistics of the batch that was drawn last, for the log. */
  readonly stats?: Readonly<Record<string, number>>;
  /**
   * Takes in the results of the update from the last batch.
   *
   * @param results Arrays of `UpdateResult.results`.
   */
  learned?(results: Arrays): void;
  /**
   * Keeps what it replays in a storage, before the first step.
   *
   * @param storage Place of the replay buffer's rows; none from now on without it.
   */
  keepIn?(storage: Storage | undefined): void;
  /**
   * Finds the rows that a saved state has in a storage.
   *
   * @param state State that `save` gave.
   * @returns What the storage saved; nothing where the state has all.
   */
  savedRows?(state: StateTree): StateTree | undefined;
  /**
   * Puts the present replay buffer in the place of a saved state's own.
   *
   * @param state State that `save` gave.
   */
  withReplay?(state: StateTree): StateTree;
  /** Saves everything that it holds, as plain data. */
  save(): StateTree;
  /** Restores what `save` gave. */
  load(state: StateTree): void;
}
