import {
  defaultRegistry,
  register,
  type RegistryOptions,
} from "../registry.ts";
import type { EnvKwargs } from "../registration.ts";
import { GymnasiumEnv } from "./gymnasium_env.ts";
import type { GymnasiumOptions } from "./gymnasium_options.ts";
import {
  GymnasiumVecEnv,
  type GymnasiumVecEnvOptions,
} from "./gymnasium_vec_env.ts";

/**
 * Settings of {@linkcode registerGymnasium}.
 *
 * @example
 * ```ts
 * import type { RegisterGymnasiumOptions } from "@bellman/envs/gymnasium";
 * import { assertEquals } from "@std/assert";
 *
 * const options: RegisterGymnasiumOptions = {
 *   registry: new Map(),
 *   modules: ["ale_py"],
 * };
 * assertEquals(options.modules, ["ale_py"]);
 * ```
 */
export interface RegisterGymnasiumOptions
  extends
    RegistryOptions,
    GymnasiumOptions,
    Omit<GymnasiumVecEnvOptions, "numEnvs"> {}

/**
 * Makes an environment of Gymnasium known as `gym:NAME`, so that `make` and
 * `makeVec` make it; where it is known already, nothing changes. Python starts
 * only when one is made, which also tells whether there is such an environment.
 *
 * The options `kwargs` of `make` and `makeVec` are added to those given here.
 *
 * @param id The environment's name and version as Gymnasium knows them, with
 * the module in front that registers it where that is needed.
 * @param options Where it is kept, and how it is made.
 * @returns The name that it is registered by.
 * @throws {SyntaxError} If the name has no version.
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
  if (registry.has(name)) return name;
  const kwargsWith = (more: EnvKwargs): EnvKwargs => ({
    ...options.kwargs,
    ...more,
  });
  register({
    id: name,
    make: (kwargs) =>
      new GymnasiumEnv(id, { ...options, kwargs: kwargsWith(kwargs) }),
    makeVec: ({ numEnvs, maxEpisodeSteps, kwargs }) =>
      new GymnasiumVecEnv(id, {
        ...options,
        numEnvs,
        kwargs: kwargsWith({
          ...kwargs,
          ...maxEpisodeSteps && { max_episode_steps: maxEpisodeSteps },
        }),
      }),
  }, { registry });
  return name;
}
