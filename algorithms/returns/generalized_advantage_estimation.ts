import {
  checkLengths,
  checkRange,
  checkTrajectory,
  type FloatArray,
  hasEnded,
  type ReturnsOptions,
  valueAfterEnd,
  type ValuedTrajectory,
} from "./trajectory.ts";

/** Result of {@linkcode generalizedAdvantageEstimation}. */
export interface Advantages {
  /** Advantages of the taken actions `[env, step]`. */
  readonly advantages: FloatArray;
  /** Advantages plus values: the targets of the values `[env, step]`. */
  readonly returns: FloatArray;
}

/** Options of {@linkcode generalizedAdvantageEstimation}. */
export interface AdvantageOptions extends ReturnsOptions {
  /**
   * Weight of later temporal differences, 0 to 1: 0 trusts the values, 1 the
   * rewards.
   *
   * @default 0.95
   */
  readonly lambda?: number;
  /**
   * Arrays that the results are written to `[env, step]`, other ones than the
   * trajectory's; nothing is allocated then.
   *
   * @default new Float64Arrays
   */
  readonly out?: Advantages;
}

/**
 * Estimates advantages (generalized advantage estimation).
 *
 * `delta_t = r_t + gamma V_{t+1} - V_t` and
 * `A_t = delta_t + gamma lambda A_{t+1}`. Both kinds of end cut the recursion;
 * `V_{t+1}` is 0 after a terminated step, the final value after a truncated one
 * and the last value after a row's last step.
 *
 * Source: Schulman et al. 2016 (https://arxiv.org/abs/1506.02438), equation 16.
 *
 * @param trajectory Rewards, ends and values.
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
