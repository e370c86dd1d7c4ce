import {
  type Installation,
  InstallError,
  type InstallOptions,
  type PinnedPackage,
  platform,
  wheelFor,
} from "@bellman/files/install";
import { checkGpu, CUDA_LIBRARIES } from "./cuda.ts";
import {
  INSTALL_XLA,
  PLUGIN_FILES,
  PLUGIN_VARIABLE,
  xlaFolder,
} from "./installed.ts";
import wheels from "./wheels.json" with { type: "json" };

/** Returns a package that has one plugin. */
function pluginPackage(
  of: Pick<PinnedPackage, "name" | "version" | "licence" | "wheels">,
  entry: string,
  file: string,
): PinnedPackage {
  return {
    ...of,
    isNative: true,
    place: (it) => it === entry ? file : undefined,
    files: [file],
    what: "plugin",
    at: file,
    variable: PLUGIN_VARIABLE,
  };
}

/** Of PyPI's plugins for CPUs the newest, with its licences. */
export const CPU_PLUGIN: PinnedPackage = pluginPackage(
  {
    name: "lammps-jax-pjrt-cpu",
    version: "0.11.2",
    licence:
      "XLA for CPUs as of jaxlib 0.11.2, Apache License 2.0; one release, published by one person",
    wheels: wheels["lammps-jax-pjrt-cpu"],
  },
  "lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so",
  PLUGIN_FILES.cpu,
);

/** The plugin of XLA's authors, for machines that the other one does not fit. */
export const OFFICIAL_CPU_PLUGIN: PinnedPackage = pluginPackage(
  {
    name: "xla-cpu-pjrt",
    version: "0.0.1",
    licence:
      "XLA for CPUs by the OpenXLA authors, of November 2025; the package states no licence, XLA has the Apache License 2.0",
    wheels: wheels["xla-cpu-pjrt"],
  },
  "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so",
  PLUGIN_FILES.cpu,
);

/** The plugin of JAX's authors for GPUs of NVIDIA. */
export const CUDA_PLUGIN: PinnedPackage = pluginPackage(
  {
    name: "jax-cuda13-pjrt",
    version: "0.12.0.1",
    licence: "XLA for GPUs of NVIDIA by the JAX team, Apache License 2.0",
    wheels: wheels["jax-cuda13-pjrt"],
  },
  PLUGIN_FILES.cuda,
  PLUGIN_FILES.cuda,
);

const NOTICE = ["Licences that come with it are kept beside it."];

/**
 * Returns the installation for CPUs.
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
    replaced: [CPU_PLUGIN, OFFICIAL_CPU_PLUGIN],
    notice: NOTICE,
  };
}

/** The installation for GPUs of NVIDIA. */
const CUDA_INSTALLATION: Installation = {
  title: "XLA",
  task: INSTALL_XLA.task,
  dir: () => xlaFolder("cuda"),
  packages: [CUDA_PLUGIN, ...CUDA_LIBRARIES],
  notice: NOTICE,
};

/** Returns the installation that options select. */
function choose(
  { cuda, "without-gpu": withoutGpu }: InstallOptions,
): Installation {
  if (cuda) {
    if (!withoutGpu) checkGpu();
    return CUDA_INSTALLATION;
  }
  if (!withoutGpu) return cpuInstallation();
  throw new InstallError("--without-gpu is for --cuda alone");
}

/** The installation that `install-xla` sets up. */
export const XLA_INSTALLATION: Installation = {
  ...cpuInstallation(),
  own: {
    usage: "[--cuda [--without-gpu]]",
    types: { cuda: { type: "boolean" }, "without-gpu": { type: "boolean" } },
    choose,
  },
};
