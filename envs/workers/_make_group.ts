import type { VecEnv } from "@bellman/types";
import { defaultRegistry, makeVec } from "../registry.ts";
import type { GroupRange } from "./group_hosts.ts";
import type {
  CheckedSource,
  GroupFactory,
  ModuleSource,
  RegisteredSource,
} from "./group_source.ts";

/** Makes the environments of a group in this thread. */
export async function makeGroup(
  source: CheckedSource,
  range: GroupRange,
): Promise<VecEnv> {
  if ("id" in source) {
    for (const url of source.imports ?? []) await import(url);
    await importRegistered(source);
    return makeRegistered(source, range);
  }
  return checkGroup(await makeFrom(source, range), range);
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
  if (kwargs?.engine === "wasm") await import("../mujoco/wasm.ts");
}

/** Makes environments that this thread knows. */
export function makeRegistered(
  { id, kwargs = {}, maxEpisodeSteps }: RegisteredSource,
  { numEnvs }: GroupRange,
): VecEnv {
  const limit = maxEpisodeSteps === undefined ? {} : { maxEpisodeSteps };
  // Episodes are recorded around all groups, not in each.
  return makeVec(id, { numEnvs, kwargs, recordEpisodes: false, ...limit });
}

async function makeFrom(
  { module, options = {} }: ModuleSource,
  { numEnvs, first }: GroupRange,
): Promise<VecEnv> {
  const exports = await import(module) as { default?: GroupFactory };
  if (typeof exports.default !== "function") {
    throw new TypeError(
      `Cannot make copies with ${module}: its default export is no function`,
    );
  }
  return exports.default({ ...options, numEnvs, first });
}

/** Checks that a factory made as many environments as it was to. */
export function checkGroup(env: VecEnv, { numEnvs }: GroupRange): VecEnv {
  if (env.numEnvs === numEnvs) return env;
  env.close();
  throw new RangeError(
    `Cannot host a group of ${env.numEnvs} copies: expected ${numEnvs}`,
  );
}
