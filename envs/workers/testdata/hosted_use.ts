/** How tests make vector environments of any kind, and use them. */
import type { VecEnv } from "@bellman/types";
import type { GroupSource, ModuleSource } from "../group_source.ts";
import type { AsyncVecEnv } from "../async_vec_env.ts";
import type { HostOptions } from "../restarts.ts";

/** Makes a vector environment of one kind in so many groups. */
export type MakeHosted = (
  source: GroupSource,
  options: HostOptions & { numEnvs: number; groups: number },
) => AsyncVecEnv;

export const FRAGILE: ModuleSource = {
  module: import.meta.resolve("./fragile_env.ts"),
};
/** Uses an environment and closes it, whatever happens. */
export async function using<T extends VecEnv>(
  env: T,
  use: (env: T) => void | Promise<void>,
): Promise<void> {
  try {
    await use(env);
  } finally {
    env.close();
  }
}
