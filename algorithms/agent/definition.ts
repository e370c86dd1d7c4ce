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
   * Finds settings without effect given the others, and why: a run says so where
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
   * Builds the networks, the first state, the update and the source of its batches.
   *
   * @param config All settings.
   * @param context Spaces, length of the run, stream of the first parameters.
   * @returns The parts of an agent.
   */
  build(config: Config, context: BuildContext): AnyParts<P>;
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
export interface WorkersAlgorithm extends SteppingAlgorithm {
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
 * @typeParam I Inputs of an update beside the batch.
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
  /** Source of batches: `rollout(...)`, `replay(...)`, `segments(...)` or one of its own. */
  readonly experience: ExperienceSpec;
  /**
   * Numbers that change over the run, of which `learningRate` is logged, and random
   * numbers.
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
   * Exploration in the place of the policy, such as random actions at first.
   *
   * @default none: the policy acts
   */
  readonly explore?: Explorer;
  /**
   * Computes parts of the state outside of the compiled update: before actions, where
   * parameters are learned elsewhere too, or after updates, where factors are
   * inverted now and then.
   *
   * @param when Before an action or a look at the parameters, or after an update.
   * @param moment Progress of the run.
   * @param read Copies the present state out.
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
   * @default drawn anew at each step
   */
  readonly noise?: StateDependentNoise;
  /**
   * Q function, for plots.
   *
   * @default none
   */
  readonly actionValues?: ActionValues;
  /** Frees what the parts hold beside tensors, such as threads. */
  close?(): void;
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

/** Input of an update: a number of the moment, or random numbers drawn anew. */
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
   * The one program that takes them, as drawing takes time.
   *
   * @default all
   */
  readonly only?: string;
}

/** Exploration in the place of the policy. */
export interface Explorer {
  /**
   * Chooses actions, or changes those of the policy.
   *
   * @param exploration Progress, random stream, and the policy's actions.
   * @returns Actions `[numEnvs, ...]` as the policy samples them.
   */
  act(exploration: Exploration): TensorData;
  /**
   * Saves what it keeps from step to step.
   *
   * @default nothing
   */
  save?(): StateTree;
  /** Restores what `save` gave. */
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

/** All tensors that an update moves, by part and path; `policy` acts. */
export type AgentState = { readonly [part: string]: Params };

/** Numbers of an {@link AgentState}. */
export type SavedState = {
  readonly [part: string]: Readonly<
    Record<string, { data: TensorData; shape: number[] }>
  >;
};

/** Result of an update: new tensors, those that it was given stay. */
export interface UpdateResult<S extends AgentState = AgentState> {
  /** State after the update, of the same parts. */
  readonly state: S;
  /** Scalars for the log; each name keeps its last value. */
  readonly stats: Readonly<Record<string, tf.Tensor | undefined>>;
  /**
   * Arrays for `Experience.learned`, such as errors that become priorities.
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
