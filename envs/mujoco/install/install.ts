/**
 * Sets up MuJoCo's library and Gymnasium's models in the cache folder, from
 * wheels of PyPI whose hashes are known. Doing it twice does nothing.
 *
 * In Bellman's repository this is `deno task install-mujoco`. Prints where
 * library and models are. Importing this installs nothing.
 *
 * @example
 * ```sh
 * deno run -RWES --allow-run jsr:@bellman/envs/mujoco/install [--accept-license] \
 *   [--wheel PATH ...] [--dir DIR]
 * ```
 *
 * @module
 */
import { runInstall } from "@bellman/files/install";
import { MUJOCO_INSTALLATION } from "./installed.ts";

/**
 * Runs the command line of `install-mujoco`, and prints where
 * things are or why they cannot be installed.
 *
 * @param args The arguments.
 * @returns The exit code: 0 if it is installed; 2 for licences that are yet to be
 * accepted and for arguments, wheels or a folder that cannot be; 130 or 143 if it
 * was interrupted; 1 if it failed.
 * @example
 * ```ts
 * import { installMujoco } from "@bellman/envs/mujoco/install";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(await installMujoco(["--help"]), 0);
 * ```
 */
export function installMujoco(args: readonly string[]): Promise<number> {
  return runInstall(MUJOCO_INSTALLATION, args);
}

if (import.meta.main) {
  Deno.exitCode = await installMujoco(Deno.args);
}
