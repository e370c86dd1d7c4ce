import { defaultRegistry, envSpec, registeredIds } from "@bellman/envs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { ResolvedConfig } from "./config/resolve.ts";
import { isLikelyTypo, nearest } from "./config/schema.ts";
import { UsageError } from "./usage_error.ts";

/** What begins the ids of environments that Python's Gymnasium hosts. */
const GYMNASIUM = "gym:";

/** The settings of a run that say where its environment comes from. */
export type EnvironmentOrigin = Pick<
  ResolvedConfig,
  "env" | "envModules" | "stepTimeout"
>;

/** Whether an id is of an environment that Python hosts. */
export function isGymnasium(id: string): boolean {
  return id.startsWith(GYMNASIUM);
}

/** Seconds as whole milliseconds, at least one. */
export function milliseconds(seconds: number): number {
  return Math.max(1, Math.round(1000 * seconds));
}

/** A module's URL: a path counts from the current folder. */
function urlOf(module: string): string {
  if (URL.canParse(module) && !/^[a-z]:[\\/]/i.test(module)) return module;
  return pathToFileURL(resolve(module)).href;
}

async function importOwn(module: string): Promise<void> {
  try {
    await import(urlOf(module));
  } catch (error) {
    throw new UsageError(
      `Cannot import ${module}, which envModules names: ${
        (error as Error).message.split("\n")[0]
      }`,
      { cause: error },
    );
  }
}

/**
 * Makes an environment known by its id: imports modules of the user's own, the
 * packages of Atari and MuJoCo, or asks Python.
 *
 * @returns The user's own modules as absolute URLs, for threads and processes
 * that have to import them too.
 * @throws {UsageError} If a module cannot be imported.
 */
export async function loadEnvironment(
  { env, envModules, stepTimeout }: EnvironmentOrigin,
): Promise<string[]> {
  if (isGymnasium(env)) {
    const { registerGymnasium } = await import("@bellman/envs/gymnasium");
    const name = env.slice(GYMNASIUM.length);
    if (name === "") {
      throw new UsageError(
        `Cannot use the environment '${env}': expected a name of Gymnasium's, such as gym:LunarLander-v3`,
      );
    }
    registerGymnasium(name, {
      modules: envModules,
      stepTimeoutMs: milliseconds(stepTimeout),
    });
    return [];
  }
  for (const module of envModules) await importOwn(module);
  const own = envModules.map(urlOf);
  if (defaultRegistry.has(env)) return own;
  await loadAllEnvironments();
  checkKnown(env);
  return own;
}

/** Says what is wrong with an id before anything is started. */
function checkKnown(env: string): void {
  const ids = registeredIds();
  if (ids.includes(env)) return;
  const name = (id: string) => id.replace(/-v\d*$/, "");
  if (isLikelyTypo(name(env), name(nearest(env, ids)))) envSpec(env);
  throw new UsageError(
    `Unknown environment '${env}': 'deno task list --all' shows those that there are; ids of Python's Gymnasium begin with gym:, and modules that register others are named in envModules`,
  );
}

/**
 * Makes all environments known that come with Bellman.
 *
 * @returns The ids of Atari games.
 */
export async function loadAllEnvironments(): Promise<ReadonlySet<string>> {
  const before = new Set(defaultRegistry.keys());
  await import("@bellman/envs/atari");
  const games = new Set([...defaultRegistry.keys()])
    .difference(before);
  await import("@bellman/envs/mujoco");
  return games;
}
