import { resolve } from "node:path";
import { isDeno, platform } from "@bellman/files";
import type { Installation, PinnedPackage } from "@bellman/files/install";
import { cacheFolder, isFile, neededVariable } from "@bellman/files/installed";
import roms from "./roms.json" with { type: "json" };
import wheels from "./wheels.json" with { type: "json" };

/** The library's file name on this platform. */
export const LIBRARY_FILE: string = platform().os === "darwin"
  ? "libale_c.dylib"
  : "libale_c.so";

/** Returns the library's path: a bare name is not one of the system's. */
export function libraryPath(): string {
  return resolve(
    neededVariable(ALE.variable) ?? `${cacheFolder()}/atari/${LIBRARY_FILE}`,
  );
}

/** Returns the folder with the ROMs: `BELLMAN_ROMS`, or the installed one. */
export function romFolder(): string {
  return neededVariable(ROMS.variable) ?? `${cacheFolder()}/atari/roms`;
}

/**
 * True where the emulator's library and the ROMs' folder are installed, so that
 * Atari environments can be made.
 *
 * @returns True where they are; nothing is opened.
 * @example
 * ```ts
 * import { isAtariInstalled } from "@bellman/envs/atari";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(typeof isAtariInstalled(), "boolean");
 * ```
 */
export function isAtariInstalled(): boolean {
  try {
    return isDeno() && isFile(libraryPath()) &&
      Deno.statSync(romFolder()).isDirectory;
  } catch {
    return false;
  }
}

/** The emulator: of PyPI's packages, the one with a C interface. */
const ALE: PinnedPackage = {
  name: "multi-agent-ale-py",
  version: "0.1.12",
  licence:
    "the Arcade Learning Environment as a C library, under the GNU General Public License, version 2",
  wheels: wheels["multi-agent-ale-py"],
  isNative: true,
  place: (entry) =>
    entry === `multi_agent_ale_py/${LIBRARY_FILE}` ? LIBRARY_FILE : undefined,
  files: [LIBRARY_FILE],
  what: "library",
  at: LIBRARY_FILE,
  variable: "BELLMAN_ALE_LIBRARY",
};

/** The ROMs, which are the same in the wheels of all platforms. */
const ROMS: PinnedPackage = {
  name: "ale-py",
  version: roms.version,
  licence:
    "ROMs of Atari 2600 games, in a package under the GNU General Public License, version 2",
  wheels: wheels["ale-py"],
  place: (entry) => entry.match(/^ale_py\/(roms\/\w+\.bin)$/)?.[1],
  files: Object.keys(roms.games).map((id) => `roms/${id}.bin`),
  what: "ROMs",
  at: "roms",
  variable: "BELLMAN_ROMS",
};

/** The installation that `install-atari` sets up. */
export const ATARI_INSTALLATION: Installation = {
  title: "Atari",
  task: "install-atari",
  module: "@bellman/envs/atari/install",
  folder: "atari",
  packages: [ALE, ROMS],
  notice:
    "The games are their makers' property: the licence of the package covers the emulator, and whether you may use a ROM is for you to know.",
};
