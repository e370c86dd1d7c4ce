import { resolve } from "node:path";
import {
  type Installation,
  type PinnedPackage,
  platform,
  wheelFor,
} from "@bellman/files/install";
import {
  cacheFolder,
  installCommand,
  type InstallTask,
  isFile,
  neededVariable,
} from "@bellman/files/installed";
import wheels from "./wheels.json" with { type: "json" };

/** A kind of device that programs are compiled for. */
export type XlaDeviceName = "cpu" | "cuda";

/** The variable that names a plugin of one's own. */
const VARIABLE = "BELLMAN_XLA_PLUGIN";
/** The library in an installed folder. */
const PLUGIN_FILE = "pjrt_plugin.so";

/** The task that installs. */
const INSTALL_XLA: InstallTask = {
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
    const path = resolve(xlaFolder(device), PLUGIN_FILE);
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
  const asked = neededVariable(VARIABLE);
  if (asked === undefined) {
    return installedPlugin(device) ?? failToFind(device);
  }
  // A bare name would be looked for in the system's folders.
  const path = resolve(asked);
  if (isFile(path)) return path;
  throw new RangeError(
    `Cannot find the XLA plugin '${path}' that ${VARIABLE} names`,
  );
}

function failToFind(device: XlaDeviceName): never {
  const command = installCommand(INSTALL_XLA);
  const flags = device === "cuda" ? " --cuda" : "";
  throw new RangeError(
    `Cannot find an XLA plugin for ${device}: run '${command}${flags}', or set ${VARIABLE} to one`,
  );
}

/**
 * Tells whether there is a plugin, so that programs can be compiled.
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

/** Returns a package that has one plugin. */
function pluginPackage(
  of: Pick<PinnedPackage, "name" | "version" | "licence" | "wheels">,
  entry: string,
): PinnedPackage {
  return {
    ...of,
    isNative: true,
    place: (it) => it === entry ? PLUGIN_FILE : undefined,
    files: [PLUGIN_FILE],
    what: "plugin",
    at: PLUGIN_FILE,
    variable: VARIABLE,
  };
}

/** Of PyPI's plugins for CPUs the newest, with its licences. */
export const CPU_PLUGIN: PinnedPackage = pluginPackage({
  name: "lammps-jax-pjrt-cpu",
  version: "0.11.2",
  licence:
    "XLA for CPUs as of jaxlib 0.11.2, Apache License 2.0; one release, published by one person",
  wheels: wheels["lammps-jax-pjrt-cpu"],
}, "lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so");

/** The plugin of XLA's authors, for machines that the other one does not fit. */
export const OFFICIAL_CPU_PLUGIN: PinnedPackage = pluginPackage({
  name: "xla-cpu-pjrt",
  version: "0.0.1",
  licence:
    "XLA for CPUs by the OpenXLA authors, of November 2025; the package states no licence, XLA has the Apache License 2.0",
  wheels: wheels["xla-cpu-pjrt"],
}, "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so");

/**
 * Returns the installation that `install-xla` sets up on a platform.
 *
 * @param on The platform, such as `linux-aarch64`.
 */
export function cpuInstallation(on: string = platform()): Installation {
  const isFit = wheelFor(CPU_PLUGIN, on) !== undefined;
  return {
    title: "XLA",
    task: INSTALL_XLA.task,
    dir: () => xlaFolder("cpu"),
    packages: [isFit ? CPU_PLUGIN : OFFICIAL_CPU_PLUGIN],
    notice: ["Licences that come with it are kept beside it."],
  };
}
