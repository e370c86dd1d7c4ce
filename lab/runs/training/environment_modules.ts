import { typoOf } from "@bellman/files/options";
import {
  checkEnv,
  defaultRegistry,
  type EnvRegistry,
  envSpec,
  makeWorld,
  registeredIds,
} from "@bellman/envs";
import { checkWorld } from "@bellman/envs/games";
import type { Env } from "@bellman/types";
import {
  GYMNASIUM,
  gymnasiumId,
  isPython,
  PETTING_ZOO,
  wrappersOf,
} from "../settings/gymnasium.ts";
import { checkPageSettings, isPage, programOf } from "../settings/pages.ts";
import {
  idleModules,
  importModules,
  moduleUrls,
  pythonModule,
} from "../settings/modules.ts";
import type { ResolvedConfig } from "../settings/resolve.ts";
import { messageOf, UsageError } from "../program/errors.ts";

/** Converts seconds to whole milliseconds, at least one. */
export function milliseconds(seconds: number): number {
  return Math.max(1, Math.round(1000 * seconds));
}

/** Code other than Bellman's own that a run executes. */
export interface RunCode {
  /** Imported modules: URLs, or names of Python modules. */
  modules: string[];
  /** Text options of a Python environment, which may name code. */
  options: string[];
  /** Commands of programs, and paths of browsers, that are started. */
  programs: string[];
  /** Files that options of Bellman's own environments name, such as MuJoCo models. */
  files: string[];
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null
    ? Object.values(value).flatMap(textsIn)
    : [];
}

/**
 * Lists the code other than Bellman's own that a configuration names, without running
 * it.
 *
 * @param config The configuration.
 * @param needs With `environment: false`, code of the environment is left out.
 * @throws {UsageError} If a module is neither a file nor a package.
 *
 * @example
 * ```ts
 * import { resolveConfig } from "@bellman/runs/settings";
 * import { codeOf } from "@bellman/runs/training";
 * import { assertEquals } from "@std/assert";
 *
 * const entries: [string, unknown][] = [["env", "gym:mazes:Maze-v0"]];
 * const config = resolveConfig("a2c", { entries });
 * assertEquals(codeOf(config).modules, ["mazes"]);
 * ```
 */
export function codeOf(
  config: ResolvedConfig,
  { environment = true }: { environment?: boolean } = {},
): RunCode {
  const algorithm = moduleUrls(config, "algorithmModules");
  const { modules, ...rest } = environment
    ? environmentCode(config)
    : { modules: [], options: [], files: [], programs: [] };
  return { modules: [...algorithm, ...modules], ...rest };
}

function environmentCode(config: ResolvedConfig): RunCode {
  const { env, envModules, envKwargs, evaluationEnvKwargs, browser } = config;
  if (!isPython(env)) {
    return {
      modules: moduleUrls(config, "envModules"),
      options: [],
      programs: [
        ...[programOf(env)].filter((it) => it !== undefined),
        ...isPage(env) && !/^(auto|none)$/.test(browser) ? [browser] : [],
      ],
      // A name without a folder is an installed model.
      files: textsIn([envKwargs, evaluationEnvKwargs])
        .filter((it) => /[\\/]/.test(it)),
    };
  }
  const name = env.slice(env.indexOf(":") + 1);
  const owner = name.includes(":")
    ? [name.slice(0, name.lastIndexOf(":"))]
    : [];
  const wrappers = wrappersOf(config);
  return {
    modules: [
      ...envModules.map(pythonModule),
      ...owner,
      ...wrappers.map(({ name }) => name),
    ],
    options: textsIn([
      envKwargs,
      evaluationEnvKwargs,
      wrappers.map(({ kwargs }) => kwargs),
    ]),
    files: [],
    programs: [],
  };
}

/**
 * Registers the environment of a run: imports the user's modules, or the packages of
 * Atari and MuJoCo, or registers Python environments.
 *
 * @returns Absolute URLs of the user's modules, for threads and processes; names and
 * absolute paths of Python's.
 * @throws {UsageError} If a module cannot be imported.
 *
 * @example
 * ```ts
 * import { make } from "@bellman/envs";
 * import { resolveConfig } from "@bellman/runs/settings";
 * import { loadEnvironment } from "@bellman/runs/training";
 * import { assertEquals } from "@std/assert";
 *
 * const config = resolveConfig("a2c", { entries: [] });
 * assertEquals(await loadEnvironment(config), []);
 * make(config.env).close();
 * ```
 */
export async function loadEnvironment(
  config: ResolvedConfig,
): Promise<string[]> {
  const { env, envModules } = config;
  const timeouts = {
    stepTimeoutMs: milliseconds(config.stepTimeout),
    startTimeoutMs: milliseconds(config.startTimeout),
  };
  if (isPage(env)) {
    checkPageSettings(config);
    const { registerPage } = await import("@bellman/envs/pages");
    const { workers, browser } = config;
    registerPage(env, { workers: workers ?? 1, browser, ...timeouts });
    return [];
  }
  if (isPython(env)) {
    const { registerGymnasium, registerPettingZoo } = await import(
      "@bellman/envs/gymnasium"
    );
    const isGame = env.startsWith(PETTING_ZOO);
    const prefix = isGame ? PETTING_ZOO : GYMNASIUM;
    const name = env.slice(prefix.length);
    if (name === "") {
      throw new UsageError(
        `Cannot use the environment '${env}': expected a name of ${
          isGame
            ? "PettingZoo's, such as pz:connect_four_v3"
            : "Gymnasium's, such as gym:LunarLander-v3"
        }`,
      );
    }
    const owner = name.slice(0, name.lastIndexOf(":") + 1);
    if (/\.py:$/.test(owner)) {
      throw new UsageError(
        `Cannot use the environment '${env}': name the file in envModules, as in --env ${prefix}${
          isGame
            ? name.replace(/^.*[\\/]|\.py(?=:)/g, "")
            : name.slice(owner.length)
        } --set envModules=[${owner.slice(0, -1)}]`,
      );
    }
    const modules = envModules.map(pythonModule);
    const options = { modules, ...timeouts };
    const wrappers = wrappersOf(config);
    if (isGame) registerPettingZoo(name, options);
    else registerGymnasium(name, { ...options, wrappers });
    return modules;
  }
  const urls = await importModules(config, "envModules");
  if (defaultRegistry.has(env)) return urls;
  await loadAllEnvironments();
  checkKnown(config);
  return urls;
}

/** Less of a check than by default, as every run begins with it. */
const CHECK = { steps: 50, playSeconds: 0.5, render: false };

/**
 * Checks that a user's environment is deterministic: the same seed gives the same
 * episodes, and a restored state continues the same way.
 *
 * @throws {UsageError} If it is not.
 */
export function checkOwnEnvironment(
  { env: id, envModules, envKwargs, vectorization }: ResolvedConfig,
  make: () => Env,
): void {
  // Environments in processes may not be able to run in this one.
  const isElsewhere = isPython(id) || vectorization === "subprocesses";
  if (envModules.length === 0 || isElsewhere) return;
  // Who plays the other seats of a game does not matter.
  const isWorld = defaultRegistry.get(id)?.makeWorld !== undefined;
  const env = isWorld
    ? makeWorld(id, { numEnvs: 2, kwargs: envKwargs })
    : make();
  try {
    if ("seats" in env) checkWorld(env, { steps: CHECK.steps, render: false });
    else checkEnv(env, CHECK);
  } catch (error) {
    const message = messageOf(error);
    const why = message.replace(/^The (environment|world) is broken: /, "");
    const fault = why === message ? "failed in its check" : "is broken";
    throw new UsageError(
      `Cannot train on ${id}, which ${fault}: ${why}; --unchecked trains on it as it is`,
      { cause: error },
    );
  } finally {
    env.close();
  }
}

/** Checks an id before anything is started. */
function checkKnown(config: ResolvedConfig): void {
  const { env } = config;
  const ids = registeredIds();
  if (ids.includes(env)) return;
  const [why] = idleModules(config, "envModules");
  if (why !== undefined) {
    throw new UsageError(`Unknown environment '${env}': ${why}`);
  }
  const ofPython = gymnasiumId(env);
  if (ofPython !== undefined) {
    throw new UsageError(
      `Unknown environment '${env}': did you mean '${ofPython}', of Python's Gymnasium?`,
    );
  }
  if (typoOf(env, ids) !== undefined) envSpec(env);
  throw new UsageError(
    `Unknown environment '${env}': 'deno task list --all' shows those that there are; ids of Python's Gymnasium begin with gym:, as gym:Id-v0 or gym:module:Id-v0, those of PettingZoo's games with pz:, as pz:id_v0, of games in pages and programs with page: and program:, as page:http://127.0.0.1:5173/, and modules that register others are named in envModules, as --set envModules=[./FILE.ts]`,
  );
}

/**
 * Registers all environments that come with Bellman.
 *
 * @returns The ids of Atari games.
 *
 * @example
 * ```ts
 * import { loadAllEnvironments } from "@bellman/runs/training";
 * import { assert } from "@std/assert";
 *
 * assert((await loadAllEnvironments()).has("ALE/Pong-v5"));
 * ```
 */
export async function loadAllEnvironments(): Promise<ReadonlySet<string>> {
  const { registerAtari } = await import("@bellman/envs/atari");
  await import("@bellman/envs/mujoco");
  // Something else may have registered them before.
  const registry: EnvRegistry = new Map();
  registerAtari({ registry });
  return new Set(registry.keys());
}

/**
 * Returns the reward threshold of an environment, if Bellman includes it.
 *
 * @example
 * ```ts
 * import { rewardThreshold } from "@bellman/runs/training";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(await rewardThreshold("CartPole-v1"), 475);
 * ```
 */
export async function rewardThreshold(
  env: string,
): Promise<number | undefined> {
  if (isPython(env) || isPage(env)) return undefined;
  if (!defaultRegistry.has(env)) await loadAllEnvironments();
  return defaultRegistry.get(env)?.rewardThreshold;
}
