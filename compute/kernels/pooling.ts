import * as tf from "@tensorflow/tfjs";
import { type Attributes, sizeOf, type Value } from "../graph/graph.ts";
import {
  type ConvInfo,
  padsOf,
  permute,
  TO_NCHW,
  TO_NHWC,
} from "./convolution.ts";
import type { Kernels, Lowering, PrimitiveKernel } from "./kernel.ts";

type Shape4D = [number, number, number, number];

function poolInfo(x: Value, attributes: Attributes): ConvInfo {
  const { filterSize, strides, pad, dimRoundingMode } = attributes as {
    filterSize: number | [number, number];
    strides: number | [number, number];
    pad: "valid" | "same" | number;
    dimRoundingMode?: "floor" | "round" | "ceil";
  };
  return tf.backend_util.computePool2DInfo(
    x.shape as Shape4D,
    filterSize,
    strides,
    1,
    pad,
    dimRoundingMode,
  );
}

function windows(info: ConvInfo) {
  return {
    kernel_shape: [info.filterHeight, info.filterWidth],
    strides: [info.strideHeight, info.strideWidth],
    pads: padsOf(info),
  };
}

function pool(op: string): PrimitiveKernel {
  return {
    inputs: ["x"],
    infer: ([x], attributes) => ({
      shape: poolInfo(x, attributes).outShape,
      dtype: x.dtype,
    }),
    lower: (lowering) => {
      const { model, inputs, node } = lowering;
      const info = poolInfo(node.inputs[0], node.attributes);
      const images = permute(lowering, inputs[0], TO_NCHW);
      const made = model.op(op, [images], windows(info));
      return permute(lowering, made, TO_NHWC);
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
    const info = poolInfo(input, node.attributes);
    const images = permute(lowering, inputs[1], TO_NCHW);
    const [, at] = model.ops("MaxPool", [images], {
      attributes: windows(info),
      count: 2,
    });
    const flat = (x: string) =>
      model.op("Reshape", [x, model.ints([sizeOf(dy.shape)])]);
    const scattered = model.op("ScatterElements", [
      zeros(lowering, [sizeOf(input.shape)]),
      flat(at),
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
    const input = node.inputs[1];
    const info = poolInfo(input, node.attributes);
    const { filterHeight, filterWidth, inChannels } = info;
    const area = filterHeight * filterWidth;
    const filter = model.tensor(
      new Float32Array(inChannels * area).fill(1 / area),
      { shape: [inChannels, 1, filterHeight, filterWidth], dtype: "float32" },
    );
    const { strides, pads } = windows(info);
    const { top, bottom, left, right } = info.padInfo;
    const made = model.op("ConvTranspose", [
      permute(lowering, inputs[0], TO_NCHW),
      filter,
    ], {
      strides,
      pads,
      group: inChannels,
      output_padding: [
        info.inHeight - (info.outHeight - 1) * info.strideHeight -
        filterHeight + top + bottom,
        info.inWidth - (info.outWidth - 1) * info.strideWidth - filterWidth +
        left + right,
      ],
    });
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
