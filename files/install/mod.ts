/**
 * Sets up native libraries and data from wheels of PyPI whose hashes are known,
 * below the user's cache folder: all or nothing, and once.
 *
 * @example
 * ```ts
 * import { platform, runInstall } from "@bellman/files/install";
 * import { assertEquals } from "@std/assert";
 *
 * const lines: string[] = [];
 * const toys = {
 *   ...{ title: "Toys", task: "install-toys", packages: [], notice: [] },
 *   dir: () => "toys",
 * };
 * const output = {
 *   out: (line: string) => lines.push(line),
 *   error: (line: string) => lines.push(line),
 * };
 * assertEquals(await runInstall(toys, ["--help"], output), 0);
 * assertEquals(lines[0].startsWith("usage: install-toys ["), true);
 * assertEquals(platform().startsWith(Deno.build.os), true);
 * ```
 *
 * @module
 */
export {
  InstallError,
  type PinnedPackage,
  platform,
  wheelFor,
  wheelPlatform,
} from "./pinned_package.ts";
export {
  type Installation,
  type InstallOutput,
  runInstall,
  told,
} from "./run_install.ts";
