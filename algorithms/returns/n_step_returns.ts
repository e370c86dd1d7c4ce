import { checkFraction, checkLength, checkTrajectory } from "./_checks.ts";
import { hasEnded, valueAfterEnd } from "./_ends.ts";
import type { FloatArray, ReturnsOptions, Trajectory } from "./trajectory.ts";

/** Options of {@linkcode nStepReturns}. */
export interface NStepReturnsOptions extends ReturnsOptions {
  /**
   * Where the returns are written `[env, step]`; nothing is allocated then.
   *
   * @default a new Float64Array
   */
  readonly out?: FloatArray;
}

const ACTION = "compute n-step returns";

/**
 * Discounted sums of the rewards up to the end of each row or episode, and of
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
  const { numEnvs, numSteps, gamma = 0.99 } = options;
  checkTrajectory(ACTION, trajectory, options);
  checkFraction(ACTION, "gamma", gamma);
  const { rewards, lastValues } = trajectory;
  const out = options.out ?? new Float64Array(rewards.length);
  checkLength(ACTION, "out", out, rewards.length);
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
