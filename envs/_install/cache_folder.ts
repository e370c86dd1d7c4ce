import { tellPermission } from "../_files.ts";
import { existsSync } from "node:fs";
import { resolve } from "node:path";

/**
 * Returns the folder below which installed libraries, games and models are
 * kept: `BELLMAN_CACHE`, or `bellman` in the platform's cache folder.
 *
 * @param os The platform.
 * @param environment Its environment's variables by name.
 * @throws {Error} If neither it nor a home folder is known.
 * @throws {Deno.errors.NotCapable} If a variable is not permitted to be read.
 */
export function cacheFolder(
  os: string = Deno.build.os,
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

/** The variable that leads to the platform's cache folder, and the way on. */
const CACHES: Record<string, [variable: string, below: string]> = {
  darwin: ["HOME", "/Library/Caches"],
  linux: ["XDG_CACHE_HOME", ""],
  windows: ["LOCALAPPDATA", ""],
};

/**
 * Returns a variable of the environment that says where something is, or
 * undefined where it is unset or empty.
 *
 * @param name Its name.
 * @throws {Deno.errors.NotCapable} If it is not permitted to be read.
 */
export function neededVariable(name: string): string | undefined {
  try {
    return Deno.env.get(name) || undefined;
  } catch (error) {
    tellPermission(error, `read the variable ${name}`, `--allow-env=${name}`);
    throw error;
  }
}

/**
 * Returns a variable of the environment, or undefined where it is unset, empty
 * or not permitted to be read.
 *
 * @param name Its name.
 */
export function readVariable(name: string): string | undefined {
  try {
    return Deno.env.get(name) || undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the command that sets a simulator up: the repository's task, or the
 * published module where this code was itself loaded from there.
 *
 * @param simulator The folder of its package.
 * @param loadedFrom The address of this code.
 */
export function installCommand(
  simulator: "atari" | "mujoco",
  loadedFrom: string = import.meta.url,
): string {
  const program = loadedFrom.startsWith("file:")
    ? `deno task install-${simulator}`
    : `deno run -A jsr:@bellman/envs/${simulator}/install`;
  return `${program} --accept-license`;
}

/** Something in an installed folder that can be used from elsewhere too. */
interface InstalledThing {
  /** Name, such as `library`. */
  what: string;
  /** Its file or folder there. */
  file: string;
  /** The variable of the environment that leads to it elsewhere. */
  variable: string;
}

/**
 * Returns the lines that say where things are, and how to use them from a
 * folder that is not looked into by itself.
 *
 * @param things Things that may be there.
 * @param dir The folder.
 * @param usual The one that is looked into.
 */
export function tellThings(
  things: readonly InstalledThing[],
  dir: string,
  usual: string,
): string[] {
  const there = things.filter(({ file }) => existsSync(`${dir}/${file}`));
  const lines = there.map(({ what, file }) => `${what} ${dir}/${file}`);
  if (there.length === 0 || dir === resolve(usual)) return lines;
  const settings = there.map(({ file, variable }) =>
    `${variable}=${dir}/${file}`
  );
  return [...lines, `To use them, set ${settings.join(" and ")}`];
}
