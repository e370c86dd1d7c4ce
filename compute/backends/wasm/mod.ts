import * as tf from "@tensorflow/tfjs";
import { registerConvolutions } from "./convolutions.ts";
import { registerElementwise } from "./elementwise.ts";
import { WASM } from "./kernel.ts";
import { registerSums } from "./sums.ts";

/** Stock kernels that return wrong numbers, and that no network here needs. */
const BROKEN_KERNELS = [
  "Conv3DBackpropInputV2",
  "Dilation2D",
  "Dilation2DBackpropFilter",
  "Dilation2DBackpropInput",
] as const;

/**
 * Takes broken kernels away, so that a caller gets an error that names the
 * kernel in place of wrong numbers.
 */
function removeBrokenKernels(): void {
  for (const name of BROKEN_KERNELS) {
    if (tf.getKernel(name, WASM)) tf.unregisterKernel(name, WASM);
  }
}

let registered = false;

/**
 * Completes and mends the kernels of the wasm backend, once. It must come before
 * the backend is initialised, which sets the kernels up.
 */
export function registerWasmKernels(): void {
  if (registered) return;
  registerElementwise();
  registerSums();
  registerConvolutions();
  removeBrokenKernels();
  registered = true;
}
