import type { Env, EnvSpec, VecEnv } from "@bellman/types";

/** Settings of an environment: what its own options are called. */
export type EnvKwargs = Readonly<Record<string, unknown>>;

/** How an environment is made by name. */
export interface EnvRegistration extends EnvSpec {
  /**
   * Whether single ones have their time limit inside, too, and one of their own
   * that is not known here. The limit is then told as it was asked for:
   * `Infinity` to lift it, nothing to leave it.
   *
   * @default false
   */
  limitsItself?: boolean;
  /**
   * Loads what making one with these options cannot wait for, such as an engine
   * in WebAssembly. {@linkcode prepare} awaits it, as the command line and hosts
   * in threads and processes do.
   *
   * @param kwargs The environment's own options.
   */
  prepare?(kwargs: EnvKwargs): Promise<void>;
  /**
   * Makes one, without a time limit unless it limits itself.
   *
   * @param kwargs The environment's own options.
   * @param options The limit, for those that limit themselves.
   */
  make(kwargs: EnvKwargs, options?: { maxEpisodeSteps?: number }): Env;
  /**
   * Makes many that step together, with the time limit inside.
   *
   * @param options How many, the limit, and the environment's own options.
   * @returns Nothing where single ones do as well with these options.
   */
  makeVec?(
    options: { numEnvs: number; maxEpisodeSteps?: number; kwargs: EnvKwargs },
  ): VecEnv | undefined;
}

/** Registrations by id, as plain data. */
export type EnvRegistry = Map<string, EnvRegistration>;
