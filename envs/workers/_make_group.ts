import type { VecEnv } from "@bellman/types";
import type { CheckedSource } from "./_check_source.ts";
import type { GroupRange } from "./group_hosts.ts";
import type { GroupFactory, ModuleSource } from "./group_source.ts";

/** Makes the copies of a group in this thread. */
export async function makeGroup(
  source: CheckedSource,
  range: GroupRange,
): Promise<VecEnv> {
  if ("id" in source) {
    for (const url of source.imports ?? []) await import(url);
    // Only here, as a host that makes other copies starts sooner without.
    const { makeRegistered, importRegistered } = await import(
      "./_make_registered.ts"
    );
    await importRegistered(source);
    return makeRegistered(source, range);
  }
  return checkNumEnvs(await makeFrom(source, range), range);
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

/** Throws unless a factory made as many copies as it was to. */
export function checkNumEnvs(env: VecEnv, { numEnvs }: GroupRange): VecEnv {
  if (env.numEnvs === numEnvs) return env;
  env.close();
  throw new RangeError(
    `Cannot host a group of ${env.numEnvs} copies: expected ${numEnvs}`,
  );
}
