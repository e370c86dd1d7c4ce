import type {
  Params,
  RandomStream,
  ResidentState,
  TensorData,
  TensorType,
} from "@bellman/compute";
import type {
  ObservationInputArrays,
  Policy,
  PolicyCompilation,
  PolicyGiven,
  PolicyOutput,
} from "@bellman/policies";
import type { StateTree, Statistics, VecStep } from "@bellman/types";
import type * as tf from "@tensorflow/tfjs";
import type { AgentContext, Arrays, Moment, Tensors } from "./context.ts";
import type { Observations, RewardScale } from "./observations.ts";
import type { ReplayStore } from "./replay_store.ts";

/** Source of an agent's batches, before there is an agent. */
export interface ExperienceSpec<Options = unknown> {
  /** Its kind: `rollout`, `replay`, `segments` or another one. */
  readonly kind: string;
  /** Sizes and update frequency. */
  readonly options: Options;
  /**
   * Creates the experience of one agent.
   *
   * @param runtime Policy, observations and number of environments of the agent.
   */
  make(runtime: AgentRuntime): Experience;
}

/** One decision of an agent; the arrays are overwritten by the next one. */
export interface Decision {
  /** Observations as the environment returned them, in the encoder's type. */
  readonly observations: ObservationInputArrays;
  /** Observations as the policy saw them; the same where nothing is scaled. */
  readonly inputs: ObservationInputArrays;
  /** Actions as the policy sampled them. */
  readonly actions: TensorData;
  /** Masks that they were chosen by `[numEnvs, choices]`, where actions are masked. */
  readonly actionMasks?: Uint8Array;
  /** Results of `Experience.record`; undefined where the policy did not act. */
  readonly recorded: Readonly<Record<string, TensorData | undefined>>;
  /** Recurrent state before the decision `[numEnvs, stateSize]`. */
  readonly state: Float32Array;
  /** 1 where an episode started with it `[numEnvs]`. */
  readonly starts: Float32Array;
  /** Recurrent state after the decision; recurrent policies only. */
  readonly nextState?: Float32Array;
}

/** Inputs that an {@link Experience} is created from. */
export interface AgentRuntime extends AgentContext {
  /** Policy that acts. */
  readonly policy: Policy;
  /** Latest parameters of the policy. */
  readonly params: () => ResidentState<Params>;
  /** Compiles functions of the policy. */
  readonly compilation: PolicyCompilation;
  /** Observations as stored and as the policy sees them. */
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
  /** Shapes and types of a batch, by name. */
  readonly batch: Readonly<Record<string, TensorType>>;
  /**
   * Computes what a step is recorded with in addition to actions, such as values.
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
   * @param step The environments' step; copied.
   * @throws {Error} If an update is needed first.
   */
  add(decision: Decision, step: VecStep): void;
  /**
   * Truncates the episodes that the last step left running, with the observations
   * that it led to: the environments are reset. Nothing is left to do where no step
   * was recorded since the last update, or ever.
   *
   * @param state Recurrent state after that step `[numEnvs, stateSize]`.
   */
  endEpisodes(state: Float32Array): void;
  /**
   * Updates to take before the next decision, as `endEpisodes` completed their batches.
   *
   * @default 0
   */
  readonly overdue?: number;
  /**
   * Rounds of updates that a step of one environment brings once there are enough.
   *
   * @default unknown
   */
  readonly updatesPerStep?: number;
  /**
   * Returns the number of updates to take now: 0 after most steps.
   *
   * @param moment Progress of the run.
   * @param random Stream of learning.
   */
  due(moment: Moment, random: RandomStream): number;
  /**
   * Returns the batch of the next update.
   *
   * @param moment Progress of the run.
   * @param random Stream of learning.
   * @returns Arrays of `batch`, which the next call may overwrite.
   */
  draw(moment: Moment, random: RandomStream): Arrays;
  /**
   * Turns the drawn arrays into the batch of an update, for example encodes
   * observations, as part of the compiled update.
   *
   * @param drawn Tensors of `batch`.
   * @param params Parameters of the policy.
   * @returns Tensors that the update takes, and scalars for the log.
   */
  prepare(
    drawn: Tensors,
    params: Params,
  ): { readonly batch: Tensors; readonly stats?: Tensors };
  /**
   * Records the results of the update from the last batch.
   *
   * @param results Arrays of `UpdateResult.results`.
   * @returns Statistics of that batch, for the log.
   */
  learned(results: Arrays): Statistics;
  /**
   * The replay buffer, if there is one; its state is `replay` of `save`.
   *
   * @default none
   */
  readonly replay?: ReplayStore;
  /** Saves its whole state, as plain data. */
  save(): StateTree;
  /** Restores what `save` returned. */
  load(state: StateTree): void;
}
