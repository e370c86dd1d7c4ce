import * as tf from "@tensorflow/tfjs";
import { type Attributes, sizeOf, type Value } from "../graph/graph.ts";
import {
  cast,
  type Kernels,
  type Lowering,
  type PrimitiveKernel,
} from "./kernel.ts";
import {
  checkFits,
  type ConvInfo,
  convTranspose,
  cutWindows,
  padsOf,
  permute,
  TO_NCHW,
  TO_NHWC,
} from "./windows.ts";

type Shape4D = [number, number, number, number];

/** Lengths and steps; TensorFlow.js leaves out of gradients how it rounded. */
function poolInfo(x: Value, attributes: Attributes, dy?: Value): ConvInfo {
  const { filterSize, strides, pad, dimRoundingMode } = attributes as {
    filterSize: number | [number, number];
    strides: number | [number, number];
    pad: "valid" | "same" | number;
    dimRoundingMode?: "floor" | "round" | "ceil";
  };
  const info = tf.backend_util.computePool2DInfo(
    x.shape as Shape4D,
    filterSize,
    strides,
    1,
    pad,
    dimRoundingMode,
  );
  if (dy !== undefined) [info.outHeight, info.outWidth] = dy.shape.slice(1, 3);
  return checkFits(info);
}

/** Windows as ONNX has them; each is to see a part of the image. */
function windows(info: ConvInfo) {
  const kernel_shape = [info.filterHeight, info.filterWidth];
  const strides = [info.strideHeight, info.strideWidth];
  const pads = padsOf(info);
  if (pads.some((it, i) => it >= kernel_shape[i % 2])) {
    throw new RangeError(
      `Cannot lower pooling with padding of [${pads}] and windows of [${kernel_shape}]: expected less padding than windows`,
    );
  }
  return { kernel_shape, strides, pads };
}

function pool(op: string): PrimitiveKernel {
  return {
    inputs: ["x"],
    infer: ([x], attributes) => ({
      shape: poolInfo(x, attributes).outShape,
      dtype: x.dtype,
    }),
    lower: (lowering) => {
      const { model, inputs: [x], node } = lowering;
      const [input] = node.inputs;
      const isFloat = input.dtype === "float32";
      const info = poolInfo(input, node.attributes);
      const numbers = isFloat ? x : cast(model, x, "float32");
      const images = permute(lowering, numbers, TO_NCHW);
      const made = model.op(op, [images], windows(info));
      const cut = cutWindows(lowering, made, info);
      const pooled = permute(lowering, cut, TO_NHWC);
      return isFloat ? pooled : cast(model, pooled, input.dtype);
    },
  };
}

/** The gradient goes to the first largest number of each window. */
const MAX_POOL_GRADIENT: PrimitiveKernel = {
  inputs: ["dy", "input"],
  infer: ([, input]) => ({ shape: input.shape, dtype: input.dtype }),
  lower: (lowering) => {
    const { model, inputs, node } = lowering;
    const [dy, input] = node.inputs;
    const info = poolInfo(input, node.attributes, dy);
    const images = permute(lowering, inputs[1], TO_NCHW);
    const [, at] = model.ops("MaxPool", [images], {
      attributes: windows(info),
      count: 2,
    });
    const flat = (x: string) =>
      model.op("Reshape", [x, model.ints([sizeOf(dy.shape)])]);
    const scattered = model.op("ScatterElements", [
      zeros(lowering, [sizeOf(input.shape)]),
      flat(cutWindows(lowering, at, info)),
      flat(permute(lowering, inputs[0], TO_NCHW)),
    ], { axis: 0, reduction: "add" });
    const [batch, height, width, channels] = input.shape;
    const shaped = model.op("Reshape", [
      scattered,
      model.ints([batch, channels, height, width]),
    ]);
    return permute(lowering, shaped, TO_NHWC);
  },
};

function zeros({ model }: Lowering, shape: number[]): string {
  return model.op("Expand", [model.scalar(0), model.ints(shape)]);
}

/**
 * Each number of the gradient is spread over its window, in equal shares of
 * the whole window, as TensorFlow.js has it.
 */
const AVG_POOL_GRADIENT: PrimitiveKernel = {
  inputs: ["dy", "input"],
  infer: ([, input]) => ({ shape: input.shape, dtype: input.dtype }),
  lower: (lowering) => {
    const { model, inputs, node } = lowering;
    const [dy, input] = node.inputs;
    const info = poolInfo(input, node.attributes, dy);
    const { filterHeight, filterWidth, inChannels } = info;
    const area = filterHeight * filterWidth;
    const filter = model.tensor(
      new Float32Array(inChannels * area).fill(1 / area),
      { shape: [inChannels, 1, filterHeight, filterWidth], dtype: "float32" },
    );
    const made = convTranspose(lowering, [
      permute(lowering, inputs[0], TO_NCHW),
      filter,
    ], { info, group: inChannels });
    return permute(lowering, made, TO_NHWC);
  },
};

/** Pooling over images, and its gradients. */
export const POOLING: Kernels = {
  MaxPool: pool("MaxPool"),
  MaxPoolGrad: MAX_POOL_GRADIENT,
  AvgPool: pool("AveragePool"),
  AvgPoolGrad: AVG_POOL_GRADIENT,
};
