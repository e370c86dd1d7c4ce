import { InstallError, type PinnedPackage } from "@bellman/files/install";
import { PLUGIN_VARIABLE } from "./installed.ts";
import wheels from "./wheels.json" with { type: "json" };

/** Places of libraries, of `libdevice` and of the programs that XLA runs. */
const PARTS =
  /^nvidia\/[^/]+\/(lib\/[^/]+\.so[.\d]*|nvvm\/libdevice\/[^/]+\.bc|bin\/(ptxas|nvlink|fatbinary))$/;

/** Returns a package of CUDA's libraries. */
function library(
  name: keyof typeof wheels,
  version: string,
  file: string,
): PinnedPackage {
  return {
    name,
    version,
    licence: "a library of CUDA, under NVIDIA's licence",
    wheels: wheels[name],
    isNative: true,
    place: (entry) => PARTS.test(entry) ? entry : undefined,
    files: [`nvidia/${file}`],
    what: "library",
    variable: PLUGIN_VARIABLE,
  };
}

/** CUDA's libraries that the wheels of `jax-cuda13-plugin` name. */
export const CUDA_LIBRARIES: readonly PinnedPackage[] = [
  library("nvidia-cublas", "13.10.0.20", "cu13/lib/libcublas.so.13"),
  library("nvidia-cuda-cupti", "13.5.25", "cu13/lib/libcupti.so.13"),
  library("nvidia-cuda-nvcc", "13.5.37", "cu13/bin/ptxas"),
  library("nvidia-cuda-nvrtc", "13.5.37", "cu13/lib/libnvrtc.so.13"),
  library("nvidia-cuda-runtime", "13.5.37", "cu13/lib/libcudart.so.13"),
  library("nvidia-cudnn-cu13", "9.28.1.4", "cudnn/lib/libcudnn.so.9"),
  library("nvidia-cufft", "12.5.0.14", "cu13/lib/libcufft.so.12"),
  library("nvidia-cusolver", "12.4.1.2", "cu13/lib/libcusolver.so.12"),
  library("nvidia-cusparse", "12.9.4.2", "cu13/lib/libcusparse.so.12"),
  library("nvidia-nccl-cu13", "2.32.3", "nccl/lib/libnccl.so.2"),
  library("nvidia-nvjitlink", "13.5.37", "cu13/lib/libnvJitLink.so.13"),
  library("nvidia-nvshmem-cu13", "3.8.0", "nvshmem/lib/libnvshmem_host.so.3"),
  library("nvidia-nvvm", "13.5.37", "cu13/nvvm/libdevice/libdevice.10.bc"),
];

/** Devices that drivers of NVIDIA make, on Linux and below Windows. */
const DRIVER_FILES = ["/dev/nvidiactl", "/dev/nvidia0", "/dev/dxg"];

/**
 * Checks that the machine has a GPU of NVIDIA.
 *
 * @throws {InstallError} If it has none.
 */
export function checkGpu(files: readonly string[] = DRIVER_FILES): void {
  const isThere = files.some((it) => {
    try {
      return Deno.statSync(it) !== undefined;
    } catch {
      return false;
    }
  });
  if (isThere) return;
  throw new InstallError(
    "found no GPU of NVIDIA on this machine: --without-gpu installs all the same",
  );
}
