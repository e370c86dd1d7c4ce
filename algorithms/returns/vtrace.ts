import {
  checkFraction,
  checkLength,
  checkLimit,
  checkTrajectory,
} from "./_checks.ts";
import { hasEnded, valueAfterEnd } from "./_ends.ts";
import type {
  FloatArray,
  OffPolicyTrajectory,
  ReturnsOptions,
} from "./trajectory.ts";

/** What {@linkcode vtrace} gives. */
export interface VtraceResult {
  /** What the values learn towards, the paper's `v_s` `[env, step]`. */
  readonly targets: FloatArray;
  /** `rho_s (r_s + gamma v_{s+1} - V(x_s))` for the policy `[env, step]`. */
  readonly advantages: FloatArray;
}

/** Options of {@linkcode vtrace}. */
export interface VtraceOptions extends ReturnsOptions {
  /**
   * Largest ratio of a temporal difference: which policy's value is learned.
   *
   * @default 1
   */
  readonly rhoBar?: number;
  /**
   * Largest ratio of a trace: how fast it is learned.
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
   * Where the results are written `[env, step]`, other arrays than the
   * trajectory's; nothing is allocated then.
   *
   * @default new Float64Arrays
   */
  readonly out?: VtraceResult;
}

const ACTION = "compute V-trace targets";

/**
 * V-trace: values and advantages of a policy from the steps of another one.
 *
 * `v_s = V_s + delta_s + gamma c_s (v_{s+1} - V_{s+1})` with
 * `delta_s = rho_s (r_s + gamma V_{s+1} - V_s)`,
 * `rho_s = min(rhoBar, ratio_s)` and `c_s = lambda min(cBar, ratio_s)`. With all
 * ratios 1 and lambda 1 the targets are the n-step returns.
 *
 * Source: Espeholt et al. 2018 (https://arxiv.org/abs/1802.01561), section 4.1.
 *
 * @param trajectory Rewards, ends, values and ratios.
 * @param options Layout, discount and limits.
 * @returns Targets of the values and advantages.
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
  checkTrajectory(ACTION, trajectory, options);
  const { rewards, values, ratios, lastValues } = trajectory;
  checkLength(ACTION, "values", values, rewards.length);
  checkLength(ACTION, "ratios", ratios, rewards.length);
  checkFraction(ACTION, "gamma", gamma);
  checkFraction(ACTION, "lambda", lambda);
  checkLimit(ACTION, "rhoBar", rhoBar);
  checkLimit(ACTION, "cBar", cBar);
  const out = options.out ?? newResult(rewards.length);
  checkLength(ACTION, "out.targets", out.targets, rewards.length);
  checkLength(ACTION, "out.advantages", out.advantages, rewards.length);
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
      out.advantages[t] = rho * (difference + gamma * correction);
      correction = rho * difference + gamma * c * correction;
      out.targets[t] = values[t] + correction;
      valueTp1 = values[t];
    }
  }
  return out;
}

function newResult(size: number): VtraceResult {
  return {
    targets: new Float64Array(size),
    advantages: new Float64Array(size),
  };
}
