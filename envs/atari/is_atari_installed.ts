import { isFile } from "../_files.ts";
import { libraryPath } from "./_ale_library.ts";
import { romFolder } from "./roms.ts";

/**
 * Whether the emulator's library and the ROMs' folder are there, so that Atari
 * environments can be made.
 *
 * @returns Whether there is a library and a folder; nothing is opened.
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
    return isFile(libraryPath()) && Deno.statSync(romFolder()).isDirectory;
  } catch {
    return false;
  }
}
