import type { Env, SpaceValue, StepResult } from "@bellman/types";
import { EnvWrapper } from "../../wrappers/env_wrapper.ts";

/** Settings of {@linkcode InfoClear}. */
export interface InfoClearOptions {
  /**
   * The entries that stay.
   *
   * @default ["episodes"]
   */
  keep?: readonly string[];
}

/**
 * Removes all of a step's `info` but some entries, so that less goes between
 * processes; by default what {@linkcode EpisodeInfo} tells stays.
 *
 * `AtariInfoClearWrapper` of jrobine/actor-critic. There, no wrapper that needs
 * lives may come after it; here the wrappers ask the game itself.
 *
 * @example
 * ```ts
 * import { InfoClear } from "@bellman/envs/atari";
 * import { ChainEnv, RecordEpisodeStatistics } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const chain = new RecordEpisodeStatistics(new ChainEnv({ length: 1 }));
 * const env = new InfoClear(chain);
 * env.reset({ seed: 0 });
 * assertEquals(env.step(0).info, undefined);
 * ```
 */
export class InfoClear extends EnvWrapper {
  #keep: readonly string[];

  /**
   * Wraps an environment.
   *
   * @param env The environment inside.
   * @param options Entries that stay.
   */
  constructor(env: Env, options: InfoClearOptions = {}) {
    super(env);
    this.#keep = [...options.keep ?? ["episodes"]];
  }

  /**
   * Takes one step.
   *
   * @param action The action.
   * @returns The step's result, with the entries that stay; without any, no
   * `info`.
   */
  override step(action: SpaceValue): StepResult {
    const { info = {}, ...result } = super.step(action);
    const kept = this.#keep.filter((key) => Object.hasOwn(info, key));
    if (kept.length === 0) return result;
    return {
      ...result,
      info: Object.fromEntries(kept.map((key) => [key, info[key]])),
    };
  }
}
