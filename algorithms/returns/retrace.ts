import {
  checkFraction,
  checkLength,
  checkLimit,
  checkTrajectory,
} from "./_checks.ts";
import { hasEnded, valueAfterEnd } from "./_ends.ts";
import type {
  ActionValuedTrajectory,
  FloatArray,
  ReturnsOptions,
} from "./trajectory.ts";

/** Options of {@linkcode retrace}. */
export interface RetraceOptions extends ReturnsOptions {
  /**
   * Largest ratio of a trace.
   *
   * @default 1
   */
  readonly cBar?: number;
  /**
   * Factor of the traces, 0 to 1.
   *
   * @default 1
   */
  readonly lambda?: number;
  /**
   * Where the targets are written `[env, step]`, another array than the
   * trajectory's; nothing is allocated then.
   *
   * @default a new Float64Array
   */
  readonly out?: FloatArray;
}

const ACTION = "compute Retrace targets";

/**
 * Retrace targets of the taken actions' Q-values, as ACER uses them.
 *
 * `Qret_t = r_t + gamma (c_{t+1} (Qret_{t+1} - Q_{t+1}) + V_{t+1})` with
 * `c_t = lambda min(cBar, ratio_t)`. After a row's last step the last value
 * takes the bracket's place, after a truncated step the final value, and after
 * a terminated one 0.
 *
 * Sources: Munos et al. 2016 (https://arxiv.org/abs/1606.02647); Wang et al.
 * 2017 (https://arxiv.org/abs/1611.01224), equation 5; baselines/acer/acer.py,
 * `q_retrace`.
 *
 * @param trajectory Rewards, ends, values, Q-values and ratios.
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
  checkTrajectory(ACTION, trajectory, options);
  const { rewards, values, qValues, ratios, lastValues } = trajectory;
  checkLength(ACTION, "values", values, rewards.length);
  checkLength(ACTION, "qValues", qValues, rewards.length);
  checkLength(ACTION, "ratios", ratios, rewards.length);
  checkFraction(ACTION, "gamma", gamma);
  checkFraction(ACTION, "lambda", lambda);
  checkLimit(ACTION, "cBar", cBar);
  const out = options.out ?? new Float64Array(rewards.length);
  checkLength(ACTION, "out", out, rewards.length);
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
