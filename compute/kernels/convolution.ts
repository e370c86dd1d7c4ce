import type { Value } from "../graph/graph.ts";
import type { ModelBuilder } from "../onnx/model_builder.ts";
import {
  blockedConvolution,
  blockedFilterGradient,
  blockedInputGradient,
} from "./blocked.ts";
import {
  type HloTensor,
  integers,
  pairs,
  type ProgramBuilder,
} from "../stablehlo/program_builder.ts";
import type {
  HloLowering,
  Kernels,
  Lowering,
  PrimitiveKernel,
} from "./kernel.ts";
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
  /** Lowers to a convolution of StableHLO. */
  readonly lowerHlo: (
    lowering: HloLowering<Settings>,
    info: ConvInfo,
  ) => HloTensor;
}

/** Makes a kernel; depthwise, each channel has filters of its own. */
function kernelOf(
  { inputs, blocked, lower, lowerHlo }: Convolution,
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
    lowerHlo: (lowering) => {
      const { inputs, attributes } = lowering.node;
      return lowerHlo(lowering, infoOf(inputs, attributes));
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

/** Settings of a convolution of StableHLO. */
interface HloConvolution {
  /** Axes of images, filters and results: batch, features in and out, places. */
  readonly axes: string;
  readonly shape: readonly number[];
  readonly strides?: readonly number[];
  readonly pads: readonly number[];
  /** Steps between neighbours of the images. */
  readonly spread?: readonly number[];
  /** Steps between neighbours of the filters. */
  readonly dilations: readonly number[];
  readonly featureGroups?: number;
  readonly batchGroups?: number;
}

function convolveHlo(
  { program }: HloLowering<Settings>,
  [images, filters]: readonly HloTensor[],
  it: HloConvolution,
): HloTensor {
  const { x, pads } = cutImages(program, images, it);
  const [top, left, bottom, right] = pads;
  return program.op("convolution", [x, filters], {
    shape: it.shape,
    dtype: x.dtype,
    attributes: {
      dimension_numbers: `#stablehlo.conv<${it.axes}>`,
      window_strides: integers(it.strides ?? [1, 1]),
      padding: pairs([top, left], [bottom, right]),
      lhs_dilation: integers(it.spread ?? [1, 1]),
      rhs_dilation: integers(it.dilations),
      feature_group_count: `${it.featureGroups ?? 1} : i64`,
      batch_group_count: `${it.batchGroups ?? 1} : i64`,
    },
  });
}

/**
 * Cuts off places of images where padding is less than none: XLA's own
 * convolutions for CPUs take such padding and compute wrong numbers.
 */
function cutImages(
  program: ProgramBuilder,
  x: HloTensor,
  { pads, spread = [1, 1] }: Pick<HloConvolution, "pads" | "spread">,
): { x: HloTensor; pads: number[] } {
  // Of a cut that ends between neighbours, padding is left.
  const cuts = pads.map((pad, i) =>
    pad < 0 ? Math.ceil(-pad / spread[i % 2]) : 0
  );
  const [top, left, bottom, right] = cuts;
  const [batch, rows, columns, channels] = x.shape;
  const cut = program.slice(x, {
    start: [0, top, left, 0],
    limit: [batch, rows - bottom, columns - right, channels],
  });
  return { x: cut, pads: pads.map((pad, i) => pad + cuts[i] * spread[i % 2]) };
}

/** Returns padding that leaves out what no window sees. */
function padsHlo(info: ConvInfo): number[] {
  const rest = outputPadding(info);
  return padsOf(info).map((pad, i) => i < 2 ? pad : pad - rest[i - 2]);
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
  lowerHlo: (lowering, info) => {
    const { program, inputs: [x, filter, bias], node } = lowering;
    const { filterHeight, filterWidth, inChannels, outChannels } = info;
    const filters = program.reshape(filter, [
      filterHeight,
      filterWidth,
      inChannels / info.groups,
      outChannels,
    ]);
    const made = convolveHlo(lowering, [x, filters], {
      axes: "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]",
      shape: info.outShape,
      strides: stridesOf(info),
      pads: padsHlo(info),
      dilations: dilationsOf(info),
      featureGroups: info.groups,
    });
    const shifted = bias === undefined
      ? made
      : program.map("add", made, program.broadcast(bias, made.shape));
    return node.attributes.relu ? program.with("maximum", shifted, 0) : shifted;
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
  lowerHlo: (lowering, info) => {
    const { program, inputs: [dy, filter], node } = lowering;
    const [{ shape }] = node.outputs;
    const effective = [info.effectiveFilterHeight, info.effectiveFilterWidth];
    const pads = padsOf(info);
    const before = effective.map((size, i) => size - 1 - pads[i]);
    const after = stridesOf(info).map((stride, i) =>
      shape[i + 1] + effective[i] - 2 - before[i] -
      (dy.shape[i + 1] - 1) * stride
    );
    return convolveHlo(lowering, [dy, program.reverse(filter, [0, 1])], {
      axes: "[b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f]",
      shape,
      pads: [...before, ...after],
      spread: stridesOf(info),
      dilations: dilationsOf(info),
      featureGroups: info.groups,
    });
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
  lowerHlo: (lowering, info) => {
    const { program, inputs: [x, dy], node } = lowering;
    const { filterHeight, filterWidth, inChannels, outChannels } = info;
    const made = convolveHlo(lowering, [x, dy], {
      axes: "[f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f]",
      shape: [
        filterHeight,
        filterWidth,
        inChannels / info.groups,
        outChannels,
      ],
      strides: dilationsOf(info),
      pads: padsHlo(info),
      dilations: stridesOf(info),
      batchGroups: info.groups,
    });
    return program.reshape(made, node.outputs[0].shape);
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
