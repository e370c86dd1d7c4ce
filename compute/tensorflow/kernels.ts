import util from "node:util";
import type { KernelBackend } from "@tensorflow/tfjs";
import type { TensorFlowBinding } from "./binding.ts";

/** What is used of tfjs-node's file `nodejs_kernel_backend.js`. */
interface BackendModule {
  NodeJSKernelBackend: new (
    binding: TensorFlowBinding,
    packageName: string,
  ) => KernelBackend;
}

/** The kernels call functions that recent versions of `node:util` dropped. */
function restoreUtil(): void {
  const target = util as unknown as Record<string, unknown>;
  target.isNullOrUndefined ??= (value: unknown) =>
    value === null || value === undefined;
  target.isArray ??= Array.isArray;
}

/**
 * Registers tfjs-node's kernels and gives what makes their backend. Only the
 * files of the kernels are loaded: the package's entry wants its addon.
 */
export async function loadKernels(): Promise<
  (binding: TensorFlowBinding) => KernelBackend
> {
  restoreUtil();
  const [{ default: module }] = await Promise.all([
    import("@tensorflow/tfjs-node-gpu/dist/nodejs_kernel_backend.js"),
    import("@tensorflow/tfjs-node-gpu/dist/register_all_kernels.js"),
  ]) as unknown as [{ default: BackendModule }, unknown];
  return (binding) =>
    new module.NodeJSKernelBackend(
      binding,
      binding.isUsingGpuDevice()
        ? "@tensorflow/tfjs-node-gpu"
        : "@tensorflow/tfjs-node",
    );
}
