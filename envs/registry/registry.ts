import {
  checkOptions,
  FLAG,
  FUNCTION,
  NUMBER,
  OBJECT,
  type OptionKinds,
  TEXT,
  TEXTS,
} from "@bellman/files/options";
import type { Env, EnvSpec, VecEnv, World } from "@bellman/types";
import { checkNumEnvs, unknownEnvironment } from "../_checks.ts";
import {
  gameKwargs,
  gameMakers,
  type WorldOptions,
} from "../self_play/make_game.ts";
import { SyncVecEnv } from "../sync_vec_env.ts";
import { RecordEpisodeStatistics } from "../wrappers/record_episode_statistics.ts";
import { RecordInfoStatistics } from "../wrappers/record_info_statistics.ts";
import { TimeLimit } from "../wrappers/time_limit.ts";
import type { EnvId, EnvOf, VecEnvOf } from "./registered_envs.ts";

/** Options of an environment of its own, by name. */
export type EnvKwargs = Readonly<Record<string, unknown>>;

/**
 * Recipe of an environment that is made by name: `make`, or of a game with several seats
 * `makeWorld`.
 */
export interface EnvRegistration extends EnvSpec {
  /**
   * True where single ones have their time limit inside, too, and one of their
   * own that is not known here. The limit is then passed on as it was asked for:
   * `Infinity` to lift it, none to leave it.
   *
   * @default false
   */
  limitsItself?: boolean;
  /**
   * Makes one, without a time limit unless it limits itself.
   *
   * @param kwargs Options of the environment's own.
   * @param options Limit, for those that limit themselves.
   */
  make?(kwargs: EnvKwargs, options?: { maxEpisodeSteps?: number }): Env;
  /**
   * Makes worlds of several seats, which limit themselves. Environments of theirs take
   * the options of `SelfPlayVecEnv` among their own, with `opponent` by name: `random`
   * or `scripted`.
   *
   * @param options Number, limit, metadata, and options of the game's own.
   */
  makeWorld?(options: WorldOptions): World;
  /**
   * True where `makeVec` records entries of `info`; else single ones do.
   *
   * @default false
   */
  recordsInfo?: boolean;
  /**
   * Makes several that step together, with the time limit inside.
   *
   * @param options Number, limit, entries of `info` to record, and options of the
   * environment's own.
   * @returns The vector environment, or none where single ones do as well.
   */
  makeVec?(
    options: {
      numEnvs: number;
      maxEpisodeSteps?: number;
      infoStatistics: readonly string[];
      kwargs: EnvKwargs;
    },
  ): VecEnv | undefined;
}

/** Registrations by id, as plain data. */
export type EnvRegistry = Map<string, EnvRegistration>;

/** Registry to look in. */
export interface RegistryOptions {
  /**
   * Registrations to use.
   *
   * @default defaultRegistry
   */
  registry?: EnvRegistry;
}

/** Options of {@linkcode make}. */
export interface MakeOptions extends RegistryOptions {
  /**
   * Steps after which an episode is truncated; `Infinity` for no limit.
   *
   * @default the registered limit
   */
  maxEpisodeSteps?: number;
  /**
   * Options of the environment's own.
   *
   * @default {}
   */
  kwargs?: EnvKwargs;
  /**
   * Entries of `info` to record for each episode, see
   * {@linkcode RecordInfoStatistics}.
   *
   * @default the registered ones
   */
  infoStatistics?: readonly string[];
}

/** Options of {@linkcode makeWorld}. */
export interface MakeWorldOptions extends Omit<MakeOptions, "infoStatistics"> {
  /** Number of worlds. */
  numEnvs: number;
}

/** Options of {@linkcode makeVec}. */
export interface MakeVecOptions extends MakeOptions {
  /** Number of environments. */
  numEnvs: number;
  /**
   * Record in each step the episodes that ended, with their return.
   *
   * @default true
   */
  recordEpisodes?: boolean;
}

const REGISTRATION: OptionKinds<EnvRegistration> = {
  id: TEXT,
  maxEpisodeSteps: NUMBER,
  rewardThreshold: NUMBER,
  looseBounds: FLAG,
  infoStatistics: TEXTS,
  limitsItself: FLAG,
  make: FUNCTION,
  makeWorld: FUNCTION,
  recordsInfo: FLAG,
  makeVec: FUNCTION,
};

const MAKE: OptionKinds<MakeOptions> = {
  maxEpisodeSteps: NUMBER,
  kwargs: OBJECT,
  infoStatistics: TEXTS,
  registry: OBJECT,
};

const MAKE_WORLD: OptionKinds<MakeWorldOptions> = {
  maxEpisodeSteps: NUMBER,
  kwargs: OBJECT,
  registry: OBJECT,
  numEnvs: NUMBER,
};

const MAKE_VEC: OptionKinds<MakeVecOptions> = {
  ...MAKE,
  numEnvs: NUMBER,
  recordEpisodes: FLAG,
};

/** Registrations that are used unless others are given. */
export const defaultRegistry: EnvRegistry = new Map();

/** Finds a registration, or throws with the nearest id. */
function find(
  id: string,
  { registry = defaultRegistry }: RegistryOptions,
): EnvRegistration {
  const found = registry.get(id);
  if (found !== undefined) return found;
  throw unknownEnvironment(id, [...registry.keys()]);
}

const ID = /^[\w:./-]+-v\d+$/;

/**
 * Registers an environment by name.
 *
 * @param registration Its id with a version, and its recipe.
 * @param options Registry to add it to.
 * @throws {SyntaxError} If the id has no version.
 * @throws {RangeError} If the id is taken.
 * @throws {TypeError} If a part is unknown or of another type, or there is no `make`.
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
  checkOptions("a registration", registration, REGISTRATION);
  const { id } = registration;
  if (!ID.test(id)) {
    throw new SyntaxError(
      `Cannot register '${id}': expected a name and a version, such as 'CartPole-v1'`,
    );
  }
  const { make, makeWorld } = registration;
  if ((make === undefined) === (makeWorld === undefined)) {
    throw new TypeError(
      `Cannot register '${id}' ${
        make ? "with both make and makeWorld" : "without make"
      }: expected a function that makes an environment, or makeWorld, which makes worlds of several seats`,
    );
  }
  if (registry.has(id)) {
    throw new RangeError(
      `Cannot register '${id}': there is an environment of that name`,
    );
  }
  const makers = makeWorld && gameMakers(makeWorld, specOf(registration));
  registry.set(id, { ...registration, ...makers });
}

/**
 * Makes worlds of a game by name, for players of your own in all seats: options of
 * self-play, which `makeVec` takes among the game's own, are left out.
 *
 * @param id Its name with the version.
 * @param options Number, limit, and options of the game's own.
 * @returns The worlds.
 * @throws {RangeError} If there is none of that name, or the number is below 1.
 * @throws {TypeError} If it is no game of several seats.
 * @example
 * ```ts
 * import { makeWorld } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const world = makeWorld("ConnectFour-v0", { numEnvs: 2 });
 * assertEquals(world.seats.map((it) => it.name), ["first", "second"]);
 * ```
 */
export function makeWorld(id: string, options: MakeWorldOptions): World {
  checkOptions(id, options, MAKE_WORLD);
  const registration = find(id, options);
  const { numEnvs, kwargs = {} } = options;
  checkNumEnvs(id, numEnvs);
  if (registration.makeWorld === undefined) {
    throw new TypeError(
      `Cannot make worlds of ${id}, which has one seat: expected a game, such as ConnectFour-v0`,
    );
  }
  const maxEpisodeSteps = limitOf(registration, options);
  return registration.makeWorld({
    ...{ numEnvs, kwargs: gameKwargs(kwargs) },
    spec: { ...specOf(registration), maxEpisodeSteps },
    ...maxEpisodeSteps !== undefined && { maxEpisodeSteps },
  });
}

/**
 * Lists the names of all environments in the order of their registration.
 *
 * @param options Registry to list.
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
 * Looks up the facts about an environment.
 *
 * @param id Its name with the version.
 * @param options Registry to look in.
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
export function envSpec(id: string, options: RegistryOptions = {}): EnvSpec {
  return specOf(find(id, options));
}

function specOf(
  { id, maxEpisodeSteps, rewardThreshold, looseBounds, infoStatistics }:
    EnvRegistration,
): EnvSpec {
  return {
    ...{ id, maxEpisodeSteps, rewardThreshold },
    ...looseBounds && { looseBounds },
    ...infoStatistics && { infoStatistics },
  };
}

/** Picks the limit to pass on; none means no limit, or its own. */
function limitOf(
  registration: EnvRegistration,
  { maxEpisodeSteps = registration.maxEpisodeSteps }: MakeOptions,
): number | undefined {
  return maxEpisodeSteps === Infinity && !registration.limitsItself
    ? undefined
    : maxEpisodeSteps;
}

/**
 * Makes an environment by name, with its time limit around it. Its type is that of the
 * id among {@linkcode RegisteredEnvs}.
 *
 * @param id Its name with the version.
 * @param options Limit and options of the environment's own.
 * @returns The environment.
 * @throws {RangeError} If there is none of that name, with the nearest one.
 * @example
 * ```ts
 * import { make } from "@bellman/envs";
 * import { assert, assertThrows } from "@std/assert";
 *
 * const [position] = make("CartPole-v1").reset({ seed: 0 });
 * assert(Math.abs(position) <= 0.05);
 * assertThrows(() => make("CartPol-v1"), RangeError, "'CartPole-v1'?");
 * ```
 */
export function make<Id extends EnvId>(
  id: Id,
  options: MakeOptions = {},
): EnvOf<Id> {
  checkOptions(id, options, MAKE);
  const registration = find(id, options);
  const { infoStatistics = registration.infoStatistics ?? [] } = options;
  const env = makeLimited(registration, options);
  return (infoStatistics.length === 0
    ? env
    : new RecordInfoStatistics(env, infoStatistics)) as EnvOf<Id>;
}

function makeLimited(
  registration: EnvRegistration,
  options: MakeOptions,
): Env {
  const { kwargs = {} } = options, limit = limitOf(registration, options);
  if (registration.limitsItself) {
    return registration.make!(kwargs, { maxEpisodeSteps: limit });
  }
  const env = registration.make!(kwargs);
  return new TimeLimit(env, limit ?? Infinity, {
    spec: { ...specOf(registration), maxEpisodeSteps: limit },
  });
}

/**
 * Makes several environments by name that step together: in their batched form
 * where there is one, one after the other where there is none.
 *
 * @param id Its name with the version.
 * @param options Number, limit, and options of the environment's own.
 * @returns The vector environment.
 * @throws {RangeError} If there is none of that name, or the number is below 1.
 * @example
 * ```ts
 * import { makeVec } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = makeVec("Pendulum-v1", { numEnvs: 4 });
 * assertEquals(env.reset({ seed: 1 }).length, 12);
 * ```
 */
export function makeVec<Id extends EnvId>(
  id: Id,
  options: MakeVecOptions,
): VecEnvOf<Id> {
  checkOptions(id, options, MAKE_VEC);
  const registration = find(id, options);
  const { numEnvs, recordEpisodes = true, ...single } = options;
  const { kwargs = {} } = single;
  const { infoStatistics = registration.infoStatistics ?? [] } = options;
  checkNumEnvs(id, numEnvs);
  const maxEpisodeSteps = limitOf(registration, options);
  // Environments in the rows of arrays have no info.
  const isAlone = infoStatistics.length > 0 && !registration.recordsInfo;
  const together = { numEnvs, maxEpisodeSteps, infoStatistics, kwargs };
  const env = (isAlone ? undefined : registration.makeVec?.(together)) ??
    new SyncVecEnv(
      Array.from({ length: numEnvs }, () => () => make<string>(id, single)),
    );
  const made: VecEnv = recordEpisodes ? new RecordEpisodeStatistics(env) : env;
  return made as VecEnvOf<Id>;
}
