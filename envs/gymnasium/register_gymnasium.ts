import { checkStepLimit } from "../_checks.ts";
import {
  defaultRegistry,
  type EnvKwargs,
  type RegistryOptions,
} from "../registry/registry.ts";
import { GymnasiumEnv } from "./gymnasium_env.ts";
import type { GymnasiumOptions } from "./python.ts";
import {
  GymnasiumVecEnv,
  type GymnasiumVecEnvOptions,
} from "./gymnasium_vec_env.ts";

/** Settings of {@linkcode registerGymnasium}. */
export interface RegisterGymnasiumOptions
  extends
    RegistryOptions,
    GymnasiumOptions,
    Omit<GymnasiumVecEnvOptions, "numEnvs"> {}

/** Returns a limit as Gymnasium has it, where -1 is none. */
function gymnasiumLimit(maxEpisodeSteps: number): number {
  checkStepLimit(maxEpisodeSteps);
  return maxEpisodeSteps === Infinity ? -1 : maxEpisodeSteps;
}

/**
 * Makes an environment of Gymnasium known as `gym:NAME`, so that `make` and
 * `makeVec` make it; where it is known already, these options take the place of
 * the former ones. Python starts only when one is made, which also tells whether
 * there is such an environment.
 *
 * The options `kwargs` of `make` and `makeVec` are added to those given here;
 * `useActionMasks` among them is this side's own.
 * Without `maxEpisodeSteps` the limit is Gymnasium's own.
 *
 * @param id The environment's name as Gymnasium knows it, with or without a
 * version, and with the module in front that registers it where that is needed.
 * @param options Registry that it is kept in, and its own options.
 * @returns The name that it is registered by.
 * @example
 * ```ts
 * import { makeVec } from "@bellman/envs";
 * import { hasGymnasium, registerGymnasium } from "@bellman/envs/gymnasium";
 * import { assertEquals } from "@std/assert";
 *
 * const id = registerGymnasium("MountainCar-v0");
 * assertEquals(id, "gym:MountainCar-v0");
 * if (hasGymnasium()) {
 *   const env = makeVec(id, { numEnvs: 2 });
 *   assertEquals(env.spec?.maxEpisodeSteps, 200);
 *   env.close();
 * }
 * ```
 */
export function registerGymnasium(
  id: string,
  { registry = defaultRegistry, ...options }: RegisterGymnasiumOptions = {},
): string {
  const name = `gym:${id}`;
  const optionsWith = (
    { useActionMasks, ...kwargs }: EnvKwargs,
    limit?: number,
  ): GymnasiumOptions => ({
    ...options,
    ...useActionMasks !== undefined &&
      { useActionMasks: useActionMasks as boolean },
    kwargs: {
      ...options.kwargs,
      ...kwargs,
      ...limit !== undefined && { max_episode_steps: gymnasiumLimit(limit) },
    },
  });
  // Whether names have versions is Gymnasium's affair.
  registry.set(name, {
    id: name,
    limitsItself: true,
    make: (kwargs, { maxEpisodeSteps } = {}) =>
      new GymnasiumEnv(id, optionsWith(kwargs, maxEpisodeSteps)),
    recordsInfo: true,
    makeVec: ({ numEnvs, maxEpisodeSteps, infoStatistics, kwargs }) =>
      new GymnasiumVecEnv(id, {
        ...optionsWith(kwargs, maxEpisodeSteps),
        numEnvs,
        infoStatistics,
      }),
  });
  return name;
}
