import { registerBatchMatMul } from "./batch_mat_mul.ts";
import { registerCast } from "./cast.ts";
import { registerClipByValue } from "./clip_by_value.ts";
import { registerConv2DBackpropFilter } from "./conv2d_backprop_filter.ts";
import { registerLog1p } from "./log1p.ts";
import { registerMaxPoolGrad } from "./max_pool_grad.ts";
import { registerOneHot } from "./one_hot.ts";
import { registerSamePadding } from "./same_padding.ts";
import { registerSum } from "./sum.ts";
import { registerTanh } from "./tanh.ts";
import { registerUnsortedSegmentSum } from "./unsorted_segment_sum.ts";
import { withdrawWrongKernels } from "./withdrawn.ts";

let registered = false;

/**
 * Completes and mends the kernels of the wasm backend, once. It must come before the
 * backend is initialised, which sets the kernels up.
 */
export function registerWasmKernels(): void {
  if (registered) return;
  registerBatchMatMul();
  registerCast();
  registerClipByValue();
  registerConv2DBackpropFilter();
  registerLog1p();
  registerMaxPoolGrad();
  registerOneHot();
  registerSamePadding();
  registerSum();
  registerTanh();
  registerUnsortedSegmentSum();
  withdrawWrongKernels();
  registered = true;
}
