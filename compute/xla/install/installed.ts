import { resolve } from "node:path";
import {
  cacheFolder,
  installCommand,
  type InstallTask,
  isFile,
  neededVariable,
} from "@bellman/files/installed";

/** A kind of device that programs are compiled for. */
export type XlaDeviceName = "cpu" | "cuda";

/** The variable that names a plugin of one's own. */
export const PLUGIN_VARIABLE = "BELLMAN_XLA_PLUGIN";
/** The plugin in an installed folder; that of CUDA looks around itself. */
export const PLUGIN_FILES: Readonly<Record<XlaDeviceName, string>> = {
  cpu: "pjrt_plugin.so",
  cuda: "jax_plugins/xla_cuda13/xla_cuda_plugin.so",
};

/** The task that installs. */
export const INSTALL_XLA: InstallTask = {
  task: "install-xla",
  module: "@bellman/compute/xla/install",
};

/** Returns the folder that `install-xla` fills. */
export function xlaFolder(device: XlaDeviceName): string {
  return `${cacheFolder()}/xla/${device}`;
}

/** Returns the path of an installed plugin, if it is there. */
function installedPlugin(device: XlaDeviceName): string | undefined {
  try {
    const path = resolve(xlaFolder(device), PLUGIN_FILES[device]);
    return isFile(path) ? path : undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) throw error;
    // No cache folder is known: nothing is installed.
    return undefined;
  }
}

/**
 * Finds the plugin: that which `BELLMAN_XLA_PLUGIN` names, or the installed one.
 *
 * @param device Kind of device that it is for.
 * @returns Its absolute path.
 * @throws {RangeError} If there is none.
 * @throws {Deno.errors.NotCapable} If it is not permitted to look.
 */
export function findPlugin(device: XlaDeviceName): string {
  const asked = neededVariable(PLUGIN_VARIABLE);
  if (asked === undefined) {
    return installedPlugin(device) ?? failToFind(device);
  }
  // A bare name would be looked for in the system's folders.
  const path = resolve(asked);
  if (isFile(path)) return path;
  throw new RangeError(
    `Cannot find the XLA plugin '${path}' that ${PLUGIN_VARIABLE} names`,
  );
}

function failToFind(device: XlaDeviceName): never {
  const command = installCommand(INSTALL_XLA);
  const flags = device === "cuda" ? " --cuda" : "";
  throw new RangeError(
    `Cannot find an XLA plugin for ${device}: run '${command}${flags}', or set ${PLUGIN_VARIABLE} to one`,
  );
}

/**
 * True where a plugin is installed, so that programs can be compiled.
 *
 * @param device Kind of device that it is for.
 * @returns True where there is one; nothing is opened.
 * @example
 * ```ts
 * import { isXlaInstalled } from "@bellman/compute/xla";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(typeof isXlaInstalled("cpu"), "boolean");
 * ```
 */
export function isXlaInstalled(device: XlaDeviceName = "cpu"): boolean {
  try {
    return findPlugin(device) !== "";
  } catch {
    return false;
  }
}
