/**
 * Arrays of numbers that results are written into.
 *
 * @example
 * ```ts
 * import { discountWithDones, type FloatArray } from "@bellman/returns";
 * import { assertEquals } from "@std/assert";
 *
 * const out: FloatArray = new Float32Array(1);
 * discountWithDones([3], [1], { numEnvs: 1, numSteps: 1, out });
 * assertEquals(out[0], 3);
 * ```
 */
export type FloatArray = Float32Array | Float64Array;

/**
 * What happened in `numSteps` steps of `numEnvs` environments. Arrays are
 * env-major `[env, step]`: number `env * numSteps + step` belongs to a step.
 *
 * @example
 * ```ts
 * import { nStepReturns, type Trajectory } from "@bellman/returns";
 * import { assertEquals } from "@std/assert";
 *
 * // Cut off after the second step: its last observation is worth 10.
 * const trajectory: Trajectory = {
 *   rewards: [1, 1],
 *   terminated: [0, 0],
 *   truncated: [0, 1],
 *   finalValues: [0, 10],
 *   lastValues: [0],
 * };
 * const options = { numEnvs: 1, numSteps: 2, gamma: 1 };
 * assertEquals([...nStepReturns(trajectory, options)], [12, 11]);
 * ```
 */
export interface Trajectory {
  /** Rewards of the steps `[env, step]`. */
  readonly rewards: ArrayLike<number>;
  /** Not 0 where the step reached an end state `[env, step]`. */
  readonly terminated: ArrayLike<number>;
  /** Not 0 where the step's episode was cut short `[env, step]`. */
  readonly truncated: ArrayLike<number>;
  /**
   * Values of the true last observations `[env, step]`, read only where a step
   * was truncated and not terminated; may be left out where there is no such
   * step.
   *
   * @default undefined
   */
  readonly finalValues?: ArrayLike<number>;
  /** Values of the observations after each row's last step `[env]`. */
  readonly lastValues: ArrayLike<number>;
}

/**
 * A trajectory with the values of its observations.
 *
 * @example
 * ```ts
 * import type { ValuedTrajectory } from "@bellman/returns";
 * import { assertEquals } from "@std/assert";
 *
 * const trajectory: ValuedTrajectory = {
 *   rewards: [1],
 *   terminated: [0],
 *   truncated: [0],
 *   values: [0.5],
 *   lastValues: [2],
 * };
 * assertEquals(trajectory.values.length, trajectory.rewards.length);
 * ```
 */
export interface ValuedTrajectory extends Trajectory {
  /** Values of the observations that the steps started from `[env, step]`. */
  readonly values: ArrayLike<number>;
}

/**
 * A trajectory of another policy than the one that is learned about.
 *
 * @example
 * ```ts
 * import type { OffPolicyTrajectory } from "@bellman/returns";
 * import { assertEquals } from "@std/assert";
 *
 * const trajectory: OffPolicyTrajectory = {
 *   rewards: [1],
 *   terminated: [1],
 *   truncated: [0],
 *   values: [0],
 *   ratios: [0.5],
 *   lastValues: [0],
 * };
 * assertEquals(trajectory.ratios[0], 0.5);
 * ```
 */
export interface OffPolicyTrajectory extends ValuedTrajectory {
  /**
   * Probability of each taken action under the learned policy, divided by that
   * under the policy which acted `[env, step]`.
   */
  readonly ratios: ArrayLike<number>;
}

/**
 * An off-policy trajectory with the values of the taken actions.
 *
 * @example
 * ```ts
 * import type { ActionValuedTrajectory } from "@bellman/returns";
 * import { assertEquals } from "@std/assert";
 *
 * const trajectory: ActionValuedTrajectory = {
 *   rewards: [1],
 *   terminated: [1],
 *   truncated: [0],
 *   values: [0],
 *   qValues: [0.5],
 *   ratios: [1],
 *   lastValues: [0],
 * };
 * assertEquals(trajectory.qValues[0], 0.5);
 * ```
 */
export interface ActionValuedTrajectory extends OffPolicyTrajectory {
  /** Q-values of the taken actions `[env, step]`. */
  readonly qValues: ArrayLike<number>;
}

/**
 * How the arrays are laid out, and the discount.
 *
 * @example
 * ```ts
 * import { nStepReturns, type ReturnsOptions } from "@bellman/returns";
 * import { assertEquals } from "@std/assert";
 *
 * const trajectory = {
 *   rewards: [1, 1],
 *   terminated: [0, 1],
 *   truncated: [0, 0],
 *   lastValues: [9],
 * };
 * // Two steps of one copy: [env, step].
 * const options: ReturnsOptions = { numEnvs: 1, numSteps: 2, gamma: 0.5 };
 * assertEquals([...nStepReturns(trajectory, options)], [1.5, 1]);
 * ```
 */
export interface ReturnsOptions {
  /** Environments: rows of each array. */
  readonly numEnvs: number;
  /** Steps of each environment. */
  readonly numSteps: number;
  /**
   * Discount of a step, 0 to 1.
   *
   * @default 0.99
   */
  readonly gamma?: number;
}
