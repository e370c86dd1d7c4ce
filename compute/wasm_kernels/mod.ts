import { registerBatchMatMul } from "./batch_mat_mul.ts";
import { registerConv2DBackpropFilter } from "./conv2d_backprop_filter.ts";
import { registerOneHot } from "./one_hot.ts";
import { registerTanh } from "./tanh.ts";

let registered = false;

/**
 * Completes the kernels of the wasm backend, once. It must come before the
 * backend is initialised, which sets the kernels up.
 */
export function registerWasmKernels(): void {
  if (registered) return;
  registerBatchMatMul();
  registerConv2DBackpropFilter();
  registerOneHot();
  registerTanh();
  registered = true;
}
