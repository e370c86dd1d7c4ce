/** Array of numbers that results are written into. */
export type FloatArray = Float32Array | Float64Array;

/**
 * Record of `numSteps` steps of `numEnvs` environments. Arrays are env-major
 * `[env, step]`: number `env * numSteps + step` belongs to a step.
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

/** Trajectory with the values of its observations. */
export interface ValuedTrajectory extends Trajectory {
  /** Values of the observations that the steps started from `[env, step]`. */
  readonly values: ArrayLike<number>;
}

/** Trajectory of another policy than the one that is learned about. */
export interface OffPolicyTrajectory extends ValuedTrajectory {
  /**
   * Probability of each taken action under the learned policy, divided by that
   * under the policy which acted `[env, step]`.
   */
  readonly ratios: ArrayLike<number>;
}

/** Off-policy trajectory with the values of the taken actions. */
export interface ActionValuedTrajectory extends OffPolicyTrajectory {
  /** Q-values of the taken actions `[env, step]`. */
  readonly qValues: ArrayLike<number>;
}

/** Layout of the arrays, and the discount. */
export interface ReturnsOptions {
  /** Number of environments: rows of each array. */
  readonly numEnvs: number;
  /** Number of steps of each environment. */
  readonly numSteps: number;
  /**
   * Discount of a step, 0 to 1.
   *
   * @default 0.99
   */
  readonly gamma?: number;
}

/** Checks the layout, and returns the number of numbers of an `[env, step]` array. */
export function sizeOf(
  action: string,
  { numEnvs, numSteps }: ReturnsOptions,
): number {
  for (const [name, count] of Object.entries({ numEnvs, numSteps })) {
    if (Number.isSafeInteger(count) && count > 0) continue;
    throw new RangeError(
      `Cannot ${action}: ${name} is ${count}, expected a whole number above 0`,
    );
  }
  return numEnvs * numSteps;
}

/** Checks the lengths of arrays by name. */
export function checkLengths(
  action: string,
  arrays: Readonly<Record<string, ArrayLike<number>>>,
  length: number,
): void {
  for (const [name, array] of Object.entries(arrays)) {
    if (array === undefined) {
      throw new TypeError(`Cannot ${action}: ${name} is missing`);
    }
    if (array.length === length) continue;
    throw new RangeError(
      `Cannot ${action}: ${name} has ${array.length} numbers, expected ${length}`,
    );
  }
}

/** Checks that a trajectory's arrays fit the layout. */
export function checkTrajectory(
  action: string,
  { rewards, terminated, truncated, lastValues, finalValues }: Trajectory,
  options: ReturnsOptions,
): void {
  const size = sizeOf(action, options);
  checkLengths(action, { rewards, terminated, truncated }, size);
  checkLengths(action, { lastValues }, options.numEnvs);
  if (finalValues !== undefined) checkLengths(action, { finalValues }, size);
}

/** Checks that numbers lie between 0 and a limit. */
export function checkRange(
  action: string,
  numbers: Readonly<Record<string, number>>,
  limit: number,
): void {
  for (const [name, value] of Object.entries(numbers)) {
    if (value >= 0 && value <= limit) continue;
    const wanted = limit === Infinity ? "at least 0" : `0 to ${limit}`;
    throw new RangeError(
      `Cannot ${action}: ${name} is ${value}, expected ${wanted}`,
    );
  }
}

/** Tells whether an episode ended with a step, one way or the other. */
export function hasEnded(
  { terminated, truncated }: Trajectory,
  index: number,
): boolean {
  return Boolean(terminated[index]) || Boolean(truncated[index]);
}

/**
 * Returns the value of what follows a step that ended its episode: nothing
 * follows an end state, but an episode that was cut short would have gone on.
 */
export function valueAfterEnd(
  { terminated, finalValues }: Trajectory,
  index: number,
): number {
  if (terminated[index]) return 0;
  if (finalValues !== undefined) return finalValues[index];
  throw new TypeError(
    `Cannot bootstrap from truncated step ${index}: finalValues is missing`,
  );
}
