import type { Value } from "../graph/graph.ts";
import type { ModelBuilder } from "../onnx/model_builder.ts";
import {
  blockedConvolution,
  blockedFilterGradient,
  blockedInputGradient,
} from "./blocked.ts";
import type { Kernels, Lowering, PrimitiveKernel } from "./kernel.ts";
import { fused } from "./mat_mul.ts";
import {
  type ConvAttributes,
  type ConvInfo,
  convInfo,
  convolve,
  convTranspose,
  cutImage,
  dilationsOf,
  outputPadding,
  padsOf,
  stridesOf,
  TO_NCHW,
  TO_NHWC,
} from "./windows.ts";

/** Settings of a convolution or, with the shape that it makes, of a gradient. */
type Settings = ConvAttributes & {
  readonly relu?: boolean;
  readonly inputShape?: readonly number[];
  readonly filterShape?: readonly number[];
};

type Lower<Result> = (
  lowering: Lowering<Settings>,
  info: ConvInfo,
) => Result;

/**
 * A convolution of images `x` and a `filter`, or a gradient of it, given the
 * gradient `dy` of what these make: two of the three give the other.
 */
interface Convolution {
  readonly inputs: readonly string[];
  /** Lowers to the blocked layout; returns nothing where sizes do not fit. */
  readonly blocked: Lower<string | undefined>;
  readonly lower: Lower<string>;
}

/** Makes a kernel; depthwise, each channel has filters of its own. */
function kernelOf(
  { inputs, blocked, lower }: Convolution,
  { depthwise }: { depthwise: boolean },
): PrimitiveKernel<Settings> {
  const infoOf = (values: readonly Value[], attributes: Settings) => {
    const { x, filter, dy } = Object.fromEntries(
      inputs.map((name, i) => [name, values[i].shape]),
    );
    return convInfo({
      x: x ?? attributes.inputShape,
      filter: filter ?? attributes.filterShape,
      attributes,
      depthwise,
      dy,
    });
  };
  return {
    inputs,
    infer: (values, attributes) => ({
      shape: attributes.inputShape ?? attributes.filterShape ??
        infoOf(values, attributes).outShape,
      dtype: values[0].dtype,
    }),
    lower: (lowering) => {
      const { inputs, attributes } = lowering.node;
      const info = infoOf(inputs, attributes);
      const fits = !depthwise && inputs.every((it) => it.dtype === "float32");
      const made = fits ? blocked(lowering, info) : undefined;
      return made ?? lower(lowering, info);
    },
  };
}

/**
 * Arranges filters `[height, width, in, out]` as ONNX has them; depthwise ones,
 * `[height, width, in, multiplier]`, as groups of one input each.
 */
function arranged(model: ModelBuilder, filter: string, info: ConvInfo): string {
  const { groups, outChannels, filterHeight, filterWidth } = info;
  if (groups === 1) return model.transpose(filter, [3, 2, 0, 1]);
  const turned = model.transpose(filter, [2, 3, 0, 1]);
  return model.reshape(turned, [outChannels, 1, filterHeight, filterWidth]);
}

/** Convolves; a bias may come third, and `Relu` follows if `relu` is set. */
const FORWARD: Convolution = {
  inputs: ["x", "filter"],
  blocked: blockedConvolution,
  lower: ({ model, inputs: [x, filter, ...bias], node }, info) => {
    const images = model.transpose(x, TO_NCHW);
    const filters = arranged(model, filter, info);
    const made = convolve(model, [images, filters, ...bias], info);
    const active = node.attributes.relu ? model.op("Relu", [made]) : made;
    return model.transpose(active, TO_NHWC);
  },
};

/** The gradient of the images. */
const INPUT_GRADIENT: Convolution = {
  inputs: ["dy", "filter"],
  blocked: blockedInputGradient,
  lower: ({ model, inputs: [dy, filter] }, info) => {
    const gradients = model.transpose(dy, TO_NCHW);
    const filters = arranged(model, filter, info);
    const made = convTranspose(model, [gradients, filters], info);
    return model.transpose(made, TO_NHWC);
  },
};

/**
 * The gradient of the filter: a convolution of the input with the gradient of
 * the output as its filter. Channels and batch change places, steps become
 * dilations; depthwise, each channel is a group.
 */
const FILTER_GRADIENT: Convolution = {
  inputs: ["x", "dy"],
  blocked: blockedFilterGradient,
  lower: ({ model, inputs: [x, dy], node }, info) => {
    const { batchSize, inChannels, inHeight, inWidth, outChannels } = info;
    const { inputs: [, { shape }], attributes: { filterShape } } = node;
    if (outChannels !== shape[3]) {
      throw new RangeError(
        `Cannot lower a convolution's gradient [${shape}] for filters [${filterShape}]`,
      );
    }
    const channels = inChannels / info.groups;
    const turned = model.transpose(x, [3, 0, 1, 2]);
    const grouped = [channels, info.groups * batchSize, inHeight, inWidth];
    const made = model.op("Conv", [
      info.groups === 1 ? turned : model.reshape(turned, grouped),
      model.transpose(dy, [3, 0, 1, 2]),
    ], {
      dilations: stridesOf(info),
      strides: dilationsOf(info),
      pads: padsOf(info),
      group: info.groups,
    });
    // Steps that do not come out even leave places beyond the filter.
    const isWhole = outputPadding(info).every((extra) => extra === 0);
    const size = [info.filterHeight, info.filterWidth] as const;
    const cut = isWhole ? made : cutImage(model, made, size);
    const apart = [inChannels, outChannels / info.groups, ...size];
    return model.transpose(
      info.groups === 1 ? cut : model.reshape(cut, apart),
      [2, 3, 0, 1],
    );
  },
};

const dense = (it: Convolution) => kernelOf(it, { depthwise: false });

/** Convolutions over images, and their gradients. */
export const CONVOLUTION: Kernels = {
  Conv2D: dense(FORWARD),
  BiasedConv2D: dense({ ...FORWARD, inputs: ["x", "filter", "bias"] }),
  Conv2DBackpropInput: dense(INPUT_GRADIENT),
  Conv2DBackpropFilter: dense(FILTER_GRADIENT),
  FusedConv2D: fused("Conv2D", ["x", "filter"]),
};

const depthwise = (it: Convolution) => kernelOf(it, { depthwise: true });

/** Convolutions of each channel with filters of its own. */
export const DEPTHWISE_CONVOLUTION: Kernels = {
  DepthwiseConv2dNative: depthwise(FORWARD),
  DepthwiseConv2dNativeBackpropInput: depthwise(INPUT_GRADIENT),
  DepthwiseConv2dNativeBackpropFilter: depthwise(FILTER_GRADIENT),
  FusedDepthwiseConv2D: fused("DepthwiseConv2dNative", ["x", "filter"]),
};
