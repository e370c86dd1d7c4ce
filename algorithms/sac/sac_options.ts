import type { Engine } from "@bellman/compute";
import type { ExportPolicyOptions, SpaceLike } from "@bellman/policies";
import type { StateTree } from "@bellman/training";
import type { SacConfig } from "./config.ts";

/**
 * What `SAC` is made for.
 *
 * @example
 * ```ts
 * import { SAC, type SacSpaces } from "@bellman/sac";
 * import { assertEquals } from "@std/assert";
 *
 * const spaces: SacSpaces = {
 *   observationSpace: { type: "discrete", n: 3 },
 *   actionSpace: { type: "discrete", n: 2 },
 *   numEnvs: 2,
 * };
 * const agent = new SAC(spaces, { config: { bufferSize: 1000 } });
 * assertEquals(agent.act(Int32Array.of(0, 2)).length, 2);
 * agent.close();
 * ```
 */
export interface SacSpaces {
  /** Space of one observation: any but dict and tuple. */
  readonly observationSpace: SpaceLike;
  /** Space of one action: box with finite bounds, or discrete. */
  readonly actionSpace: SpaceLike;
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

/**
 * Options of `SAC`.
 *
 * @example
 * ```ts
 * import type { SacOptions } from "@bellman/sac";
 * import { assertEquals } from "@std/assert";
 *
 * const options: SacOptions = {
 *   config: { critics: "value", bufferSize: 10_000 },
 *   rewardScale: (iteration) => Math.min(5, 1 + iteration / 1000),
 * };
 * assertEquals(options.rewardScale?.(2000), 3);
 * ```
 */
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
 *
 * @example
 * ```ts
 * import type { ObservationScale } from "@bellman/sac";
 * import { box, ObservationNormalizer } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const space = box({ low: -8, high: 8, shape: [3] });
 * const scale: ObservationScale = new ObservationNormalizer(space);
 * assertEquals(scale.scaling.mean.length, 3);
 * ```
 */
export interface ObservationScale {
  /** Space of scaled observations. */
  readonly space: SpaceLike;
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
 *
 * @example
 * ```ts
 * import type { RewardScale } from "@bellman/sac";
 * import { RewardNormalizer } from "@bellman/envs";
 * import { assert } from "@std/assert";
 *
 * const scale: RewardScale = new RewardNormalizer(1);
 * const scaled = new Float32Array(1);
 * scale.scale([-1e6], scaled, 3); // a sum of three rewards
 * assert(scaled[0] === -30);
 * ```
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
 *
 * @example
 * ```ts
 * import type { SacNormalization } from "@bellman/sac";
 * import { RewardNormalizer } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const normalization: SacNormalization = { rewards: new RewardNormalizer(4) };
 * assertEquals(normalization.observations, undefined);
 * ```
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

/**
 * One step of all copies, as `SAC.observe` takes it.
 *
 * @example
 * ```ts
 * import type { SacStep } from "@bellman/sac";
 * import { assertEquals } from "@std/assert";
 *
 * const step: SacStep = {
 *   observations: Int32Array.of(1, 0),
 *   rewards: Float64Array.of(0, 1),
 *   terminated: Uint8Array.of(0, 1),
 *   truncated: Uint8Array.of(0, 0),
 *   finalObservations: Int32Array.of(0, 2),
 * };
 * assertEquals(step.rewards.length, step.terminated.length);
 * ```
 */
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
