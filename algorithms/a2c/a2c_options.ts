import type { Engine } from "@bellman/compute";
import type { Space } from "@bellman/types";
import type { A2CConfig } from "./config.ts";

/** What `A2C` is made for. */
export interface A2CSpaces {
  /** Space of one observation: any but dict and tuple. */
  readonly observationSpace: Space;
  /** Space of one action: any but dict and tuple. */
  readonly actionSpace: Space;
  /** Copies of the environment that act side by side. */
  readonly numEnvs: number;
}

/** Options of `A2C`. */
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

/** One step of all copies, as `A2C.observe` takes it. */
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
