import * as tf from "@tensorflow/tfjs";
import { WASM } from "./_kernel.ts";

/** Stock kernels that return wrong numbers, and that no network here needs. */
const WRONG = [
  "Conv3DBackpropInputV2",
  "Dilation2D",
  "Dilation2DBackpropFilter",
  "Dilation2DBackpropInput",
] as const;

/**
 * Takes away stock kernels that are wrong, so that whoever uses one gets an
 * error that names it in place of wrong numbers.
 */
export function withdrawWrongKernels(): void {
  for (const name of WRONG) {
    if (tf.getKernel(name, WASM)) tf.unregisterKernel(name, WASM);
  }
}
