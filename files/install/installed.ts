/**
 * Finds what install tasks have set up: its folder, the variables and files that
 * override it, and missing permissions.
 *
 * @example
 * ```ts
 * import { cacheFolder, isFile } from "@bellman/files/installed";
 * import { assertEquals } from "@std/assert";
 *
 * const folder = cacheFolder("linux", (name) =>
 *   name === "BELLMAN_CACHE" ? "/mine" : undefined);
 * assertEquals(isFile(`${folder}/no such library`), false);
 * ```
 *
 * @module
 */
import { environmentVariable, isNotCapable, platform } from "../host.ts";
import { builtin } from "../runtime.ts";

/**
 * Returns the folder below which installed libraries, games and models are
 * kept: `BELLMAN_CACHE`, or `bellman` in the platform's cache folder.
 *
 * @param os The platform.
 * @param environment Its environment's variables by name.
 * @throws {Error} If neither it nor a home folder is known.
 * @throws {Deno.errors.NotCapable} If a variable may not be read.
 * @example
 * ```ts
 * import { cacheFolder } from "@bellman/files/installed";
 * import { assertEquals } from "@std/assert";
 *
 * const variables = new Map([["HOME", "/home/ada"]]);
 * assertEquals(
 *   cacheFolder("linux", (name) => variables.get(name)),
 *   "/home/ada/.cache/bellman",
 * );
 * ```
 */
export function cacheFolder(
  os: string = platform().os,
  environment: (name: string) => string | undefined = neededVariable,
): string {
  const asked = environment("BELLMAN_CACHE");
  if (asked) return asked;
  const [variable, below] = CACHES[os] ?? CACHES.linux;
  const platform = environment(variable);
  if (platform) return `${platform}${below}/bellman`;
  const home = os === "linux" ? environment("HOME") : undefined;
  if (home) return `${home}/.cache/bellman`;
  throw new Error(
    `Cannot find the cache folder as ${variable} is not set: set BELLMAN_CACHE to a folder`,
  );
}

/** The variable of the platform's cache folder, and the path from there. */
const CACHES: Record<string, [variable: string, below: string]> = {
  darwin: ["HOME", "/Library/Caches"],
  linux: ["XDG_CACHE_HOME", ""],
  windows: ["LOCALAPPDATA", ""],
};

/**
 * Returns an environment variable that holds a path, or undefined where it is unset
 * or empty.
 *
 * @param name Its name.
 * @throws {Deno.errors.NotCapable} If it may not be read.
 * @example
 * ```ts
 * import { neededVariable } from "@bellman/files/installed";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(neededVariable("BELLMAN_NO_SUCH_LIBRARY"), undefined);
 * ```
 */
export function neededVariable(name: string): string | undefined {
  try {
    return environmentVariable(name);
  } catch (error) {
    tellPermission(error, `read the variable ${name}`, `--allow-env=${name}`);
    throw error;
  }
}

/**
 * Returns an environment variable, or undefined where it is unset, empty or may not
 * be read.
 *
 * @param name Its name.
 * @example
 * ```ts
 * import { readVariable } from "@bellman/files/installed";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(readVariable("BELLMAN_NO_SUCH_LIBRARY"), undefined);
 * ```
 */
export function readVariable(name: string): string | undefined {
  try {
    return environmentVariable(name);
  } catch {
    return undefined;
  }
}

/** An install task. */
export interface InstallTask {
  /** Its name in the repository, such as `install-atari`. */
  readonly task: string;
  /** The published module that does the same. */
  readonly module: string;
}

/**
 * Returns the command that installs something: the repository's task, or the published
 * module where this code was loaded from there.
 *
 * @param install The task.
 * @param loadedFrom The address of this code.
 * @example
 * ```ts
 * import { installCommand } from "@bellman/files/installed";
 * import { assertEquals } from "@std/assert";
 *
 * const module = "@bellman/envs/mujoco/install";
 * assertEquals(
 *   installCommand({ task: "install-mujoco", module }, "file:///bellman"),
 *   "deno task install-mujoco --accept-license",
 * );
 * ```
 */
export function installCommand(
  { task, module }: InstallTask,
  loadedFrom: string = import.meta.url,
): string {
  const program = loadedFrom.startsWith("file:")
    ? `deno task ${task}`
    : `deno run -RWES --allow-run jsr:${module}`;
  return `${program} --accept-license`;
}

/**
 * Reports a missing permission, which otherwise looks like a missing file. Other
 * errors are left to the caller.
 *
 * @param error Error that was thrown.
 * @param action Action that failed, such as `read the file 'a'`.
 * @param flag Flag that permits it.
 * @throws {Deno.errors.NotCapable} If it is a missing permission.
 * @example
 * ```ts
 * import { tellPermission } from "@bellman/files/installed";
 * import { assertThrows } from "@std/assert";
 *
 * assertThrows(
 *   () =>
 *     tellPermission(
 *       new Deno.errors.NotCapable(),
 *       "read 'a'",
 *       "--allow-read=a",
 *     ),
 *   Deno.errors.NotCapable,
 *   "Cannot read 'a': it needs the permission --allow-read=a",
 * );
 * ```
 */
export function tellPermission(
  error: unknown,
  action: string,
  flag: string,
): void {
  if (!isNotCapable(error)) return;
  throw new Deno.errors.NotCapable(
    `Cannot ${action}: it needs the permission ${flag}`,
  );
}

/**
 * True where a file exists.
 *
 * @throws {Deno.errors.NotCapable} If it may not be read.
 * @example
 * ```ts
 * import { isFile } from "@bellman/files/installed";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(isFile("no/such/file"), false);
 * ```
 */
export function isFile(path: string): boolean {
  try {
    return builtin("node:fs").statSync(path).isFile();
  } catch (error) {
    tellPermission(error, `look for '${path}'`, `--allow-read=${path}`);
    return false;
  }
}

/**
 * Finds an installed file.
 *
 * @param place Its path below the cache folder.
 * @returns Its absolute path; undefined if it does not exist.
 * @throws {Deno.errors.NotCapable} If it may not be read.
 * @example
 * ```ts
 * import { installedFile } from "@bellman/files/installed";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(installedFile("toys/no such library"), undefined);
 * ```
 */
export function installedFile(place: string): string | undefined {
  try {
    const path = builtin("node:path").resolve(cacheFolder(), place);
    return isFile(path) ? path : undefined;
  } catch (error) {
    if (isNotCapable(error)) throw error;
    // No cache folder is known: nothing is installed.
    return undefined;
  }
}

/**
 * Finds a file that an environment variable names or, where it is unset, the
 * installed one.
 *
 * @param what Name of it, such as `MuJoCo library`.
 * @param variable The variable.
 * @param place Place of the installed file below the cache folder.
 * @returns Its absolute path; undefined if none was installed.
 * @throws {RangeError} If the variable names no file.
 * @throws {Deno.errors.NotCapable} If it may not be read.
 * @example
 * ```ts
 * import { findInstalled } from "@bellman/files/installed";
 * import { assertEquals } from "@std/assert";
 *
 * const place = "toys/no such library";
 * assertEquals(findInstalled("library", "BELLMAN_NO_TOYS", place), undefined);
 * ```
 */
export function findInstalled(
  what: string,
  variable: string,
  place: string,
): string | undefined {
  const asked = neededVariable(variable);
  if (asked === undefined) return installedFile(place);
  // A bare name would be searched in the system's folders.
  const path = builtin("node:path").resolve(asked);
  if (isFile(path)) return path;
  throw new RangeError(
    `Cannot find the ${what} '${path}' that ${variable} names`,
  );
}
