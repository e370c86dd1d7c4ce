import {
  defaultRegistry,
  type EnvKwargs,
  makeVec,
} from "../registry/registry.ts";
import type { EnvId, VecEnvOf } from "../registry/registered_envs.ts";
import type { VecEnv } from "@bellman/types";
import type { EnvSlice } from "./group_hosts.ts";

/** Environments of a registered id. */
export interface RegisteredSource {
  /** Its name with the version. */
  readonly id: EnvId;
  /**
   * The environment's own options: data that can be cloned, no functions.
   *
   * @default {}
   */
  readonly kwargs?: EnvKwargs;
  /**
   * Steps after which an episode is truncated; `Infinity` for no limit.
   *
   * @default the registered limit
   */
  readonly maxEpisodeSteps?: number;
  /**
   * Entries of `info` to record for each episode.
   *
   * @default the registered ones
   */
  readonly infoStatistics?: readonly string[];
  /**
   * Modules that register it, as absolute URLs: what `import.meta.resolve`
   * gives. Those of this package, Atari's and MuJoCo's too, need none.
   *
   * @default []
   */
  readonly imports?: readonly string[];
}

/**
 * Environments that a module makes: its default export is a {@linkcode GroupFactory}.
 */
export interface ModuleSource {
  /** The module's absolute URL: what `import.meta.resolve` gives. */
  readonly module: string;
  /**
   * Further options of its default export: data that can be cloned, no
   * functions.
   *
   * @default {}
   */
  readonly options?: Readonly<Record<string, unknown>>;
}

/**
 * Source of the environments of a group: an id, an id with options, or a
 * module. It must be possible to send it: a function cannot be, and belongs
 * into a module.
 */
export type GroupSource = EnvId | RegisteredSource | ModuleSource;

/**
 * Vector environment of a source: typed where its id is known.
 *
 * @typeParam S The source.
 */
export type HostedVecEnv<S> = VecEnvOf<
  S extends { readonly id: infer Id } ? Id : S
>;

/**
 * Environments that a {@linkcode GroupFactory} makes, and the options of its
 * source.
 */
export interface GroupOptions {
  /** Number of environments to make. */
  readonly numEnvs: number;
  /** Number of the first of them among all. */
  readonly first: number;
  /** The options of the source. */
  readonly [option: string]: unknown;
}

/**
 * Makes the environments of one group. It need not seed them: `reset` does, for
 * each environment alone.
 *
 * @param options Environments to make, and the options of the source.
 * @returns The environments.
 */
export type GroupFactory = (
  options: GroupOptions,
) => VecEnv | Promise<VecEnv>;

/** A source in full. */
export type CheckedSource = RegisteredSource | ModuleSource;

/**
 * Checks that a host elsewhere can make environments from a source.
 *
 * @param source The source.
 * @returns The source in full.
 * @throws {TypeError} If it cannot be sent to a host.
 *
 * @example
 * ```ts
 * import { checkSource } from "@bellman/envs/workers";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(checkSource("CartPole-v1"), { id: "CartPole-v1" });
 * ```
 */
export function checkSource(source: GroupSource): CheckedSource {
  const full = typeof source === "string" ? { id: source } : source;
  if ("id" in full) {
    for (const url of full.imports ?? []) checkUrl(url);
    checkClonable(full.kwargs, `kwargs of ${full.id}`);
  } else {
    checkUrl(full.module);
    checkClonable(full.options, `options of ${full.module}`);
  }
  return full;
}

function checkUrl(url: string): void {
  if (URL.canParse(url)) return;
  throw new TypeError(
    `Cannot import '${url}' in a host: expected an absolute URL, such as import.meta.resolve(${
      JSON.stringify(url)
    })`,
  );
}

function checkClonable(data: unknown, name: string): void {
  try {
    structuredClone(data);
  } catch (error) {
    // What cannot be cloned may be shown over many lines.
    const why = (error as Error).message.replaceAll(/\s+/g, " ");
    throw new TypeError(
      `Cannot send the ${name} to a host: ${
        why.replace(/\.$/, "")
      }; expected plain data, and functions in a module that the host imports`,
    );
  }
}

/**
 * Makes the environments of a group in this thread.
 *
 * @param source The source.
 * @param range Number of environments, and the number of the first of them.
 * @returns The environments.
 *
 * @example
 * ```ts
 * import { makeGroup } from "@bellman/envs/workers";
 * import { assertEquals } from "@std/assert";
 *
 * const env = await makeGroup({ id: "CartPole-v1" }, { first: 0, numEnvs: 2 });
 * assertEquals(env.numEnvs, 2);
 * ```
 */
export async function makeGroup(
  source: CheckedSource,
  range: EnvSlice,
): Promise<VecEnv> {
  if ("id" in source) {
    for (const url of source.imports ?? []) await import(url);
    await importRegistered(source);
    return makeRegistered(source, range);
  }
  const { module, options = {} } = source;
  const { default: make } = await import(module) as { default?: GroupFactory };
  if (typeof make !== "function") {
    throw new TypeError(
      `Cannot make environments with ${module}: its default export is no function`,
    );
  }
  const env = await make({ ...options, ...range });
  if (env.numEnvs === range.numEnvs) return env;
  env.close();
  throw new RangeError(
    `Cannot host a group of ${env.numEnvs} environments: expected ${range.numEnvs}`,
  );
}

/**
 * Imports the environments of this package, as far as an id and its engine need
 * them: a host that makes others starts sooner without.
 */
async function importRegistered(
  { id, kwargs }: RegisteredSource,
): Promise<void> {
  await import("../mod.ts");
  if (!defaultRegistry.has(id)) {
    await import("../atari/mod.ts");
    await import("../mujoco/mod.ts");
  }
  if (kwargs?.engine !== "wasm") return;
  const { loadMujocoWasm } = await import("../mujoco/mod.ts");
  await loadMujocoWasm();
}

/** Makes environments that this thread knows. */
export function makeRegistered(
  { id, kwargs = {}, ...options }: RegisteredSource,
  { numEnvs }: EnvSlice,
): VecEnv {
  // Episodes are recorded around all groups, not in each.
  const recordEpisodes = false;
  const { maxEpisodeSteps, infoStatistics } = options;
  const limits = { maxEpisodeSteps, infoStatistics, recordEpisodes };
  return makeVec(id, { numEnvs, kwargs, ...limits });
}
