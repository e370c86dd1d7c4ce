// All of the package, so that its own environments are registered in a host.
import { defaultRegistry, makeVec } from "../mod.ts";
import type { VecEnv } from "@bellman/types";
import type { GroupRange } from "./group_hosts.ts";
import type { RegisteredSource } from "./group_source.ts";

/** Makes copies of an environment that this thread knows. */
export function makeRegistered(
  { id, kwargs = {}, maxEpisodeSteps }: RegisteredSource,
  { numEnvs }: GroupRange,
): VecEnv {
  const limit = maxEpisodeSteps === undefined ? {} : { maxEpisodeSteps };
  // Episodes are recorded around all groups, not in each.
  return makeVec(id, { numEnvs, kwargs, recordEpisodes: false, ...limit });
}

/**
 * Imports what copies are made of: environments of this package that its core
 * does not hold, and the engine that they ask for.
 */
export async function importRegistered(
  { id, kwargs }: RegisteredSource,
): Promise<void> {
  if (!defaultRegistry.has(id)) {
    await import("../atari/mod.ts");
    await import("../mujoco/mod.ts");
  }
  if (kwargs?.engine === "wasm") await import("../mujoco/wasm.ts");
}
