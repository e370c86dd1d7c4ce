/**
 * Sets up the Arcade Learning Environment: its C library and ale-py's ROMs, from
 * the wheels that PyPI has of them. Doing it twice does nothing.
 *
 * In Bellman's repository this is `deno task install-atari`. Wheels are
 * downloaded with `pip download`, or given by path where there is no network;
 * their hashes are checked in any case. Importing this installs nothing.
 *
 * @example
 * ```sh
 * deno run -RWES --allow-run jsr:@bellman/envs/atari/install [--accept-license] \
 *   [--wheel PATH ...] [--dir DIR]
 * ```
 *
 * @module
 */
import { runInstall } from "@bellman/files/install";
import { ATARI_INSTALLATION } from "./emulator/installed.ts";

/**
 * Runs the command line of `install-atari`, and prints where things
 * are or why they cannot be installed.
 *
 * @param args The arguments.
 * @returns The exit code: 0 if it is installed; 2 for licences that are yet to be
 * accepted and for arguments, wheels or a folder that cannot be; 130 or 143 if it
 * was interrupted; 1 if it failed.
 * @example
 * ```ts
 * import { installAtari } from "@bellman/envs/atari/install";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(await installAtari(["--help"]), 0);
 * ```
 */
export function installAtari(args: readonly string[]): Promise<number> {
  return runInstall(ATARI_INSTALLATION, args);
}

if (import.meta.main) {
  Deno.exitCode = await installAtari(Deno.args);
}
