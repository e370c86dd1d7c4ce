import type { Engine } from "@bellman/compute";
import type { SpaceLike } from "@bellman/policies";
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
 * const agent = new SAC(spaces, { config: { bufferSize: 100 } });
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
