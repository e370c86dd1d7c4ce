import type { Value } from "../graph/graph.ts";
import {
  blockedConvolution,
  blockedFilterGradient,
  blockedInputGradient,
} from "./blocked_convolution.ts";
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

function kernelOf(
  { inputs, blocked, lower, lowerHlo }: Convolution,
): PrimitiveKernel<Settings> {
  const infoOf = (values: readonly Value[], attributes: Settings) => {
    const { x, filter, dy } = Object.fromEntries(
      inputs.map((name, i) => [name, values[i].shape]),
    );
    return convInfo({
      x: x ?? attributes.inputShape,
      filter: filter ?? attributes.filterShape,
      attributes,
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
      const fits = inputs.every((it) => it.dtype === "float32");
      const made = fits ? blocked(lowering, info) : undefined;
      return made ?? lower(lowering, info);
    },
    lowerHlo: (lowering) => {
      const { inputs, attributes } = lowering.node;
      return lowerHlo(lowering, infoOf(inputs, attributes));
    },
  };
}

/** Order of axes: filters `[height, width, in, out]` as ONNX has them. */
const TO_OIHW = [3, 2, 0, 1];

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
      feature_group_count: "1 : i64",
      batch_group_count: "1 : i64",
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
    const filters = model.transpose(filter, TO_OIHW);
    const made = convolve(model, [images, filters, ...bias], info);
    const active = node.attributes.relu ? model.op("Relu", [made]) : made;
    return model.transpose(active, TO_NHWC);
  },
  lowerHlo: (lowering, info) => {
    const { program, inputs: [x, filter, bias], node } = lowering;
    const made = convolveHlo(lowering, [x, filter], {
      axes: "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]",
      shape: info.outShape,
      strides: stridesOf(info),
      pads: padsHlo(info),
      dilations: dilationsOf(info),
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
    const filters = model.transpose(filter, TO_OIHW);
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
    });
  },
};

/**
 * The gradient of the filter: a convolution of the input with the gradient of
 * the output as its filter. Channels and batch change places, steps become
 * dilations.
 */
const FILTER_GRADIENT: Convolution = {
  inputs: ["x", "dy"],
  blocked: blockedFilterGradient,
  lower: ({ model, inputs: [x, dy], node }, info) => {
    const { inputs: [, { shape }], attributes: { filterShape } } = node;
    if (info.outChannels !== shape[3]) {
      throw new RangeError(
        `Cannot lower a convolution's gradient [${shape}] for filters [${filterShape}]`,
      );
    }
    const made = model.op("Conv", [
      model.transpose(x, [3, 0, 1, 2]),
      model.transpose(dy, [3, 0, 1, 2]),
    ], {
      dilations: stridesOf(info),
      strides: dilationsOf(info),
      pads: padsOf(info),
    });
    // Steps that do not come out even leave places beyond the filter.
    const isWhole = outputPadding(info).every((extra) => extra === 0);
    const size = [info.filterHeight, info.filterWidth] as const;
    const cut = isWhole ? made : cutImage(model, made, size);
    return model.transpose(cut, [2, 3, 0, 1]);
  },
  lowerHlo: (lowering, info) => {
    const { inputs, node } = lowering;
    return convolveHlo(lowering, inputs, {
      axes: "[f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f]",
      shape: node.outputs[0].shape,
      strides: dilationsOf(info),
      pads: padsHlo(info),
      dilations: stridesOf(info),
    });
  },
};

/** Convolutions over images, and their gradients. */
export const CONVOLUTION: Kernels = {
  Conv2D: kernelOf(FORWARD),
  BiasedConv2D: kernelOf({ ...FORWARD, inputs: ["x", "filter", "bias"] }),
  Conv2DBackpropInput: kernelOf(INPUT_GRADIENT),
  Conv2DBackpropFilter: kernelOf(FILTER_GRADIENT),
  FusedConv2D: fused("Conv2D", ["x", "filter"]),
};
