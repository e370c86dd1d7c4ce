import type { Engine } from "@bellman/compute";
import type { SpaceLike } from "@bellman/policies";
import type { A2CConfig } from "./config.ts";

/**
 * What `A2C` is made for.
 *
 * @example
 * ```ts
 * import { A2C, type A2CSpaces } from "@bellman/a2c";
 * import { assertEquals } from "@std/assert";
 *
 * const spaces: A2CSpaces = {
 *   observationSpace: { type: "discrete", n: 3 },
 *   actionSpace: { type: "discrete", n: 2 },
 *   numEnvs: 2,
 * };
 * const agent = new A2C(spaces);
 * assertEquals((agent.act(Int32Array.of(0, 2)) as Int32Array).length, 2);
 * agent.close();
 * ```
 */
export interface A2CSpaces {
  /** Space of one observation: any but dict and tuple. */
  readonly observationSpace: SpaceLike;
  /** Space of one action: any but dict and tuple. */
  readonly actionSpace: SpaceLike;
  /** Copies of the environment that act side by side. */
  readonly numEnvs: number;
}

/**
 * Options of `A2C`.
 *
 * @example
 * ```ts
 * import { A2C, type A2COptions } from "@bellman/a2c";
 * import { assertEquals } from "@std/assert";
 *
 * const options: A2COptions = { config: { gamma: 0.9 }, seed: 7 };
 * const agent = new A2C({
 *   observationSpace: { type: "discrete", n: 3 },
 *   actionSpace: { type: "discrete", n: 2 },
 *   numEnvs: 2,
 * }, options);
 * assertEquals(agent.config.gamma, 0.9);
 * agent.close();
 * ```
 */
export interface A2COptions {
  /**
   * Settings that differ from the defaults.
   *
   * @default {}
   */
  readonly config?: Partial<A2CConfig>;
  /**
   * Root of the random streams: a whole number of at least 0.
   *
   * @default 0
   */
  readonly seed?: number;
  /**
   * Environment steps of the whole run: how long the learning rate falls.
   *
   * @default 200000
   */
  readonly totalTimesteps?: number;
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
 * One step of all copies, as `A2C.observe` takes it.
 *
 * @example
 * ```ts
 * import type { A2CStep } from "@bellman/a2c";
 * import { assertEquals } from "@std/assert";
 *
 * const step: A2CStep = {
 *   observations: Int32Array.of(1, 0),
 *   rewards: Float64Array.of(0, 1),
 *   terminated: Uint8Array.of(0, 1),
 *   truncated: Uint8Array.of(0, 0),
 *   finalObservations: Int32Array.of(0, 2),
 * };
 * assertEquals(step.rewards.length, step.terminated.length);
 * ```
 */
export interface A2CStep {
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
