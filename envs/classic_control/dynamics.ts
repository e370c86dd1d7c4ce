import type { BoxSpace, DiscreteSpace, RandomSource } from "@bellman/types";

/**
 * The rules of an environment whose state is a few float64 numbers, whose
 * observation is a few float32 numbers and whose action is a single number.
 *
 * The functions work in place on the `stateSize` numbers from `at` on, so that
 * one environment and a batch of them share the same code, bit for bit. The
 * ones for all rows are loops of their own in each file, so that the engine can
 * inline what one row needs.
 */
export interface Dynamics {
  /** What it is called in error messages. */
  readonly name: string;
  /** How many numbers the state has. */
  readonly stateSize: number;
  /** What observations can be, of shape `[k]`. */
  readonly observationSpace: BoxSpace;
  /** What actions can be: whole numbers, or a box of one number. */
  readonly actionSpace: DiscreteSpace | BoxSpace;
  /** Draws a first state. */
  reset(state: Float64Array, at: number, random: RandomSource): void;
  /** Takes one step and returns its reward. */
  step(state: Float64Array, at: number, action: number): number;
  /** Whether the state ends an episode. */
  hasEnded(state: Float64Array, at: number): boolean;
  /** Writes what is seen of the state. */
  observe(state: Float64Array, at: number, target: ObservationRow): void;
  /** Takes one step in every row. */
  stepAll(state: Float64Array, rows: DynamicsRows): void;
  /** Writes what is seen of every row. */
  observeAll(state: Float64Array, observations: Float32Array): void;
}

/** Where an observation is written. */
export interface ObservationRow {
  /** The array it is part of. */
  values: Float32Array;
  /** Where it begins. */
  at: number;
}

/** The actions of all rows, and where what comes of them is written. */
export interface DynamicsRows {
  /** One action for each row. */
  readonly actions: Int32Array | Float32Array;
  /** The rewards. */
  readonly rewards: Float64Array;
  /** 1 where the new state ends the episode. */
  readonly terminated: Uint8Array;
}
