import {
  cacheFolder,
  findInstalled,
  installCommand,
  type InstallTask,
} from "@bellman/files/installed";

/** A kind of device that programs are compiled for. */
export type XlaDeviceName = "cpu" | "cuda";

/** The variable that names a custom plugin. */
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

/**
 * Finds the plugin that `BELLMAN_XLA_PLUGIN` names, or else the installed one.
 *
 * @param device Kind of device that it is for.
 * @returns Its absolute path.
 * @throws {RangeError} If there is none.
 * @throws {Deno.errors.NotCapable} If it is not permitted to look.
 */
export function findPlugin(device: XlaDeviceName): string {
  const place = `xla/${device}/${PLUGIN_FILES[device]}`;
  const found = findInstalled("XLA plugin", PLUGIN_VARIABLE, place);
  if (found !== undefined) return found;
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
