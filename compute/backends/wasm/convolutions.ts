import * as tf from "@tensorflow/tfjs";
import { callKernel, floatsOf, type WasmKernel } from "./kernel.ts";

type Conv2DInfo = tf.backend_util.Conv2DInfo;
type Shape4D = [number, number, number, number];

/**
 * Lays the patches of an image batch out as columns, transposed: row
 * `(kh, kw, c)` holds that input of every output pixel `(n, oh, ow)`, 0 where
 * the patch lies outside the image.
 */
function imageToRows(
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

/** Computes the gradient of a convolution's filter, by one product. */
export const conv2DBackpropFilter: WasmKernel = (
  { inputs, backend, attrs },
) => {
  const { x, dy } = inputs;
  checkDataFormat(attrs.dataFormat);
  const filterShape = attrs.filterShape as Shape4D;
  const info = tf.backend_util.computeConv2DInfo(
    x.shape as Shape4D,
    filterShape,
    attrs.strides as [number, number],
    1,
    attrs.pad as "same" | "valid",
    attrs.dimRoundingMode as undefined,
  );
  const inputsPerPixel = filterShape[0] * filterShape[1] * filterShape[2];
  const pixels = info.batchSize * info.outHeight * info.outWidth;
  const rows = backend.makeOutput([1, inputsPerPixel, pixels], "float32");
  imageToRows(floatsOf(backend, x), floatsOf(backend, rows), info);
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

/** Works out what `same` adds to each side of the image. */
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

/**
 * Makes convolutions with `same` padding right where the stride is longer than
 * the filter: there, the stock kernels return zeros.
 */
export const samePadding = (stock: WasmKernel): WasmKernel => (call) => {
  const { inputs: { x, filter }, attrs } = call;
  const wrong = attrs.pad === "same" &&
    stridesPastFilter(filter, attrs.strides as [number, number]);
  if (!wrong) return stock(call);
  const pad = explicitPadding(x, filter, attrs);
  return stock({ ...call, attrs: { ...attrs, pad } });
};

/**
 * Finds the largest number of a window in the flat image, the first of equal
 * ones; -1 for a window without numbers.
 */
function largestOfWindow(
  image: Float32Array,
  info: Conv2DInfo,
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
  info: Conv2DInfo,
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
 * Computes the gradient of max pooling. The stock kernel is wrong as soon as
 * there is more than one channel, or padding.
 */
export const maxPoolGrad: WasmKernel = ({ inputs, backend, attrs }) => {
  const { dy, input } = inputs;
  const info = tf.backend_util.computePool2DInfo(
    input.shape as Shape4D,
    attrs.filterSize as [number, number],
    attrs.strides as [number, number],
    1,
    attrs.pad as "same" | "valid",
    attrs.dimRoundingMode as undefined,
  );
  const out = backend.makeOutput(input.shape, "float32");
  scatter({
    image: floatsOf(backend, input),
    dy: floatsOf(backend, dy),
    dx: floatsOf(backend, out).fill(0),
  }, info);
  return out;
};
