import { adam, cloneParams, type Optimizer } from "@bellman/compute";
import type { RandomSource } from "@bellman/types";
import { initCritics } from "./_critics.ts";
import type { DiscreteSacModel, SacModel } from "./model.ts";
import { initTemperature } from "./_temperature.ts";
import type { SacState } from "./update_types.ts";

/** Options of {@link initSacState}. */
export interface SacStateOptions {
  /**
   * The optimizer of the update.
   *
   * @default adam()
   */
  readonly optimizer?: Optimizer;
  /**
   * Temperature that learning starts from; null where it is not learned but
   * given with each update.
   *
   * @default 1
   */
  readonly initialAlpha?: number | null;
}

/**
 * The state before the first update of `sacUpdate` or `discreteSacUpdate`. The
 * target networks are copies of the critics.
 *
 * @param model The policy and the form of the Q functions.
 * @param random Where the first parameters are drawn from.
 * @param options Optimizer and temperature.
 * @returns New tensors.
 * @throws {RangeError} If the temperature is not above 0.
 *
 * @example
 * ```ts
 * import { initSacState } from "@bellman/sac";
 * import { RandomStream } from "@bellman/compute";
 * import { qFunction, stochasticPolicy } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * const box = { type: "box", low: -1, high: 1, dtype: "float32" } as const;
 * const spaces = {
 *   observationSpace: { ...box, shape: [3] },
 *   actionSpace: { ...box, shape: [1] },
 * };
 * const model = { policy: stochasticPolicy(spaces), qf: qFunction(spaces) };
 * const state = initSacState(model, new RandomStream(1));
 * assertEquals(state.temperature.logAlpha.dataSync()[0], 0);
 * assertEquals(Object.keys(state.targets), Object.keys(state.critics));
 * ```
 */
export function initSacState(
  model: SacModel | DiscreteSacModel,
  random: RandomSource,
  options: SacStateOptions = {},
): SacState {
  const { optimizer = adam(), initialAlpha = 1 } = options;
  const temperature = initTemperature(initialAlpha);
  const policy = model.policy.init(random);
  const critics = initCritics(model.qf, random);
  return {
    policy,
    critics,
    targets: cloneParams(critics),
    temperature,
    policySlots: optimizer.init(policy),
    criticSlots: optimizer.init(critics),
    temperatureSlots: initialAlpha === null ? {} : optimizer.init(temperature),
  };
}
