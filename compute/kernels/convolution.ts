import {
  blockedConvolution,
  blockedFilterGradient,
  blockedInputGradient,
} from "./blocked.ts";
import {
  type CompositeKernel,
  type Kernels,
  type Lowering,
  only,
  type PrimitiveKernel,
} from "./kernel.ts";
import { finishFused, type FusedAttributes } from "./mat_mul.ts";
import {
  type ConvAttributes,
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

/**
 * Arranges filters `[height, width, in, out]` as ONNX has them; depthwise ones,
 * `[height, width, in, multiplier]`, as groups of one input each.
 */
function arranged(
  { model }: Lowering<unknown>,
  name: string,
  { filter, depthwise }: { filter: readonly number[]; depthwise: boolean },
): string {
  if (!depthwise) return model.transpose(name, [3, 2, 0, 1]);
  const [height, width, channels, multiplier] = filter;
  const turned = model.transpose(name, [2, 3, 0, 1]);
  return model.reshape(turned, [channels * multiplier, 1, height, width]);
}

/**
 * Makes a convolution; a bias may come third, and `Relu` follows if `relu` is
 * set.
 */
function convolution(depthwise: boolean): PrimitiveKernel<
  ConvAttributes & { readonly relu?: boolean }
> {
  return {
    inputs: ["x", "filter"],
    infer: ([x, filter], attributes) => {
      const shapes = { x: x.shape, filter: filter.shape };
      const { outShape } = convInfo({ ...shapes, attributes, depthwise });
      return { shape: outShape, dtype: x.dtype };
    },
    lower: (lowering) => {
      const { model, inputs, node } = lowering;
      const { attributes } = node;
      const [x, filter] = node.inputs.map(({ shape }) => shape);
      const { relu = false } = attributes;
      const info = convInfo({ x, filter, attributes, depthwise });
      const blocked = depthwise
        ? undefined
        : blockedConvolution(lowering, { info, relu });
      if (blocked !== undefined) return blocked;
      const made = convolve(model, [
        model.transpose(inputs[0], TO_NCHW),
        arranged(lowering, inputs[1], { filter, depthwise }),
        ...inputs.slice(2),
      ], { info, group: depthwise ? info.inChannels : 1 });
      const active = relu ? model.op("Relu", [made]) : made;
      return model.transpose(active, TO_NHWC);
    },
  };
}

/** Makes the gradient of a convolution's images, of their shape. */
function inputGradient(depthwise: boolean): PrimitiveKernel<
  ConvAttributes & { readonly inputShape: readonly number[] }
> {
  return {
    inputs: ["dy", "filter"],
    infer: ([dy], { inputShape }) => ({ shape: inputShape, dtype: dy.dtype }),
    lower: (lowering) => {
      const { model, inputs, node } = lowering;
      const { attributes } = node;
      const [dy, filter] = node.inputs.map(({ shape }) => shape);
      const x = attributes.inputShape;
      const info = convInfo({ x, filter, attributes, depthwise, dy });
      const blocked = depthwise
        ? undefined
        : blockedInputGradient(lowering, info);
      if (blocked !== undefined) return blocked;
      const made = convTranspose(model, [
        model.transpose(inputs[0], TO_NCHW),
        arranged(lowering, inputs[1], { filter, depthwise }),
      ], { info, group: depthwise ? info.inChannels : 1 });
      return model.transpose(made, TO_NHWC);
    },
  };
}

type FilterGradient = PrimitiveKernel<
  ConvAttributes & { readonly filterShape: readonly number[] }
>;

/**
 * The gradient of a convolution's filter: a convolution of the input with the
 * gradient of the output as its filter. Channels and batch change places, steps
 * become dilations.
 */
const FILTER_GRADIENT: FilterGradient = {
  inputs: ["x", "dy"],
  infer: ([x], { filterShape }) => ({ shape: filterShape, dtype: x.dtype }),
  lower: (lowering) => {
    const { model, inputs, node } = lowering;
    const { attributes } = node;
    const [x, dy] = node.inputs.map(({ shape }) => shape);
    const filter = attributes.filterShape;
    const info = convInfo({ x, filter, attributes, depthwise: false, dy });
    const blocked = blockedFilterGradient(lowering, info);
    if (blocked !== undefined) return blocked;
    const made = model.op("Conv", [
      model.transpose(inputs[0], [3, 0, 1, 2]),
      model.transpose(inputs[1], [3, 0, 1, 2]),
    ], { dilations: stridesOf(info), pads: padsOf(info) });
    // Steps that do not come out even leave places beyond the filter.
    const isWhole = outputPadding(info).every((extra) => extra === 0);
    const size = [info.filterHeight, info.filterWidth] as const;
    const cut = isWhole ? made : cutImage(model, made, size);
    return model.transpose(cut, [2, 3, 0, 1]);
  },
};

const DEPTHWISE_FILTER_GRADIENT: FilterGradient = {
  ...FILTER_GRADIENT,
  lower: ({ model, inputs, node }) => {
    const { attributes } = node;
    const [x, dy] = node.inputs.map(({ shape }) => shape);
    const filter = attributes.filterShape;
    const [height, width, channels, multiplier] = filter;
    const info = convInfo({ x, filter, attributes, depthwise: true, dy });
    if (multiplier * channels !== dy[3]) {
      throw new RangeError(
        `Cannot lower a depthwise gradient [${dy}] for filters [${filter}]`,
      );
    }
    const [batch, inHeight, inWidth] = x;
    const turned = model.transpose(inputs[0], [3, 0, 1, 2]);
    const made = model.op("Conv", [
      model.reshape(turned, [1, channels * batch, inHeight, inWidth]),
      model.transpose(inputs[1], [3, 0, 1, 2]),
    ], {
      dilations: stridesOf(info),
      strides: dilationsOf(info),
      pads: padsOf(info),
      group: channels,
    });
    const cut = cutImage(model, made, [height, width]);
    const apart = model.reshape(cut, [channels, multiplier, height, width]);
    return model.transpose(apart, [2, 3, 0, 1]);
  },
};

/** Makes a convolution with a bias and an activation behind it. */
function fused(kernel: string): CompositeKernel<FusedAttributes> {
  return {
    inputs: ["x", "filter", "bias", "preluActivationWeights"],
    expand: (record, [x, filter, bias, slopes], attributes) => {
      const of = only(record(kernel, [x!, filter!], attributes));
      return finishFused(record, [bias, slopes], { of, attributes });
    },
  };
}

/** Convolutions over images, and their gradients. */
export const CONVOLUTION: Kernels = {
  Conv2D: convolution(false),
  BiasedConv2D: { ...convolution(false), inputs: ["x", "filter", "bias"] },
  Conv2DBackpropInput: inputGradient(false),
  Conv2DBackpropFilter: FILTER_GRADIENT,
  FusedConv2D: fused("Conv2D"),
};

/** Convolutions of each channel with filters of its own. */
export const DEPTHWISE_CONVOLUTION: Kernels = {
  DepthwiseConv2dNative: convolution(true),
  DepthwiseConv2dNativeBackpropInput: inputGradient(true),
  DepthwiseConv2dNativeBackpropFilter: DEPTHWISE_FILTER_GRADIENT,
  FusedDepthwiseConv2D: fused("DepthwiseConv2dNative"),
};
