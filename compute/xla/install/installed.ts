import type { Installation, PinnedPackage } from "@bellman/files/install";
import { findInstalled, installCommand } from "@bellman/files/installed";
import wheels from "./wheels.json" with { type: "json" };

/** A kind of device that programs are compiled for. */
export type XlaDeviceName = "cpu" | "cuda";

/** Variable that names a custom plugin. */
const VARIABLE = "BELLMAN_XLA_PLUGIN";

/** Returns a package with one plugin, which is the file `at` then. */
function pluginPackage(
  name: keyof typeof wheels,
  { entry, at = entry, ...of }: Pick<PinnedPackage, "version" | "licence"> & {
    entry: string;
    at?: string;
  },
): PinnedPackage {
  return {
    ...of,
    name,
    wheels: wheels[name],
    isNative: true,
    place: (it) => it === entry ? at : undefined,
    files: [at],
    what: "plugin",
    at,
    variable: VARIABLE,
  };
}

/** Plugin in the installed folder for CPUs. */
const CPU_FILE = "pjrt_plugin.so";

/** Of PyPI's plugins for CPUs the newest, with its licences. */
export const CPU_PLUGIN: PinnedPackage = pluginPackage("lammps-jax-pjrt-cpu", {
  version: "0.11.2",
  licence:
    "XLA for CPUs as of jaxlib 0.11.2, Apache License 2.0; one release, published by one person",
  entry: "lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so",
  at: CPU_FILE,
});

/** The plugin of XLA's authors, for machines that the other one does not fit. */
export const OFFICIAL_CPU_PLUGIN: PinnedPackage = pluginPackage(
  "xla-cpu-pjrt",
  {
    version: "0.0.1",
    licence:
      "XLA for CPUs by the OpenXLA authors, of November 2025; the package states no licence, XLA has the Apache License 2.0",
    entry: "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so",
    at: CPU_FILE,
  },
);

/** The plugin of JAX's authors for GPUs of NVIDIA, which looks around itself. */
export const CUDA_PLUGIN: PinnedPackage = pluginPackage("jax-cuda13-pjrt", {
  version: "0.12.0.1",
  licence: "XLA for GPUs of NVIDIA by the JAX team, Apache License 2.0",
  entry: "jax_plugins/xla_cuda13/xla_cuda_plugin.so",
});

/** Places of libraries, of `libdevice` and of the programs that XLA runs. */
const PARTS =
  /^nvidia\/[^/]+\/(lib\/[^/]+\.so[.\d]*|nvvm\/libdevice\/[^/]+\.bc|bin\/(ptxas|nvlink|fatbinary))$/;

/** CUDA's libraries that the wheels of `jax-cuda13-plugin` name: version and a file. */
const LIBRARIES = {
  "nvidia-cublas": ["13.10.0.20", "cu13/lib/libcublas.so.13"],
  "nvidia-cuda-cupti": ["13.5.25", "cu13/lib/libcupti.so.13"],
  "nvidia-cuda-nvcc": ["13.5.37", "cu13/bin/ptxas"],
  "nvidia-cuda-nvrtc": ["13.5.37", "cu13/lib/libnvrtc.so.13"],
  "nvidia-cuda-runtime": ["13.5.37", "cu13/lib/libcudart.so.13"],
  "nvidia-cudnn-cu13": ["9.28.1.4", "cudnn/lib/libcudnn.so.9"],
  "nvidia-cufft": ["12.5.0.14", "cu13/lib/libcufft.so.12"],
  "nvidia-cusolver": ["12.4.1.2", "cu13/lib/libcusolver.so.12"],
  "nvidia-cusparse": ["12.9.4.2", "cu13/lib/libcusparse.so.12"],
  "nvidia-nccl-cu13": ["2.32.3", "nccl/lib/libnccl.so.2"],
  "nvidia-nvjitlink": ["13.5.37", "cu13/lib/libnvJitLink.so.13"],
  "nvidia-nvshmem-cu13": ["3.8.0", "nvshmem/lib/libnvshmem_host.so.3"],
  "nvidia-nvvm": ["13.5.37", "cu13/nvvm/libdevice/libdevice.10.bc"],
} as const;

/** Packages of these libraries. */
export const CUDA_LIBRARIES: readonly PinnedPackage[] = Object
  .entries(LIBRARIES).map(([name, [version, file]]) => ({
    name,
    version,
    licence: "a library of CUDA, under NVIDIA's licence",
    wheels: wheels[name as keyof typeof LIBRARIES],
    isNative: true,
    place: (entry) => PARTS.test(entry) ? entry : undefined,
    files: [`nvidia/${file}`],
    what: "library",
    variable: VARIABLE,
  }));

/** Devices that drivers of NVIDIA make, on Linux and below Windows. */
const DRIVER_FILES = ["/dev/nvidiactl", "/dev/nvidia0", "/dev/dxg"];

/** True where one of some files is there, by default those of a GPU of NVIDIA. */
export function hasGpu(files: readonly string[] = DRIVER_FILES): boolean {
  return files.some((it) => {
    try {
      return Deno.statSync(it) !== undefined;
    } catch {
      return false;
    }
  });
}

/** The installation for CPUs, and with `--cuda` for GPUs of NVIDIA. */
export const XLA_INSTALLATION: Installation = {
  title: "XLA",
  task: "install-xla",
  module: "@bellman/compute/xla/install",
  folder: "xla/cpu",
  packages: [CPU_PLUGIN, OFFICIAL_CPU_PLUGIN],
  notice: "Licences that come with it are kept beside it.",
  own: {
    flags: ["cuda", "without-gpu"],
    usage: "[--cuda [--without-gpu]]",
    choose({ cuda, "without-gpu": withoutGpu }) {
      if (!cuda) {
        return withoutGpu ? "--without-gpu is for --cuda alone" : undefined;
      }
      if (!withoutGpu && !hasGpu()) {
        return "found no GPU of NVIDIA on this machine: --without-gpu installs all the same";
      }
      const packages = [CUDA_PLUGIN, ...CUDA_LIBRARIES];
      return { ...XLA_INSTALLATION, folder: "xla/cuda", packages };
    },
  },
};

/**
 * Finds the plugin that `BELLMAN_XLA_PLUGIN` names, or else the installed one.
 *
 * @param device Kind of device that it is for.
 * @returns Its absolute path.
 * @throws {RangeError} If there is none.
 * @throws {Deno.errors.NotCapable} If it is not permitted to look.
 */
export function findPlugin(device: XlaDeviceName): string {
  const { at } = device === "cpu" ? CPU_PLUGIN : CUDA_PLUGIN;
  const found = findInstalled("XLA plugin", VARIABLE, `xla/${device}/${at}`);
  if (found !== undefined) return found;
  const command = installCommand(XLA_INSTALLATION);
  const flags = device === "cuda" ? " --cuda" : "";
  throw new RangeError(
    `Cannot find an XLA plugin for ${device}: run '${command}${flags}', or set ${VARIABLE} to one`,
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
