/**
 * Installs native libraries and data from wheels of PyPI with known hashes, below the
 * user's cache folder: atomically, and once.
 *
 * @example
 * ```ts
 * import { platform, runInstall } from "@bellman/files/install";
 * import { assertEquals } from "@std/assert";
 *
 * const lines: string[] = [];
 * const toys = {
 *   ...{ title: "Toys", task: "install-toys", packages: [], notice: "" },
 *   ...{ folder: "toys", module: "@toys/install" },
 * };
 * const output = {
 *   log: (line: string) => lines.push(line),
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
  type Installation,
  type InstallOutput,
  runInstall,
} from "./run_install.ts";
export {
  InstallError,
  type PinnedPackage,
  platform,
  wheelFor,
} from "./wheels.ts";
