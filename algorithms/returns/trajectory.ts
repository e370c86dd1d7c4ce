/** Arrays of numbers that results are written into. */
export type FloatArray = Float32Array | Float64Array;

/**
 * What happened in `numSteps` steps of `numEnvs` environments. Arrays are
 * env-major `[env, step]`: number `env * numSteps + step` belongs to a step.
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

/** A trajectory with the values of its observations. */
export interface ValuedTrajectory extends Trajectory {
  /** Values of the observations that the steps started from `[env, step]`. */
  readonly values: ArrayLike<number>;
}

/** A trajectory of another policy than the one that is learned about. */
export interface OffPolicyTrajectory extends ValuedTrajectory {
  /**
   * Probability of each taken action under the learned policy, divided by that
   * under the policy which acted `[env, step]`.
   */
  readonly ratios: ArrayLike<number>;
}

/** An off-policy trajectory with the values of the taken actions. */
export interface ActionValuedTrajectory extends OffPolicyTrajectory {
  /** Q-values of the taken actions `[env, step]`. */
  readonly qValues: ArrayLike<number>;
}

/** How the arrays are laid out, and the discount. */
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
