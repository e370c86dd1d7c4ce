/** Array of numbers that results are written into. */
export type FloatArray = Float32Array | Float64Array;

/**
 * Rollout: `numSteps` steps of `numEnvs` environments. Arrays are env-major `[env,
 * step]`: step `t` of environment `e` is at `e * numSteps + t`.
 */
export interface Trajectory {
  /** Rewards of the steps `[env, step]`. */
  readonly rewards: ArrayLike<number>;
  /** Not 0 where the step terminated its episode `[env, step]`. */
  readonly terminated: ArrayLike<number>;
  /** Not 0 where the step's episode was truncated `[env, step]`. */
  readonly truncated: ArrayLike<number>;
  /**
   * Values of the final observations of truncated episodes `[env, step]`; read only
   * where a step is truncated and not terminated.
   *
   * @default undefined
   */
  readonly finalValues?: ArrayLike<number>;
  /** Values of the observations after the last steps `[env]`. */
  readonly lastValues: ArrayLike<number>;
}

/** Rollout with the value estimates of its observations. */
export interface ValuedTrajectory extends Trajectory {
  /** Values of the observations before each step `[env, step]`. */
  readonly values: ArrayLike<number>;
}

/** Rollout that another policy (the behaviour policy) collected. */
export interface OffPolicyTrajectory extends ValuedTrajectory {
  /**
   * Importance ratio of each action, its probability under the learned policy divided
   * by that under the behaviour policy `[env, step]`.
   */
  readonly ratios: ArrayLike<number>;
}

/** Off-policy rollout with the Q-values of its actions. */
export interface ActionValuedTrajectory extends OffPolicyTrajectory {
  /** Q-values of the taken actions `[env, step]`. */
  readonly qValues: ArrayLike<number>;
}

/** Layout and discount. */
export interface ReturnsOptions {
  /** Number of environments. */
  readonly numEnvs: number;
  /** Number of steps of each environment. */
  readonly numSteps: number;
  /**
   * Discount factor, 0 to 1.
   *
   * @default 0.99
   */
  readonly gamma?: number;
}

/** Options of {@linkcode nStepReturns} and {@linkcode discountWithDones}. */
export interface NStepReturnsOptions extends ReturnsOptions {
  /**
   * Result array `[env, step]`; nothing is allocated then.
   *
   * @default a new Float64Array
   */
  readonly out?: FloatArray;
}

/**
 * Computes n-step returns: discounted rewards up to the end of the episode or rollout,
 * plus the discounted value of the observation after it.
 *
 * `G_t = r_t + gamma G_{t+1}`; after the last step `G` is the last value, after a
 * truncated step the value of the final observation, and after a terminated one 0.
 *
 * Source: Mnih et al. 2016 (https://arxiv.org/abs/1602.01783), algorithm S3.
 *
 * @param trajectory Rewards, episode ends and values to bootstrap from.
 * @param options Layout and discount.
 * @returns Returns `[env, step]`.
 * @throws {RangeError} If an array's length or gamma is wrong.
 * @throws {TypeError} If an array is missing.
 * @example
 * ```ts
 * import { nStepReturns } from "@bellman/returns";
 * import { assertEquals } from "@std/assert";
 *
 * const returns = nStepReturns({
 *   rewards: [1, 1, 1],
 *   terminated: [0, 1, 0],
 *   truncated: [0, 0, 0],
 *   lastValues: [10],
 * }, { numEnvs: 1, numSteps: 3, gamma: 0.5 });
 * assertEquals(returns, Float64Array.of(1.5, 1, 6));
 * ```
 */
export function nStepReturns(
  trajectory: Trajectory,
  options: NStepReturnsOptions,
): FloatArray {
  const action = "compute n-step returns";
  const { numEnvs, numSteps, gamma = 0.99 } = options;
  checkTrajectory(action, trajectory, options);
  checkRange(action, { gamma }, 1);
  const { rewards, lastValues } = trajectory;
  const out = options.out ?? new Float64Array(rewards.length);
  checkLengths(action, { out }, rewards.length);
  for (let env = 0; env < numEnvs; env++) {
    let returnT = lastValues[env];
    for (let step = numSteps - 1; step >= 0; step--) {
      const t = env * numSteps + step;
      if (hasEnded(trajectory, t)) returnT = valueAfterEnd(trajectory, t);
      returnT = rewards[t] + gamma * returnT;
      out[t] = returnT;
    }
  }
  return out;
}

/**
 * Sums discounted rewards without bootstrapping, `R_t = r_t + gamma R_{t+1} (1 -
 * done_t)`, up to the end of the rollout.
 *
 * Truncated episodes count as terminated, as in the original; {@linkcode nStepReturns}
 * tells them apart.
 *
 * Source: baselines/a2c/utils.py, `discount_with_dones`.
 *
 * @param rewards Rewards `[env, step]`.
 * @param dones Not 0 where an episode ended with the step `[env, step]`.
 * @param options Layout and discount.
 * @returns Sums `[env, step]`.
 * @throws {RangeError} If an array's length or gamma is wrong.
 * @throws {TypeError} If an array is missing.
 * @example
 * ```ts
 * import { discountWithDones } from "@bellman/returns";
 * import { assertEquals } from "@std/assert";
 *
 * const sums = discountWithDones([1, 1, 1, 1], [0, 1, 0, 0], {
 *   numEnvs: 1,
 *   numSteps: 4,
 *   gamma: 0.5,
 * });
 * assertEquals(sums, Float64Array.of(1.5, 1, 1.5, 1));
 * ```
 */
export function discountWithDones(
  rewards: ArrayLike<number>,
  dones: ArrayLike<number>,
  options: NStepReturnsOptions,
): FloatArray {
  const action = "discount rewards";
  const { numEnvs, numSteps, gamma = 0.99 } = options;
  const size = sizeOf(action, options);
  checkLengths(action, { rewards, dones }, size);
  checkRange(action, { gamma }, 1);
  const out = options.out ?? new Float64Array(size);
  checkLengths(action, { out }, size);
  for (let env = 0; env < numEnvs; env++) {
    let sum = 0;
    for (let step = numSteps - 1; step >= 0; step--) {
      const t = env * numSteps + step;
      sum = rewards[t] + (dones[t] ? 0 : gamma * sum);
      out[t] = sum;
    }
  }
  return out;
}

/**
 * Result of {@linkcode generalizedAdvantageEstimation}: a type, not an interface, so
 * that it fits records of arrays such as a rollout's `inputs`.
 */
export type Advantages = {
  /** Advantages `[env, step]`. */
  readonly advantages: FloatArray;
  /** Value targets: advantages plus values `[env, step]`. */
  readonly returns: FloatArray;
};

/** Options of {@linkcode generalizedAdvantageEstimation}. */
export interface AdvantageOptions extends ReturnsOptions {
  /**
   * Bias-variance trade-off (GAE lambda), 0 to 1: 0 uses one-step TD errors, 1 full
   * returns.
   *
   * @default 0.95
   */
  readonly lambda?: number;
  /**
   * Result arrays `[env, step]`, distinct from the trajectory's; nothing is allocated
   * then.
   *
   * @default new Float64Arrays
   */
  readonly out?: Advantages;
}

/**
 * Computes advantages by generalized advantage estimation (GAE).
 *
 * `delta_t = r_t + gamma V_{t+1} - V_t` and `A_t = delta_t + gamma lambda A_{t+1}`.
 * Every episode end cuts the recursion; `V_{t+1}` is 0 after a terminated step, the
 * value of the final observation after a truncated one and the last value after a
 * rollout's last step.
 *
 * Source: Schulman et al. 2016 (https://arxiv.org/abs/1506.02438), equation 16.
 *
 * @param trajectory Rewards, episode ends and values.
 * @param options Layout, discount and lambda.
 * @returns Advantages and returns.
 * @throws {RangeError} If an array's length, gamma or lambda is wrong.
 * @throws {TypeError} If an array is missing.
 * @example
 * ```ts
 * import { generalizedAdvantageEstimation } from "@bellman/returns";
 * import { assertEquals } from "@std/assert";
 *
 * const trajectory = {
 *   rewards: [1, 1],
 *   values: [2, 4],
 *   terminated: [0, 0],
 *   truncated: [0, 1],
 *   finalValues: [0, 8],
 *   lastValues: [100], // of the next episode, which must not be seen
 * };
 * const options = { numEnvs: 1, numSteps: 2, gamma: 0.5, lambda: 1 };
 * assertEquals(generalizedAdvantageEstimation(trajectory, options), {
 *   advantages: Float64Array.of(1.5, 1),
 *   returns: Float64Array.of(3.5, 5),
 * });
 * ```
 */
export function generalizedAdvantageEstimation(
  trajectory: ValuedTrajectory,
  options: AdvantageOptions,
): Advantages {
  const { numEnvs, numSteps, gamma = 0.99, lambda = 0.95 } = options;
  const action = "estimate advantages";
  checkTrajectory(action, trajectory, options);
  const { rewards, values, lastValues } = trajectory;
  const { length } = rewards;
  checkLengths(action, { values }, length);
  checkRange(action, { gamma, lambda }, 1);
  const out = options.out ?? {
    advantages: new Float64Array(length),
    returns: new Float64Array(length),
  };
  const { advantages, returns } = out;
  const outputs = { "out.advantages": advantages, "out.returns": returns };
  checkLengths(action, outputs, length);
  for (let env = 0; env < numEnvs; env++) {
    let valueTp1 = lastValues[env];
    let advantage = 0;
    for (let step = numSteps - 1; step >= 0; step--) {
      const t = env * numSteps + step;
      if (hasEnded(trajectory, t)) {
        valueTp1 = valueAfterEnd(trajectory, t);
        advantage = 0;
      }
      const delta = rewards[t] + gamma * valueTp1 - values[t];
      advantage = delta + gamma * lambda * advantage;
      advantages[t] = advantage;
      returns[t] = advantage + values[t];
      valueTp1 = values[t];
    }
  }
  return out;
}

/** Result of {@linkcode vtrace}. */
export type VtraceResult = {
  /** Value targets, the paper's `v_s` `[env, step]`. */
  readonly targets: FloatArray;
  /** Policy-gradient advantages, `rho_s (r_s + gamma v_{s+1} - V(x_s))` `[env, step]`. */
  readonly advantages: FloatArray;
};

/** Options of {@linkcode vtrace}. */
export interface VtraceOptions extends ReturnsOptions {
  /**
   * Clip of the importance ratios of TD errors (rho bar): it decides which policy's
   * value is learned.
   *
   * @default 1
   */
  readonly rhoBar?: number;
  /**
   * Clip of the importance ratios of traces (c bar): it decides how fast the value is
   * learned.
   *
   * @default 1
   */
  readonly cBar?: number;
  /**
   * Trace decay (lambda), 0 to 1.
   *
   * @default 1
   */
  readonly lambda?: number;
  /**
   * Result arrays `[env, step]`, distinct from the trajectory's; nothing is allocated
   * then.
   *
   * @default new Float64Arrays
   */
  readonly out?: VtraceResult;
}

/**
 * Computes V-trace value targets and advantages from an off-policy rollout.
 *
 * `v_s = V_s + delta_s + gamma c_s (v_{s+1} - V_{s+1})` with
 * `delta_s = rho_s (r_s + gamma V_{s+1} - V_s)`,
 * `rho_s = min(rhoBar, ratio_s)` and `c_s = lambda min(cBar, ratio_s)`. With all ratios
 * 1 and lambda 1 the targets are the n-step returns.
 *
 * Source: Espeholt et al. 2018 (https://arxiv.org/abs/1802.01561), section 4.1.
 *
 * @param trajectory Rewards, episode ends, values and importance ratios.
 * @param options Layout, discount and clips.
 * @returns Value targets and advantages.
 * @throws {RangeError} If an array's length or a setting is wrong.
 * @throws {TypeError} If an array is missing.
 * @example
 * ```ts
 * import { vtrace } from "@bellman/returns";
 * import { assertEquals } from "@std/assert";
 *
 * const result = vtrace({
 *   rewards: [1, 1],
 *   values: [2, 2],
 *   ratios: [0.5, 3],
 *   terminated: [0, 1],
 *   truncated: [0, 0],
 *   lastValues: [0],
 * }, { numEnvs: 1, numSteps: 2, gamma: 0.5 });
 * assertEquals(result, {
 *   targets: Float64Array.of(1.75, 1),
 *   advantages: Float64Array.of(-0.25, -1),
 * });
 * ```
 */
export function vtrace(
  trajectory: OffPolicyTrajectory,
  options: VtraceOptions,
): VtraceResult {
  const { numEnvs, numSteps, gamma = 0.99, lambda = 1 } = options;
  const { rhoBar = 1, cBar = 1 } = options;
  const action = "compute V-trace targets";
  checkTrajectory(action, trajectory, options);
  const { rewards, values, ratios, lastValues } = trajectory;
  const { length } = rewards;
  checkLengths(action, { values, ratios }, length);
  checkRange(action, { gamma, lambda }, 1);
  checkRange(action, { rhoBar, cBar }, Infinity);
  const out = options.out ?? {
    targets: new Float64Array(length),
    advantages: new Float64Array(length),
  };
  const { targets, advantages } = out;
  const outputs = { "out.targets": targets, "out.advantages": advantages };
  checkLengths(action, outputs, length);
  for (let env = 0; env < numEnvs; env++) {
    let valueTp1 = lastValues[env];
    let correction = 0; // v_{s+1} - V_{s+1}
    for (let step = numSteps - 1; step >= 0; step--) {
      const t = env * numSteps + step;
      if (hasEnded(trajectory, t)) {
        valueTp1 = valueAfterEnd(trajectory, t);
        correction = 0;
      }
      const rho = Math.min(rhoBar, ratios[t]);
      const c = lambda * Math.min(cBar, ratios[t]);
      const difference = rewards[t] + gamma * valueTp1 - values[t];
      advantages[t] = rho * (difference + gamma * correction);
      correction = rho * difference + gamma * c * correction;
      targets[t] = values[t] + correction;
      valueTp1 = values[t];
    }
  }
  return out;
}

/** Options of {@linkcode retrace}. */
export interface RetraceOptions extends ReturnsOptions {
  /**
   * Clip of the importance ratios of traces (c bar).
   *
   * @default 1
   */
  readonly cBar?: number;
  /**
   * Trace decay (lambda), 0 to 1.
   *
   * @default 1
   */
  readonly lambda?: number;
  /**
   * Result array `[env, step]`, distinct from the trajectory's; nothing is allocated
   * then.
   *
   * @default a new Float64Array
   */
  readonly out?: FloatArray;
}

/**
 * Computes Retrace targets of Q-values, as ACER uses them.
 *
 * `Qret_t = r_t + gamma (c_{t+1} (Qret_{t+1} - Q_{t+1}) + V_{t+1})` with `c_t = lambda
 * min(cBar, ratio_t)`. The bracket is the last value after a rollout's last step, the
 * value of the final observation after a truncated step, and 0 after a terminated one.
 *
 * Sources: Munos et al. 2016 (https://arxiv.org/abs/1606.02647); Wang et al. 2017
 * (https://arxiv.org/abs/1611.01224), equation 5; baselines/acer/acer.py, `q_retrace`.
 *
 * @param trajectory Rewards, episode ends, values, Q-values and importance ratios.
 * @param options Layout, discount and traces.
 * @returns Targets `[env, step]`.
 * @throws {RangeError} If an array's length or a setting is wrong.
 * @throws {TypeError} If an array is missing.
 * @example
 * ```ts
 * import { retrace } from "@bellman/returns";
 * import { assertEquals } from "@std/assert";
 *
 * const targets = retrace({
 *   rewards: [1, 1],
 *   values: [2, 2],
 *   qValues: [3, 3],
 *   ratios: [0.5, 0.5],
 *   terminated: [0, 0],
 *   truncated: [0, 0],
 *   lastValues: [4],
 * }, { numEnvs: 1, numSteps: 2, gamma: 0.5 });
 * // The second is 1 + 0.5 * 4; the first 1 + 0.5 * (0.5 * (3 - 3) + 2).
 * assertEquals(targets, Float64Array.of(2, 3));
 * ```
 */
export function retrace(
  trajectory: ActionValuedTrajectory,
  options: RetraceOptions,
): FloatArray {
  const { numEnvs, numSteps, gamma = 0.99, lambda = 1, cBar = 1 } = options;
  const action = "compute Retrace targets";
  checkTrajectory(action, trajectory, options);
  const { rewards, values, qValues, ratios, lastValues } = trajectory;
  const { length } = rewards;
  checkLengths(action, { values, qValues, ratios }, length);
  checkRange(action, { gamma, lambda }, 1);
  checkRange(action, { cBar }, Infinity);
  const out = options.out ?? new Float64Array(length);
  checkLengths(action, { out }, length);
  for (let env = 0; env < numEnvs; env++) {
    let valueTp1 = lastValues[env];
    for (let step = numSteps - 1; step >= 0; step--) {
      const t = env * numSteps + step;
      if (hasEnded(trajectory, t)) valueTp1 = valueAfterEnd(trajectory, t);
      const target = rewards[t] + gamma * valueTp1;
      out[t] = target;
      const c = lambda * Math.min(cBar, ratios[t]);
      valueTp1 = c * (target - qValues[t]) + values[t];
    }
  }
  return out;
}

/** Checks the layout, and returns the length of an `[env, step]` array. */
function sizeOf(
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
function checkLengths(
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
function checkTrajectory(
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
function checkRange(
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

/** True if an episode ended with a step, terminated or truncated. */
function hasEnded(
  { terminated, truncated }: Trajectory,
  index: number,
): boolean {
  return Boolean(terminated[index]) || Boolean(truncated[index]);
}

/**
 * Returns the bootstrap value of a step that ended its episode: 0 if terminated, the
 * value of the final observation if truncated.
 */
function valueAfterEnd(
  { terminated, finalValues }: Trajectory,
  index: number,
): number {
  if (terminated[index]) return 0;
  if (finalValues !== undefined) return finalValues[index];
  throw new TypeError(
    `Cannot bootstrap from truncated step ${index}: finalValues is missing`,
  );
}

/**
 * Computes the share of the targets' variance that predictions explain,
 * `1 - var(targets - predictions) / var(targets)`: 1 is perfect, 0 as good as a
 * constant, below 0 worse than one.
 *
 * Source: baselines/common/math_util.py, `explained_variance`.
 *
 * @param predictions Predictions.
 * @param targets True values; as many.
 * @returns At most 1; NaN where the targets do not vary.
 * @throws {RangeError} If the lengths differ or are 0.
 * @example
 * ```ts
 * import { explainedVariance } from "@bellman/returns";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(explainedVariance([1, 2, 3], [1, 2, 3]), 1);
 * assertEquals(explainedVariance([0, 0, 0], [1, 2, 3]), 0);
 * assertEquals(explainedVariance([0, 0, 0], [5, 5, 5]), NaN);
 * ```
 */
export function explainedVariance(
  predictions: ArrayLike<number>,
  targets: ArrayLike<number>,
): number {
  const { length } = targets;
  if (length === 0 || predictions.length !== length) {
    throw new RangeError(
      `Cannot explain variance: ${predictions.length} predictions for ${length} targets`,
    );
  }
  let meanTarget = 0;
  let meanError = 0;
  for (let i = 0; i < length; i++) {
    meanTarget += targets[i] / length;
    meanError += (targets[i] - predictions[i]) / length;
  }
  let targetSquares = 0;
  let errorSquares = 0;
  let varies = false;
  for (let i = 0; i < length; i++) {
    varies ||= targets[i] !== targets[0];
    targetSquares += (targets[i] - meanTarget) ** 2;
    errorSquares += (targets[i] - predictions[i] - meanError) ** 2;
  }
  // Rounding of the mean must not count as variance.
  return varies && targetSquares > 0 ? 1 - errorSquares / targetSquares : NaN;
}
