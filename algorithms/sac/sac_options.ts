import type { Engine } from "@bellman/compute";
import type { ExportPolicyOptions } from "@bellman/policies";
import type { Space, StateTree } from "@bellman/types";
import type { SacConfig } from "./config.ts";

/** What `SAC` is made for. */
export interface SacSpaces {
  /** Space of one observation: any but dict and tuple. */
  readonly observationSpace: Space;
  /** Space of one action: box with finite bounds, or discrete. */
  readonly actionSpace: Space;
  /** Copies of the environment that act side by side. */
  readonly numEnvs: number;
  /**
   * Frames that an observation stacks along its last axis, as `VecFrameStack`
   * and Atari's environments say of themselves: each frame is kept once.
   * Observations that are no such stacks are refused when they arrive.
   *
   * @default 1
   */
  readonly stackedFrames?: number;
}

/** Options of `SAC`. */
export interface SacOptions {
  /**
   * Settings that differ from the defaults.
   *
   * @default {}
   */
  readonly config?: Partial<SacConfig>;
  /**
   * Root of the random streams: a whole number of at least 0.
   *
   * @default 0
   */
  readonly seed?: number;
  /**
   * Environment steps of the whole run: how long schedules last.
   *
   * @default 200000
   */
  readonly totalTimesteps?: number;
  /**
   * What rewards are multiplied with, by the number of updates made before
   * (`scale_reward` as a function of the iteration).
   *
   * @default config.rewardScale
   */
  readonly rewardScale?: (iteration: number) => number;
  /**
   * Scales of observations and rewards that move with what is seen.
   *
   * @default none
   */
  readonly normalization?: SacNormalization;
  /**
   * What acts and learns: ONNX Runtime on compiled graphs, or TensorFlow.js.
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
}

/**
 * Scale of observations that moves with those that are seen, such as
 * `ObservationNormalizer` of `@bellman/envs`.
 */
export interface ObservationScale {
  /** Space of scaled observations. */
  readonly space: Space;
  /** Present scale, for the file of a policy. */
  readonly scaling: NonNullable<ExportPolicyOptions["scaling"]>;
  /** Takes observations `[rows, ...]` into the statistics. */
  see(batch: ArrayLike<number>): void;
  /** Scales observations `[rows, ...]` by the present statistics. */
  apply(batch: ArrayLike<number>, target: Float32Array): void;
  /** Saves the statistics as plain data. */
  save(): StateTree;
  /** Restores what `save` gave. */
  load(state: StateTree): void;
}

/**
 * Scale of rewards that moves with those that are seen, such as
 * `RewardNormalizer` of `@bellman/envs`.
 */
export interface RewardScale {
  /** Takes the rewards of one step `[numEnvs]` into the statistics. */
  see(
    rewards: ArrayLike<number>,
    ends: { readonly terminated: Uint8Array; readonly truncated: Uint8Array },
  ): void;
  /**
   * Scales rewards by the present statistics; each is a sum that may be as large
   * as `span` rewards.
   */
  scale(rewards: ArrayLike<number>, target: Float32Array, span?: number): void;
  /** Saves the statistics as plain data. */
  save(): StateTree;
  /** Restores what `save` gave. */
  load(state: StateTree): void;
}

/**
 * Scales of an agent that keeps what it saw: original observations and rewards
 * go into the replay buffer, and are scaled by the statistics of the moment when
 * it acts and when it draws. Its environments are not to scale them, too.
 */
export interface SacNormalization {
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

/** One step of all copies, as `SAC.observe` takes it. */
export interface SacStep {
  /** Observations after the step; ended rows hold a new episode's first. */
  readonly observations: unknown;
  /** Rewards `[numEnvs]`. */
  readonly rewards: Float64Array;
  /** 1 where the episode reached an end state `[numEnvs]`. */
  readonly terminated: Uint8Array;
  /** 1 where the episode was cut short `[numEnvs]`. */
  readonly truncated: Uint8Array;
  /** True last observations; a row is valid where the episode ended. */
  readonly finalObservations: unknown;
}
