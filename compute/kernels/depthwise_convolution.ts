import type { Value } from "../graph/graph.ts";
import {
  convInfo,
  convolve,
  convTranspose,
  cutImage,
  dilationsOf,
  fusedConvolution,
  inferFilterGradient,
  inferInputGradient,
  padsOf,
  permute,
  stridesOf,
  TO_NCHW,
  TO_NHWC,
} from "./windows.ts";
import type { Kernels, Lowering, PrimitiveKernel } from "./kernel.ts";

/** Filters `[height, width, in, multiplier]` as ONNX's groups have them. */
function groupedFilter(
  lowering: Lowering,
  name: string,
  filter: Value,
): string {
  const { model } = lowering;
  const [height, width, channels, multiplier] = filter.shape;
  return model.op("Reshape", [
    permute(lowering, name, [2, 3, 0, 1]),
    model.ints([channels * multiplier, 1, height, width]),
  ]);
}

const DEPTHWISE: PrimitiveKernel = {
  inputs: ["x", "filter"],
  infer: ([x, filter], attributes) => ({
    shape: convInfo({
      x: x.shape,
      filter: filter.shape,
      attributes,
      depthwise: true,
    }).outShape,
    dtype: x.dtype,
  }),
  lower: (lowering) => {
    const { inputs, node } = lowering;
    const { attributes } = node;
    const [x, filter] = node.inputs.map(({ shape }) => shape);
    const info = convInfo({ x, filter, attributes, depthwise: true });
    const made = convolve(lowering, [
      permute(lowering, inputs[0], TO_NCHW),
      groupedFilter(lowering, inputs[1], node.inputs[1]),
    ], { info, group: info.inChannels });
    return permute(lowering, made, TO_NHWC);
  },
};

const DEPTHWISE_INPUT_GRADIENT: PrimitiveKernel = {
  inputs: ["dy", "filter"],
  infer: inferInputGradient,
  lower: (lowering) => {
    const { inputs, node } = lowering;
    const { attributes } = node;
    const [dy, filter] = node.inputs;
    const info = convInfo({
      x: attributes.inputShape as number[],
      filter: filter.shape,
      attributes,
      depthwise: true,
      dy: dy.shape,
    });
    const made = convTranspose(lowering, [
      permute(lowering, inputs[0], TO_NCHW),
      groupedFilter(lowering, inputs[1], filter),
    ], { info, group: info.inChannels });
    return permute(lowering, made, TO_NHWC);
  },
};

const DEPTHWISE_FILTER_GRADIENT: PrimitiveKernel = {
  inputs: ["x", "dy"],
  infer: inferFilterGradient,
  lower: (lowering) => {
    const { model, inputs, node } = lowering;
    const { attributes } = node;
    const [x, dy] = node.inputs;
    const filterShape = attributes.filterShape as number[];
    const [height, width, channels, multiplier] = filterShape;
    const info = convInfo({
      x: x.shape,
      filter: filterShape,
      attributes,
      depthwise: true,
      dy: dy.shape,
    });
    const [batch, inHeight, inWidth] = x.shape;
    const images = model.op("Reshape", [
      permute(lowering, inputs[0], [3, 0, 1, 2]),
      model.ints([1, channels * batch, inHeight, inWidth]),
    ]);
    const made = model.op("Conv", [
      images,
      permute(lowering, inputs[1], [3, 0, 1, 2]),
    ], {
      dilations: stridesOf(info),
      strides: dilationsOf(info),
      pads: padsOf(info),
      group: channels,
    });
    const cut = cutImage(lowering, made, [height, width]);
    const apart = model.op("Reshape", [
      cut,
      model.ints([channels, dy.shape[3] / channels, height, width]),
    ]);
    if (multiplier * channels !== dy.shape[3]) {
      throw new RangeError(
        `Cannot lower a depthwise gradient [${dy.shape}] for filters [${filterShape}]`,
      );
    }
    return permute(lowering, apart, [2, 3, 0, 1]);
  },
};

/** Convolutions of each channel with filters of its own. */
export const DEPTHWISE_CONVOLUTION: Kernels = {
  DepthwiseConv2dNative: DEPTHWISE,
  DepthwiseConv2dNativeBackpropInput: DEPTHWISE_INPUT_GRADIENT,
  DepthwiseConv2dNativeBackpropFilter: DEPTHWISE_FILTER_GRADIENT,
  FusedDepthwiseConv2D: fusedConvolution("DepthwiseConv2dNative"),
};
