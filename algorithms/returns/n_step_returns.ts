import {
  checkLengths,
  checkRange,
  checkTrajectory,
  type FloatArray,
  hasEnded,
  type ReturnsOptions,
  sizeOf,
  type Trajectory,
  valueAfterEnd,
} from "./trajectory.ts";

/** Options of {@linkcode nStepReturns} and {@linkcode discountWithDones}. */
export interface NStepReturnsOptions extends ReturnsOptions {
  /**
   * Array that the returns are written to `[env, step]`; nothing is allocated
   * then.
   *
   * @default a new Float64Array
   */
  readonly out?: FloatArray;
}

/**
 * Sums the discounted rewards up to the end of each row or episode, and of
 * the value of what follows it.
 *
 * `G_t = r_t + gamma G_{t+1}`; after the last step `G` is the last value, after
 * a truncated step the final value, and after a terminated one 0.
 *
 * Source: Mnih et al. 2016 (https://arxiv.org/abs/1602.01783), algorithm S3.
 *
 * @param trajectory Rewards, ends and values to bootstrap from.
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
 * Sums the discounted rewards to come, `R_t = r_t + gamma R_{t+1}
 * (1 - done_t)`, where nothing follows the last step.
 *
 * With a single done, time limits count as end states, as in the original; use
 * {@linkcode nStepReturns} where the two must be told apart.
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
