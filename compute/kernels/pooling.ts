import { sizeOf } from "../graph/graph.ts";
import type { Kernels, PrimitiveKernel } from "./kernel.ts";
import {
  type ConvInfo,
  convTranspose,
  cutWindows,
  padsOf,
  type PoolAttributes,
  poolInfo,
  stridesOf,
  TO_NCHW,
  TO_NHWC,
} from "./windows.ts";

/** Returns windows as ONNX has them; each is to see a part of the image. */
function windows(info: ConvInfo) {
  const kernel_shape = [info.filterHeight, info.filterWidth];
  const pads = padsOf(info);
  if (pads.some((it, i) => it >= kernel_shape[i % 2])) {
    throw new RangeError(
      `Cannot lower pooling with padding of [${pads}] and windows of [${kernel_shape}]: expected less padding than windows`,
    );
  }
  return { kernel_shape, strides: stridesOf(info), pads };
}

function pool(op: string): PrimitiveKernel<PoolAttributes> {
  return {
    inputs: ["x"],
    infer: ([{ shape, dtype }], attributes) => ({
      shape: poolInfo(shape, attributes).outShape,
      dtype,
    }),
    lower: ({ model, inputs: [x], node }) => {
      const [{ shape, dtype }] = node.inputs;
      const info = poolInfo(shape, node.attributes);
      const numbers = dtype === "float32" ? x : model.cast(x, "float32");
      const images = model.transpose(numbers, TO_NCHW);
      const made = model.op(op, [images], windows(info));
      const pooled = model.transpose(cutWindows(model, made, info), TO_NHWC);
      return dtype === "float32" ? pooled : model.cast(pooled, dtype);
    },
  };
}

/** The gradient goes to the first largest number of each window. */
const MAX_POOL_GRADIENT: PrimitiveKernel<PoolAttributes> = {
  inputs: ["dy", "input"],
  infer: ([, input]) => input,
  lower: ({ model, inputs, node }) => {
    const [dy, input] = node.inputs.map(({ shape }) => shape);
    const info = poolInfo(input, node.attributes, dy);
    const images = model.transpose(inputs[1], TO_NCHW);
    const [, at] = model.ops("MaxPool", [images], {
      attributes: windows(info),
      count: 2,
    });
    const flat = (x: string) => model.reshape(x, [sizeOf(dy)]);
    const zeros = [model.scalar(0), model.ints([sizeOf(input)])];
    const scattered = model.op("ScatterElements", [
      model.op("Expand", zeros),
      flat(cutWindows(model, at, info)),
      flat(model.transpose(inputs[0], TO_NCHW)),
    ], { axis: 0, reduction: "add" });
    const [batch, height, width, channels] = input;
    const shaped = model.reshape(scattered, [batch, channels, height, width]);
    return model.transpose(shaped, TO_NHWC);
  },
};

/**
 * Each number of the gradient is spread over its window, in equal shares of
 * the whole window, as TensorFlow.js has it.
 */
const AVG_POOL_GRADIENT: PrimitiveKernel<PoolAttributes> = {
  inputs: ["dy", "input"],
  infer: ([, input]) => input,
  lower: ({ model, inputs, node }) => {
    const [dy, input] = node.inputs.map(({ shape }) => shape);
    const info = poolInfo(input, node.attributes, dy);
    const { filterHeight, filterWidth, inChannels } = info;
    const area = filterHeight * filterWidth;
    const filter = model.tensor(
      new Float32Array(inChannels * area).fill(1 / area),
      { shape: [inChannels, 1, filterHeight, filterWidth], dtype: "float32" },
    );
    const images = model.transpose(inputs[0], TO_NCHW);
    const made = convTranspose(model, [images, filter], {
      info,
      group: inChannels,
    });
    return model.transpose(made, TO_NHWC);
  },
};

/** Pooling over images, and its gradients. */
export const POOLING: Kernels = {
  MaxPool: pool("MaxPool"),
  MaxPoolGrad: MAX_POOL_GRADIENT,
  AvgPool: pool("AveragePool"),
  AvgPoolGrad: AVG_POOL_GRADIENT,
};
