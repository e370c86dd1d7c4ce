import {
  type ActionValuedTrajectory,
  checkLengths,
  checkRange,
  checkTrajectory,
  type FloatArray,
  hasEnded,
  type OffPolicyTrajectory,
  type ReturnsOptions,
  valueAfterEnd,
} from "./trajectory.ts";

/** Result of {@linkcode vtrace}. */
export interface VtraceResult {
  /** Targets of the values, the paper's `v_s` `[env, step]`. */
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
   * Arrays that the results are written to `[env, step]`, other ones than the
   * trajectory's; nothing is allocated then.
   *
   * @default new Float64Arrays
   */
  readonly out?: VtraceResult;
}

/**
 * Computes values and advantages of a policy from the steps of another one.
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
   * Array that the targets are written to `[env, step]`, another one than the
   * trajectory's; nothing is allocated then.
   *
   * @default a new Float64Array
   */
  readonly out?: FloatArray;
}

/**
 * Computes Retrace targets of the taken actions' Q-values, as ACER uses them.
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
