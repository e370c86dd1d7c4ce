import * as tf from "@tensorflow/tfjs";
import { callKernel, heapView, registerWasmKernel } from "./_kernel.ts";
import type { WasmKernel } from "./_kernel.ts";

type Conv2DInfo = tf.backend_util.Conv2DInfo;

/**
 * Lays the patches of an image batch out as columns, transposed: row
 * `(kh, kw, c)` holds that input of every output pixel `(n, oh, ow)`, 0 where
 * the patch lies outside of the image.
 */
export function imageToRows(
  image: Float32Array,
  rows: Float32Array,
  info: Conv2DInfo,
): void {
  const { batchSize, inHeight, inWidth, inChannels } = info;
  const { outHeight, outWidth, strideHeight, strideWidth } = info;
  const { filterHeight, filterWidth, dilationHeight, dilationWidth } = info;
  const { top, left } = info.padInfo;
  let at = 0;
  for (let kh = 0; kh < filterHeight; kh++) {
    for (let kw = 0; kw < filterWidth; kw++) {
      const firstX = kw * dilationWidth - left;
      for (let c = 0; c < inChannels; c++) {
        for (let n = 0; n < batchSize; n++) {
          for (let oh = 0; oh < outHeight; oh++) {
            const y = oh * strideHeight + kh * dilationHeight - top;
            if (y < 0 || y >= inHeight) {
              rows.fill(0, at, at + outWidth);
              at += outWidth;
              continue;
            }
            const line = (n * inHeight + y) * inWidth;
            for (let ow = 0; ow < outWidth; ow++) {
              const x = ow * strideWidth + firstX;
              rows[at++] = x < 0 || x >= inWidth
                ? 0
                : image[(line + x) * inChannels + c];
            }
          }
        }
      }
    }
  }
}

function checkDataFormat(dataFormat: unknown): void {
  if (dataFormat === undefined || dataFormat === "NHWC") return;
  throw new TypeError(
    `Cannot compute the filter gradient of data in ${dataFormat} on wasm: expected NHWC`,
  );
}

/** The gradient of a convolution with respect to its filter, by one product. */
const conv2DBackpropFilter: WasmKernel = ({ inputs, backend, attrs }) => {
  const { x, dy } = inputs;
  checkDataFormat(attrs.dataFormat);
  const filterShape = attrs.filterShape as [number, number, number, number];
  const info = tf.backend_util.computeConv2DInfo(
    x.shape as [number, number, number, number],
    filterShape,
    attrs.strides as [number, number],
    1,
    attrs.pad as "same" | "valid",
    attrs.dimRoundingMode as undefined,
  );
  const inputsPerPixel = filterShape[0] * filterShape[1] * filterShape[2];
  const pixels = info.batchSize * info.outHeight * info.outWidth;
  const rows = backend.makeOutput([1, inputsPerPixel, pixels], "float32");
  imageToRows(heapView(backend, x), heapView(backend, rows), info);
  const gradient = callKernel("BatchMatMul", {
    inputs: {
      a: rows,
      b: { ...dy, shape: [1, pixels, info.outChannels] },
    },
    backend,
    attrs: { transposeA: false, transposeB: false },
  });
  backend.disposeData(rows.dataId);
  return { ...gradient, shape: filterShape };
};

/** Registers the kernel, which the stock wasm backend does not have. */
export function registerConv2DBackpropFilter(): void {
  registerWasmKernel("Conv2DBackpropFilter", { kernel: conv2DBackpropFilter });
}
