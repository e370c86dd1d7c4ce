import { blockedConvolution } from "./blocked_convolution.ts";
import {
  blockedFilterGradient,
  blockedInputGradient,
} from "./blocked_gradients.ts";
import {
  type ConvInfo,
  convInfo,
  convolve,
  convTranspose,
  cutImage,
  fusedConvolution,
  inferFilterGradient,
  inferInputGradient,
  outputPadding,
  padsOf,
  permute,
  stridesOf,
  TO_NCHW,
  TO_NHWC,
} from "./windows.ts";
import type { Kernels, Lowering, PrimitiveKernel } from "./kernel.ts";

const CONV: PrimitiveKernel = {
  inputs: ["x", "filter"],
  infer: ([x, filter], attributes) => ({
    shape: convInfo({ x: x.shape, filter: filter.shape, attributes }).outShape,
    dtype: x.dtype,
  }),
  lower: (lowering) => lowerConvolution(lowering),
};

function lowerConvolution(lowering: Lowering, relu = false): string {
  const { model, inputs, node } = lowering;
  const [x, filter] = node.inputs.map(({ shape }) => shape);
  const info = convInfo({ x, filter, attributes: node.attributes });
  const blocked = blockedConvolution(lowering, { info, relu });
  if (blocked !== undefined) return blocked;
  const made = convolve(lowering, [
    permute(lowering, inputs[0], TO_NCHW),
    permute(lowering, inputs[1], [3, 2, 0, 1]),
    ...inputs.slice(2),
  ], { info });
  const active = relu ? model.op("Relu", [made]) : made;
  return permute(lowering, active, TO_NHWC);
}

/** A convolution, the bias added to it, and `Relu` if `relu` is set. */
const BIASED_CONV: PrimitiveKernel = {
  inputs: ["x", "filter", "bias"],
  infer: ([x, filter], attributes) => CONV.infer([x, filter], attributes),
  lower: (lowering) =>
    lowerConvolution(lowering, lowering.node.attributes.relu === true),
};

const CONV_INPUT_GRADIENT: PrimitiveKernel = {
  inputs: ["dy", "filter"],
  infer: inferInputGradient,
  lower: (lowering) => {
    const { inputs, node } = lowering;
    const { attributes } = node;
    const [dy, filter] = node.inputs.map(({ shape }) => shape);
    const x = attributes.inputShape as number[];
    const info = convInfo({ x, filter, attributes, dy });
    const blocked = blockedInputGradient(lowering, info);
    if (blocked !== undefined) return blocked;
    const made = convTranspose(lowering, [
      permute(lowering, inputs[0], TO_NCHW),
      permute(lowering, inputs[1], [3, 2, 0, 1]),
    ], { info });
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
  infer: inferFilterGradient,
  lower: (lowering) => {
    const { model, inputs, node } = lowering;
    const { attributes } = node;
    const [x, dy] = node.inputs.map(({ shape }) => shape);
    const filter = attributes.filterShape as number[];
    const info = convInfo({ x, filter, attributes, dy });
    const blocked = blockedFilterGradient(lowering, info);
    if (blocked !== undefined) return blocked;
    const made = model.op("Conv", [
      permute(lowering, inputs[0], [3, 0, 1, 2]),
      permute(lowering, inputs[1], [3, 0, 1, 2]),
    ], { dilations: stridesOf(info), pads: padsOf(info) });
    const cut = cutFilter(lowering, made, info);
    return permute(lowering, cut, [2, 3, 0, 1]);
  },
};

/** Steps that do not come out even leave places beyond the filter. */
function cutFilter(lowering: Lowering, made: string, info: ConvInfo): string {
  const [extraHeight, extraWidth] = outputPadding(info);
  if (extraHeight === 0 && extraWidth === 0) return made;
  return cutImage(lowering, made, [info.filterHeight, info.filterWidth]);
}

/** Convolutions over images, and their gradients. */
export const CONVOLUTION: Kernels = {
  Conv2D: CONV,
  BiasedConv2D: BIASED_CONV,
  Conv2DBackpropInput: CONV_INPUT_GRADIENT,
  Conv2DBackpropFilter: CONV_FILTER_GRADIENT,
  FusedConv2D: fusedConvolution("Conv2D"),
};
