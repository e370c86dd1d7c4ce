import * as tf from "@tensorflow/tfjs";
import { heapView, registerWasmKernel } from "./_kernel.ts";
import type { WasmKernel } from "./_kernel.ts";

type PoolInfo = tf.backend_util.Conv2DInfo;

/**
 * Where the largest number of a window lies in the flat image, the first of
 * equal ones; -1 for a window without numbers.
 */
function largestOfWindow(
  image: Float32Array,
  info: PoolInfo,
  at: { batch: number; channel: number; top: number; left: number },
): number {
  const { inHeight, inWidth, inChannels, filterHeight, filterWidth } = info;
  let largest = -1;
  const endY = Math.min(inHeight, at.top + filterHeight);
  const endX = Math.min(inWidth, at.left + filterWidth);
  for (let y = Math.max(0, at.top); y < endY; y++) {
    const line = (at.batch * inHeight + y) * inWidth;
    for (let x = Math.max(0, at.left); x < endX; x++) {
      const i = (line + x) * inChannels + at.channel;
      if (largest < 0 || image[i] > image[largest]) largest = i;
    }
  }
  return largest;
}

/** Adds the gradient of each output to the input that was the largest. */
function scatter(
  { image, dy, dx }: Record<"image" | "dy" | "dx", Float32Array>,
  info: PoolInfo,
): void {
  const { batchSize, outHeight, outWidth, inChannels } = info;
  const { strideHeight, strideWidth, padInfo } = info;
  let output = 0;
  for (let batch = 0; batch < batchSize; batch++) {
    for (let row = 0; row < outHeight; row++) {
      const top = row * strideHeight - padInfo.top;
      for (let column = 0; column < outWidth; column++) {
        const left = column * strideWidth - padInfo.left;
        for (let channel = 0; channel < inChannels; channel++) {
          const at = { batch, channel, top, left };
          const largest = largestOfWindow(image, info, at);
          if (largest >= 0) dx[largest] += dy[output];
          output++;
        }
      }
    }
  }
}

/**
 * The gradient of max pooling. The stock kernel is wrong as soon as there is
 * more than one channel, or padding.
 */
const maxPoolGrad: WasmKernel = ({ inputs, backend, attrs }) => {
  const { dy, input } = inputs;
  const info = tf.backend_util.computePool2DInfo(
    input.shape as [number, number, number, number],
    attrs.filterSize as [number, number],
    attrs.strides as [number, number],
    1,
    attrs.pad as "same" | "valid",
    attrs.dimRoundingMode as undefined,
  );
  const out = backend.makeOutput(input.shape, "float32");
  scatter({
    image: heapView(backend, input),
    dy: heapView(backend, dy),
    dx: heapView(backend, out).fill(0),
  }, info);
  return out;
};

/** Registers the kernel in place of the stock one. */
export function registerMaxPoolGrad(): void {
  registerWasmKernel("MaxPoolGrad", { kernel: maxPoolGrad });
}
