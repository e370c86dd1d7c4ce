import { findLibrary, hasModels } from "./_installed.ts";
import { hasWasm } from "./_open_model.ts";

/**
 * Whether environments on MuJoCo can be made: an engine and Gymnasium's models
 * are there. `deno run -A jsr:@bellman/envs/mujoco/install` sets both up.
 *
 * @returns Whether they are.
 * @example
 * ```ts
 * import { isMujocoInstalled, SwimmerEnv } from "@bellman/envs/mujoco";
 * import { assertEquals } from "@std/assert";
 *
 * if (isMujocoInstalled()) {
 *   const env = new SwimmerEnv();
 *   assertEquals(env.reset({ seed: 1 }).length, 8);
 *   env.close();
 * }
 * ```
 */
export function isMujocoInstalled(): boolean {
  return hasModels() && (hasLibrary() || hasWasm());
}

function hasLibrary(): boolean {
  try {
    return findLibrary() !== undefined;
  } catch {
    // The variable names a file that is not there, or one may not look.
    return false;
  }
}
