import { checkFraction, checkLength, sizeOf } from "./_checks.ts";
import type { FloatArray, ReturnsOptions } from "./trajectory.ts";

/** Options of {@linkcode discountWithDones}. */
export interface DiscountOptions extends ReturnsOptions {
  /**
   * Where the sums are written `[env, step]`; nothing is allocated then.
   *
   * @default a new Float64Array
   */
  readonly out?: FloatArray;
}

const ACTION = "discount rewards";

/**
 * Discounted sums of the rewards to come, `R_t = r_t + gamma R_{t+1}
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
  options: DiscountOptions,
): FloatArray {
  const { numEnvs, numSteps, gamma = 0.99 } = options;
  const size = sizeOf(ACTION, options);
  checkLength(ACTION, "rewards", rewards, size);
  checkLength(ACTION, "dones", dones, size);
  checkFraction(ACTION, "gamma", gamma);
  const out = options.out ?? new Float64Array(size);
  checkLength(ACTION, "out", out, size);
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
