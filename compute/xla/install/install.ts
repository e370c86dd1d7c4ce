/**
 * Sets up a PJRT plugin, which compiles programs with XLA, in the cache folder:
 * from wheels of PyPI whose hashes are known. Doing it twice does nothing.
 *
 * In Bellman's repository this is `deno task install-xla`. Prints where the
 * plugin is. Importing this installs nothing.
 *
 * @example
 * ```sh
 * deno run -A jsr:@bellman/compute/xla/install [--accept-license] \
 *   [--wheel PATH ...] [--dir DIR] [--allow-other-version]
 * ```
 *
 * @module
 */
import { runInstall } from "@bellman/files/install";
import { cpuInstallation } from "./installed.ts";

/**
 * Does what the command line of `install-xla` asks for, and prints where the
 * plugin is or why it cannot be installed.
 *
 * @param args The arguments.
 * @returns The exit code: 0 if it is installed; 2 for licences that are yet to be
 * accepted and for arguments, wheels or a folder that cannot be; 130 or 143 if it
 * was interrupted; 1 if it failed.
 * @example
 * ```ts
 * import { installXla } from "@bellman/compute/xla/install";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(await installXla(["--help"]), 0);
 * ```
 */
export function installXla(args: readonly string[]): Promise<number> {
  return runInstall(cpuInstallation(), args);
}

if (import.meta.main) {
  Deno.exitCode = await installXla(Deno.args);
}
