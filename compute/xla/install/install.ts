/**
 * Sets up a PJRT plugin, which compiles programs with XLA, in the cache folder:
 * from wheels of PyPI whose hashes are known. Doing it twice does nothing.
 *
 * In Bellman's repository this is `deno task install-xla`. Prints where the
 * plugin is. Importing this installs nothing.
 *
 * - `--cuda`: the plugin for GPUs of NVIDIA with CUDA's libraries, of 3.4 GB.
 * - `--without-gpu`: does so on a machine that has no GPU.
 *
 * @example
 * ```sh
 * deno run -RWES --allow-run jsr:@bellman/compute/xla/install [--accept-license] \
 *   [--cuda [--without-gpu]] [--wheel PATH ...] [--dir DIR]
 * ```
 *
 * @module
 */
import { type InstallOutput, runInstall } from "@bellman/files/install";
import { XLA_INSTALLATION } from "./installed.ts";

/**
 * Runs the command line of `install-xla`, and prints where the
 * plugin is or why it cannot be installed.
 *
 * @param args The arguments.
 * @param output Output of lines, by default to stdout and stderr.
 * @returns The exit code: 0 if it is installed; 2 for licences that are yet to be
 * accepted, arguments, wheels or a folder that cannot be, and a GPU that is not
 * there; 130 or 143 if it was interrupted; 1 if it failed.
 * @example
 * ```ts
 * import { installXla } from "@bellman/compute/xla/install";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(await installXla(["--help"]), 0);
 * ```
 */
export function installXla(
  args: readonly string[],
  output?: InstallOutput,
): Promise<number> {
  return runInstall(XLA_INSTALLATION, args, output);
}

if (import.meta.main) {
  Deno.exitCode = await installXla(Deno.args);
}
