import * as tf from "@tensorflow/tfjs";
import type { Attributes, Value } from "../graph/graph.ts";
import {
  type CompositeKernel,
  type Kernels,
  type Lowering,
  only,
  type PrimitiveKernel,
} from "./kernel.ts";
import { finishFused } from "./mat_mul.ts";

type Shape4D = [number, number, number, number];

/** What TensorFlow.js works out of a convolution's shapes and settings. */
export type ConvInfo = ReturnType<typeof tf.backend_util.computeConv2DInfo>;

interface ConvAttributes {
  readonly strides: number | [number, number];
  readonly pad: "valid" | "same" | number;
  readonly dataFormat?: string;
  readonly dilations?: number | [number, number];
  readonly dimRoundingMode?: "floor" | "round" | "ceil";
}

/** Lengths, padding and steps of a convolution. */
export function convInfo(
  inputShape: readonly number[],
  filterShape: readonly number[],
  { attributes, depthwise = false }: {
    attributes: Attributes;
    depthwise?: boolean;
  },
): ConvInfo {
  const it = attributes as unknown as ConvAttributes;
  if (it.dataFormat !== undefined && it.dataFormat !== "NHWC") {
    throw new TypeError(
      `Cannot trace a convolution of ${it.dataFormat} data: expected NHWC`,
    );
  }
  return tf.backend_util.computeConv2DInfo(
    inputShape as Shape4D,
    filterShape as Shape4D,
    it.strides,
    it.dilations ?? 1,
    it.pad,
    it.dimRoundingMode,
    depthwise,
  );
}

/** Padding as ONNX has it: both starts, then both ends. */
export function padsOf({ padInfo }: Pick<ConvInfo, "padInfo">): number[] {
  const { top, left, bottom, right } = padInfo;
  return [top, left, bottom, right];
}

const stridesOf = (it: ConvInfo) => [it.strideHeight, it.strideWidth];
const dilationsOf = (it: ConvInfo) => [it.dilationHeight, it.dilationWidth];

export const TO_NCHW = [0, 3, 1, 2];
export const TO_NHWC = [0, 2, 3, 1];

/** A transposed tensor. */
export function permute(
  { model }: Lowering,
  x: string,
  perm: number[],
): string {
  return model.op("Transpose", [x], { perm });
}

function infoOf(node: Lowering["node"], depthwise = false): ConvInfo {
  const [x, filter] = node.inputs;
  const { attributes } = node;
  return convInfo(x.shape, filter.shape, { attributes, depthwise });
}

const CONV: PrimitiveKernel = {
  inputs: ["x", "filter"],
  infer: ([x, filter], attributes) => ({
    shape: convInfo(x.shape, filter.shape, { attributes }).outShape,
    dtype: x.dtype,
  }),
  lower: (lowering) => {
    const { model, inputs, node } = lowering;
    const info = infoOf(node);
    const made = model.op("Conv", [
      permute(lowering, inputs[0], TO_NCHW),
      permute(lowering, inputs[1], [3, 2, 0, 1]),
    ], {
      strides: stridesOf(info),
      pads: padsOf(info),
      dilations: dilationsOf(info),
    });
    return permute(lowering, made, TO_NHWC);
  },
};

/** How much a transposed convolution falls short of the input's length. */
function outputPadding(it: ConvInfo): number[] {
  const { top, bottom, left, right } = it.padInfo;
  const height = (it.outHeight - 1) * it.strideHeight +
    it.effectiveFilterHeight - top - bottom;
  const width = (it.outWidth - 1) * it.strideWidth +
    it.effectiveFilterWidth - left - right;
  return [it.inHeight - height, it.inWidth - width];
}

const CONV_INPUT_GRADIENT: PrimitiveKernel = {
  inputs: ["dy", "filter"],
  infer: ([dy], { inputShape }) => ({
    shape: inputShape as number[],
    dtype: dy.dtype,
  }),
  lower: (lowering) => {
    const { model, inputs, node } = lowering;
    const { attributes } = node;
    const inputShape = attributes.inputShape as number[];
    const info = convInfo(inputShape, node.inputs[1].shape, { attributes });
    const made = model.op("ConvTranspose", [
      permute(lowering, inputs[0], TO_NCHW),
      permute(lowering, inputs[1], [3, 2, 0, 1]),
    ], {
      strides: stridesOf(info),
      pads: padsOf(info),
      output_padding: outputPadding(info),
    });
    return permute(lowering, made, TO_NHWC);
  },
};

/**
 * The filter's gradient is a convolution of the input with the gradient of the
 * output as its filter: channels and batch change places, steps become
 * dilations.
 */
const CONV_FILTER_GRADIENT: PrimitiveKernel = {
  inputs: ["x", "dy"],
  infer: ([x], { filterShape }) => ({
    shape: filterShape as number[],
    dtype: x.dtype,
  }),
  lower: (lowering) => {
    const { model, inputs, node } = lowering;
    const { attributes } = node;
    const filterShape = attributes.filterShape as number[];
    const info = convInfo(node.inputs[0].shape, filterShape, { attributes });
    const made = model.op("Conv", [
      permute(lowering, inputs[0], [3, 0, 1, 2]),
      permute(lowering, inputs[1], [3, 0, 1, 2]),
    ], { dilations: stridesOf(info), pads: padsOf(info) });
    const cut = cutFilter(lowering, made, info);
    return permute(lowering, cut, [2, 3, 0, 1]);
  },
};

/** Steps that do not come out even leave places beyond the filter. */
function cutFilter({ model }: Lowering, made: string, info: ConvInfo): string {
  const [extraHeight, extraWidth] = outputPadding(info);
  if (extraHeight === 0 && extraWidth === 0) return made;
  const { filterHeight, filterWidth } = info;
  const cut = [[0, 0], [filterHeight, filterWidth], [2, 3]];
  return model.op("Slice", [made, ...cut.map((it) => model.ints(it))]);
}

const FUSED_CONV: CompositeKernel = {
  inputs: ["x", "filter", "bias", "preluActivationWeights"],
  expand: (record, [x, filter, bias, slopes], attributes) => {
    const of = only(record("Conv2D", [x!, filter!], attributes));
    return finishFused(record, [bias, slopes], { of, attributes });
  },
};

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
    shape: convInfo(x.shape, filter.shape, { attributes, depthwise: true })
      .outShape,
    dtype: x.dtype,
  }),
  lower: (lowering) => {
    const { model, inputs, node } = lowering;
    const info = infoOf(node, true);
    const made = model.op("Conv", [
      permute(lowering, inputs[0], TO_NCHW),
      groupedFilter(lowering, inputs[1], node.inputs[1]),
    ], {
      strides: stridesOf(info),
      pads: padsOf(info),
      dilations: dilationsOf(info),
      group: info.inChannels,
    });
    return permute(lowering, made, TO_NHWC);
  },
};

const DEPTHWISE_INPUT_GRADIENT: PrimitiveKernel = {
  inputs: ["dy", "filter"],
  infer: CONV_INPUT_GRADIENT.infer,
  lower: (lowering) => {
    const { model, inputs, node } = lowering;
    const { attributes } = node;
    const filter = node.inputs[1];
    const inputShape = attributes.inputShape as number[];
    const info = convInfo(inputShape, filter.shape, {
      attributes,
      depthwise: true,
    });
    const made = model.op("ConvTranspose", [
      permute(lowering, inputs[0], TO_NCHW),
      groupedFilter(lowering, inputs[1], filter),
    ], {
      strides: stridesOf(info),
      pads: padsOf(info),
      dilations: dilationsOf(info),
      output_padding: outputPadding(info),
      group: info.inChannels,
    });
    return permute(lowering, made, TO_NHWC);
  },
};

const DEPTHWISE_FILTER_GRADIENT: PrimitiveKernel = {
  inputs: ["x", "dy"],
  infer: CONV_FILTER_GRADIENT.infer,
  lower: (lowering) => {
    const { model, inputs, node } = lowering;
    const { attributes } = node;
    const [x, dy] = node.inputs;
    const filterShape = attributes.filterShape as number[];
    const [height, width, channels, multiplier] = filterShape;
    const info = convInfo(x.shape, filterShape, {
      attributes,
      depthwise: true,
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
    const cut = model.op("Slice", [
      made,
      ...[[0, 0], [height, width], [2, 3]].map((it) => model.ints(it)),
    ]);
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

const FUSED_DEPTHWISE: CompositeKernel = {
  inputs: FUSED_CONV.inputs,
  expand: (record, [x, filter, bias, slopes], attributes) => {
    const of = only(record("DepthwiseConv2dNative", [x!, filter!], attributes));
    return finishFused(record, [bias, slopes], { of, attributes });
  },
};

/** Convolutions over images, and their gradients. */
export const CONVOLUTION: Kernels = {
  Conv2D: CONV,
  Conv2DBackpropInput: CONV_INPUT_GRADIENT,
  Conv2DBackpropFilter: CONV_FILTER_GRADIENT,
  FusedConv2D: FUSED_CONV,
  DepthwiseConv2dNative: DEPTHWISE,
  DepthwiseConv2dNativeBackpropInput: DEPTHWISE_INPUT_GRADIENT,
  DepthwiseConv2dNativeBackpropFilter: DEPTHWISE_FILTER_GRADIENT,
  FusedDepthwiseConv2D: FUSED_DEPTHWISE,
};
