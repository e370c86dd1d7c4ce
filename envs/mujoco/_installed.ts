import { resolve } from "node:path";
import { cacheFolder, neededVariable } from "../_install/cache_folder.ts";
import { installCommand } from "../_install/install_command.ts";
import { isFile } from "../_files.ts";

/** The version that is installed. */
export const MUJOCO_VERSION = "4.0.0";

/** Where `install-mujoco` puts the library, its headers and the models. */
export function installedFolder(): string {
  return `${cacheFolder()}/mujoco/${MUJOCO_VERSION}`;
}

/** The library's name in that folder. */
export function libraryName(os: string = Deno.build.os): string {
  if (os === "windows") return "mujoco.dll";
  return os === "darwin" ? "libmujoco.dylib" : "libmujoco.so";
}

/** A file of the folder of installed things, if it is there. */
function installedFile(name: string): string | undefined {
  try {
    const path = resolve(installedFolder(), name);
    return isFile(path) ? path : undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) throw error;
    // No cache folder is known: nothing is installed.
    return undefined;
  }
}

/**
 * The native library to use: what `BELLMAN_MUJOCO_LIBRARY` says, or what is
 * installed.
 *
 * @returns Its absolute path.
 * @throws {Error} If the variable names no file.
 * @throws {Deno.errors.NotCapable} If it is not permitted to look.
 */
export function findLibrary(): string | undefined {
  const asked = neededVariable("BELLMAN_MUJOCO_LIBRARY");
  if (asked === undefined) return installedFile(libraryName());
  // A bare name would be looked for in the system's folders.
  const path = resolve(asked);
  if (isFile(path)) return path;
  throw new Error(
    `Cannot find the MuJoCo library '${path}' that BELLMAN_MUJOCO_LIBRARY names`,
  );
}

const HELP = `run '${
  installCommand("mujoco")
}', set BELLMAN_MUJOCO_MODELS to a folder of models, or give xmlFile a path`;

/**
 * The file of a model: a path as it is, a bare name among those of
 * `BELLMAN_MUJOCO_MODELS` or the installed ones.
 *
 * @throws {Error} If there is no such file.
 * @throws {Deno.errors.NotCapable} If it is not permitted to look.
 */
export function findModel(name: string): string {
  if (/[\\/]/.test(name)) {
    if (isFile(name)) return name;
    throw new Error(`Cannot find the model '${name}'`);
  }
  const folder = neededVariable("BELLMAN_MUJOCO_MODELS");
  const path = folder === undefined
    ? installedFile(`models/${name}`)
    : `${folder}/${name}`;
  if (path !== undefined && isFile(path)) return path;
  const where = folder === undefined ? "" : ` in '${folder}'`;
  throw new Error(`Cannot find the model '${name}'${where}: ${HELP}`);
}

/** Whether the installed models, or one's own in their place, are there. */
export function hasModels(): boolean {
  try {
    findModel("half_cheetah.xml");
    return true;
  } catch {
    return false;
  }
}
