import * as tf from "@tensorflow/tfjs";
import { registerWasmKernel, WASM, type WasmKernel } from "./_kernel.ts";

type Kernel = tf.KernelConfig["kernelFunc"];
type Shape4D = [number, number, number, number];

const KERNELS = [
  "Conv2D",
  "FusedConv2D",
  "DepthwiseConv2dNative",
  "FusedDepthwiseConv2D",
] as const;

/** What `same` adds to each side of the image, written out. */
function explicitPadding(
  x: tf.TensorInfo,
  filter: tf.TensorInfo,
  attrs: Record<string, unknown>,
): number[][] {
  const { padInfo: { top, bottom, left, right } } = tf.backend_util
    .computeConv2DInfo(
      x.shape as Shape4D,
      filter.shape as Shape4D,
      attrs.strides as [number, number],
      attrs.dilations as [number, number],
      "same",
    );
  return [[0, 0], [top, bottom], [left, right], [0, 0]];
}

function stridesPastFilter(
  filter: tf.TensorInfo,
  strides: number | [number, number],
): boolean {
  const [vertical, horizontal] = [strides, strides].flat();
  return vertical > filter.shape[0] || horizontal > filter.shape[1];
}

function paddingExplicitly(stock: Kernel): WasmKernel {
  return (call) => {
    const { inputs: { x, filter }, attrs } = call;
    const wrong = attrs.pad === "same" &&
      stridesPastFilter(filter, attrs.strides as [number, number]);
    if (!wrong) return stock(call as never) as tf.TensorInfo;
    const pad = explicitPadding(x, filter, attrs);
    const padded = { ...call, attrs: { ...attrs, pad } };
    return stock(padded as never) as tf.TensorInfo;
  };
}

/**
 * Makes convolutions with `same` padding right where the stride is longer than
 * the filter: there, the stock kernels return zeros.
 */
export function registerSamePadding(): void {
  for (const name of KERNELS) {
    const stock = tf.getKernel(name, WASM);
    registerWasmKernel(name, {
      kernel: paddingExplicitly(stock.kernelFunc),
      setup: stock.setupFunc,
    });
  }
}
