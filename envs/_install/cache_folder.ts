import { tellPermission } from "../_files.ts";

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
