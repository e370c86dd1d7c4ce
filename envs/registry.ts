import type { Env, EnvSpec, VecEnv } from "@bellman/types";
import { checkCopies, unknownEnvironment } from "./_checks.ts";
import { SyncVecEnv } from "./sync_vec_env.ts";
import { VecRecordEpisodeStatistics } from "./wrappers/record_episode_statistics.ts";
import { TimeLimit } from "./wrappers/time_limit.ts";

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

/** The registration of an id, or an error with what could have been meant. */
function findRegistration(
  id: string,
  registry: EnvRegistry,
): EnvRegistration {
  const found = registry.get(id);
  if (found !== undefined) return found;
  throw unknownEnvironment(id, [...registry.keys()]);
}

/** Which environments are meant. */
export interface RegistryOptions {
  /**
   * The registrations to use.
   *
   * @default defaultRegistry
   */
  registry?: EnvRegistry;
}

/** How one environment is made. */
export interface MakeOptions extends RegistryOptions {
  /**
   * Steps after which an episode is truncated; `Infinity` for no limit.
   *
   * @default the registered limit
   */
  maxEpisodeSteps?: number;
  /**
   * The environment's own options.
   *
   * @default {}
   */
  kwargs?: EnvKwargs;
}

/** How a vector environment is made. */
export interface MakeVecOptions extends MakeOptions {
  /** How many copies. */
  numEnvs: number;
  /**
   * Whether steps tell which episodes ended and with what return.
   *
   * @default true
   */
  recordEpisodes?: boolean;
}

/** Where environments are kept and looked for unless said otherwise. */
export const defaultRegistry: EnvRegistry = new Map();

const ID = /^[\w:./-]+-v\d+$/;

/**
 * Makes an environment known by name.
 *
 * @param registration Its id with a version, and what makes it.
 * @param options Where it is kept.
 * @throws {SyntaxError} If the id has no version.
 * @throws {RangeError} If the id is taken.
 * @example
 * ```ts
 * import { ChainEnv, make, register } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * register({ id: "LongChain-v0", make: () => new ChainEnv({ length: 50 }) });
 * assertEquals(make("LongChain-v0").spec?.id, "LongChain-v0");
 * ```
 */
export function register(
  registration: EnvRegistration,
  { registry = defaultRegistry }: RegistryOptions = {},
): void {
  const { id } = registration;
  if (!ID.test(id)) {
    throw new SyntaxError(
      `Cannot register '${id}': expected a name and a version, such as 'CartPole-v1'`,
    );
  }
  if (registry.has(id)) {
    throw new RangeError(
      `Cannot register '${id}': there is an environment of that name`,
    );
  }
  registry.set(id, registration);
}

/**
 * The names of all environments, in the order of their registration.
 *
 * @param options Which environments are meant.
 * @returns The ids.
 * @example
 * ```ts
 * import { registeredIds } from "@bellman/envs";
 * import { assert } from "@std/assert";
 *
 * assert(registeredIds().includes("CartPole-v1"));
 * ```
 */
export function registeredIds(
  { registry = defaultRegistry }: RegistryOptions = {},
): string[] {
  return [...registry.keys()];
}

/**
 * What is known of an environment.
 *
 * @param id Its name with the version.
 * @param options Which environments are meant.
 * @returns Its id, time limit and reward threshold.
 * @throws {RangeError} If there is none of that name, with the nearest one.
 * @example
 * ```ts
 * import { envSpec } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(envSpec("CartPole-v1").maxEpisodeSteps, 500);
 * ```
 */
export function envSpec(
  id: string,
  { registry = defaultRegistry }: RegistryOptions = {},
): EnvSpec {
  return specOf(findRegistration(id, registry));
}

/**
 * Loads what an environment needs before it can be made with some options, as
 * {@linkcode make} does not wait for anything. Few need it: MuJoCo's do where
 * WebAssembly is asked for beside a native library.
 *
 * @param id Its name with the version.
 * @param options The environment's own options.
 * @throws {RangeError} If there is none of that name, with the nearest one.
 * @throws {Error} If what it needs cannot be loaded.
 * @example
 * ```ts
 * import { make, prepare } from "@bellman/envs";
 * import { isMujocoInstalled } from "@bellman/envs/mujoco";
 * import { assertEquals } from "@std/assert";
 *
 * if (isMujocoInstalled()) {
 *   const kwargs = { engine: "wasm" };
 *   await prepare("Hopper-v5", { kwargs });
 *   assertEquals((make("Hopper-v5", { kwargs }).reset() as Float64Array).length, 11);
 * }
 * ```
 */
export async function prepare(
  id: string,
  { kwargs = {}, registry = defaultRegistry }: Pick<
    MakeOptions,
    "kwargs" | "registry"
  > = {},
): Promise<void> {
  await findRegistration(id, registry).prepare?.(kwargs);
}

function specOf(
  { id, maxEpisodeSteps, rewardThreshold, looseBounds }: EnvRegistration,
): EnvSpec {
  const spec = { id, maxEpisodeSteps, rewardThreshold };
  return looseBounds ? { ...spec, looseBounds } : spec;
}

/** What the environment is told; nothing means no limit, or its own. */
function limitOf(
  registration: EnvRegistration,
  { maxEpisodeSteps = registration.maxEpisodeSteps }: MakeOptions,
): number | undefined {
  return maxEpisodeSteps === Infinity && !registration.limitsItself
    ? undefined
    : maxEpisodeSteps;
}

/**
 * Makes an environment by name, with its time limit around it.
 *
 * @param id Its name with the version.
 * @param options The limit and the environment's own options.
 * @returns The environment.
 * @throws {RangeError} If there is none of that name, with the nearest one.
 * @example
 * ```ts
 * import { make } from "@bellman/envs";
 * import { assertThrows } from "@std/assert";
 *
 * make("CartPole-v1").reset({ seed: 0 });
 * assertThrows(() => make("CartPol-v1"), RangeError, "'CartPole-v1'?");
 * ```
 */
export function make(id: string, options: MakeOptions = {}): Env {
  const registration = findRegistration(
    id,
    options.registry ?? defaultRegistry,
  );
  const { kwargs = {} } = options;
  const limit = limitOf(registration, options);
  if (registration.limitsItself) {
    return registration.make(kwargs, { maxEpisodeSteps: limit });
  }
  const env = registration.make(kwargs);
  return new TimeLimit(env, limit ?? Infinity, {
    spec: { ...specOf(registration), maxEpisodeSteps: limit },
  });
}

/**
 * Makes many copies of an environment by name: in its batched form where it has
 * one, one after the other where it has none.
 *
 * @param id Its name with the version.
 * @param options How many, the limit, and the environment's own options.
 * @returns The vector environment.
 * @throws {RangeError} If there is none of that name, or no copy is asked for.
 * @example
 * ```ts
 * import { makeVec } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = makeVec("Pendulum-v1", { numEnvs: 4 });
 * assertEquals((env.reset({ seed: 1 }) as Float32Array).length, 12);
 * ```
 */
export function makeVec(id: string, options: MakeVecOptions): VecEnv {
  const registration = findRegistration(
    id,
    options.registry ?? defaultRegistry,
  );
  const { numEnvs, recordEpisodes = true, kwargs = {} } = options;
  checkCopies(id, numEnvs);
  const maxEpisodeSteps = limitOf(registration, options);
  const env = registration.makeVec?.({ numEnvs, maxEpisodeSteps, kwargs }) ??
    new SyncVecEnv(
      Array.from({ length: numEnvs }, () => () => make(id, options)),
    );
  return recordEpisodes ? new VecRecordEpisodeStatistics(env) : env;
}
