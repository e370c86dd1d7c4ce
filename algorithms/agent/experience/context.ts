import type { TensorData } from "@bellman/compute";
import type { GoalFunctions, ObservationScaling, Space } from "@bellman/types";
import type * as tf from "@tensorflow/tfjs";

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
   * Frames that an observation stacks along its last axis, as `VecFrameStack`
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

/** Progress of a run. */
export interface Moment {
  /** Environment steps so far, of all environments. */
  readonly steps: number;
  /** Updates so far. */
  readonly updates: number;
  /** Fraction of the run that is done, from 0 to 1. */
  readonly progress: number;
}
