import * as tf from "@tensorflow/tfjs";
import { sizeOf } from "../graph/graph.ts";
import type { ModelBuilder } from "../onnx/model_builder.ts";
import {
  type HloTensor,
  integers,
  pairs,
  type ProgramBuilder,
} from "../stablehlo/program_builder.ts";
import type { Kernels, PrimitiveKernel } from "./kernel.ts";

type Shape4D = [number, number, number, number];

/** Sizes that TensorFlow.js works out of a convolution's shapes and settings. */
export type ConvInfo = tf.backend_util.Conv2DInfo;

/** Settings of a convolution. */
export type ConvAttributes = {
  readonly strides: number | [number, number];
  readonly pad: "valid" | "same" | number;
  readonly dataFormat?: string;
  readonly dilations?: number | [number, number];
  readonly dimRoundingMode?: "floor" | "round" | "ceil";
};

/** Shapes and settings of a convolution. */
interface Windows {
  readonly x: readonly number[];
  readonly filter: readonly number[];
  readonly attributes: ConvAttributes;
  /** Of a gradient: TensorFlow.js leaves out there how sizes are rounded. */
  readonly dy?: readonly number[];
}

/** Works out lengths, padding and steps of a convolution. */
export function convInfo(
  { x, filter, attributes: it, dy }: Windows,
): ConvInfo {
  if (it.dataFormat !== undefined && it.dataFormat !== "NHWC") {
    throw new TypeError(
      `Cannot trace a convolution of ${it.dataFormat} data: expected NHWC`,
    );
  }
  const info = tf.backend_util.computeConv2DInfo(
    x as Shape4D,
    filter as Shape4D,
    it.strides,
    it.dilations ?? 1,
    it.pad,
    it.dimRoundingMode,
  );
  return completed(info, dy);
}

/** Settings of pooling. */
type PoolAttributes =
  & Pick<ConvAttributes, "strides" | "pad" | "dimRoundingMode">
  & { readonly filterSize: number | [number, number] };

/** Works out lengths and steps of pooling, or of its gradient `dy`. */
function poolInfo(
  x: readonly number[],
  { filterSize, strides, pad, dimRoundingMode }: PoolAttributes,
  dy?: readonly number[],
): ConvInfo {
  const info = tf.backend_util.computePool2DInfo(
    x as Shape4D,
    filterSize,
    strides,
    1,
    pad,
    dimRoundingMode,
  );
  return completed(info, dy);
}

/**
 * Completes sizes by those of a gradient. Refuses windows longer than the
 * image: ONNX Runtime ends the process there.
 */
function completed(info: ConvInfo, dy?: readonly number[]): ConvInfo {
  if (dy !== undefined) [info.outHeight, info.outWidth] = dy.slice(1, 3);
  const { outHeight, outWidth, inHeight, inWidth } = info;
  if (outHeight > 0 && outWidth > 0) return info;
  const { effectiveFilterHeight, effectiveFilterWidth } = info;
  throw new RangeError(
    `Cannot trace windows of ${effectiveFilterHeight}x${effectiveFilterWidth} over images of ${inHeight}x${inWidth}: none fits`,
  );
}

/** Counts places beyond those that windows see; below 0, those that lack. */
function restOf(it: ConvInfo): [number, number] {
  const height = (it.outHeight - 1) * it.strideHeight +
    it.effectiveFilterHeight - it.padInfo.top;
  const width = (it.outWidth - 1) * it.strideWidth +
    it.effectiveFilterWidth - it.padInfo.left;
  return [it.inHeight - height, it.inWidth - width];
}

/**
 * Returns padding as ONNX has it: both starts, then both ends. As ONNX works out
 * the output's size by itself, the ends are what TensorFlow.js's size needs.
 */
export function padsOf(it: ConvInfo): number[] {
  const ends = restOf(it).map((rest) => Math.max(0, -rest));
  return [it.padInfo.top, it.padInfo.left, ...ends];
}

/** Counts the places by which an image is longer than windows side by side. */
export function outputPadding(it: ConvInfo): number[] {
  return restOf(it).map((rest) => Math.max(0, rest));
}

export const stridesOf = (it: ConvInfo) => [it.strideHeight, it.strideWidth];
export const dilationsOf = (
  it: ConvInfo,
) => [it.dilationHeight, it.dilationWidth];

/** Orders of axes: images as ONNX has them, and back. */
export const TO_NCHW = [0, 3, 1, 2], TO_NHWC = [0, 2, 3, 1];

/** Cuts off the outputs of windows that TensorFlow.js leaves out. */
function cutWindows(
  model: ModelBuilder,
  made: string,
  it: ConvInfo,
): string {
  const [height, width] = outputPadding(it);
  if (height < it.strideHeight && width < it.strideWidth) return made;
  return cutImage(model, made, [it.outHeight, it.outWidth]);
}

/** Cuts the first rows and columns out of `[batch, channels, height, width]`. */
export function cutImage(
  model: ModelBuilder,
  x: string,
  size: readonly [height: number, width: number],
): string {
  return model.slice(x, { starts: [0, 0], ends: size, axes: [2, 3] });
}

/**
 * Convolves images `[batch, channels, height, width]` into such images. A bias
 * may stand behind image and filter.
 */
export function convolve(
  model: ModelBuilder,
  inputs: readonly string[],
  info: ConvInfo,
): string {
  const made = model.op("Conv", inputs, {
    strides: stridesOf(info),
    pads: padsOf(info),
    dilations: dilationsOf(info),
  });
  return cutWindows(model, made, info);
}

/**
 * Goes back from windows to the image: `[batch, channels, height, width]` of
 * both, whose channels may be in groups. No more than a step is left over in
 * ONNX Runtime; the rest is padded.
 */
export function convTranspose(
  model: ModelBuilder,
  inputs: readonly [images: string, filter: string],
  info: ConvInfo,
  group = 1,
): string {
  const strides = stridesOf(info);
  const rest = outputPadding(info);
  const within = rest.map((it, i) => Math.min(it, strides[i] - 1));
  const made = model.op("ConvTranspose", inputs, {
    strides,
    pads: padsOf(info),
    dilations: dilationsOf(info),
    output_padding: within,
    group,
  });
  const beyond = rest.map((it, i) => it - within[i]);
  if (beyond.every((it) => it === 0)) return made;
  const ends = model.ints([0, 0, 0, 0, 0, 0, ...beyond]);
  return model.op("Pad", [made, ends]);
}

/** Cuts off the rows and columns of images that no window sees. */
function seenHlo(
  program: ProgramBuilder,
  x: HloTensor,
  info: ConvInfo,
): HloTensor {
  const [height, width] = outputPadding(info);
  const [batch, rows, columns, channels] = x.shape;
  return program.slice(x, {
    start: [0, 0, 0, 0],
    limit: [batch, rows - height, columns - width, channels],
  });
}

/** Puts zeros where {@linkcode seenHlo} cut rows and columns off. */
function unseenHlo(
  program: ProgramBuilder,
  x: HloTensor,
  info: ConvInfo,
): HloTensor {
  const before = [0, 0, 0, 0];
  return program.pad(x, 0, { before, after: [0, ...outputPadding(info), 0] });
}

/** Returns the settings of windows over images `[batch, height, width, channels]`. */
function windowsHlo(info: ConvInfo) {
  const [top, left, bottom, right] = padsOf(info);
  return {
    window_dimensions: integers([1, info.filterHeight, info.filterWidth, 1]),
    window_strides: integers([1, ...stridesOf(info), 1]),
    padding: pairs([0, top, left, 0], [0, bottom, right, 0]),
  };
}

/** Reduces each window of images to one number. */
function reduceWindows(
  op: string,
  { program, x, from }: {
    program: ProgramBuilder;
    x: HloTensor;
    from: number;
  },
  info: ConvInfo,
): HloTensor {
  const images = seenHlo(program, x, info);
  const { batchSize, outHeight, outWidth, outChannels } = info;
  return program.op("reduce_window", [images, program.scalar(from)], {
    shape: [batchSize, outHeight, outWidth, outChannels],
    dtype: "float32",
    attributes: windowsHlo(info),
    region: program.region("float32", (a, b) => program.map(op, a, b)),
  });
}

/** Counts the places of one axis that each window sees. */
function placesSeen(
  { length, out, stride, size, before }: Record<
    "length" | "out" | "stride" | "size" | "before",
    number
  >,
): number[] {
  return Array.from({ length: out }, (_, i) => {
    const from = i * stride - before;
    return Math.min(from + size, length) - Math.max(from, 0);
  });
}

/** Counts the places that each window sees: padding is no part of a mean. */
function areasHlo(program: ProgramBuilder, info: ConvInfo): HloTensor {
  const rows = placesSeen({
    length: info.inHeight,
    out: info.outHeight,
    stride: info.strideHeight,
    size: info.filterHeight,
    before: info.padInfo.top,
  });
  const columns = placesSeen({
    length: info.inWidth,
    out: info.outWidth,
    stride: info.strideWidth,
    size: info.filterWidth,
    before: info.padInfo.left,
  });
  const { batchSize, outHeight, outWidth, outChannels } = info;
  const areas = program.constant(
    Float32Array.from(rows.flatMap((row) => columns.map((it) => row * it))),
    { shape: [outHeight, outWidth], dtype: "float32" },
  );
  return program.spread(areas, {
    shape: [batchSize, outHeight, outWidth, outChannels],
    axes: [1, 2],
  });
}

type PoolHlo = (
  program: ProgramBuilder,
  x: HloTensor,
  info: ConvInfo,
) => HloTensor;

const maxPoolHlo: PoolHlo = (program, x, info) =>
  reduceWindows("maximum", { program, x, from: -Infinity }, info);

const averagePoolHlo: PoolHlo = (program, x, info) =>
  program.map(
    "divide",
    reduceWindows("add", { program, x, from: 0 }, info),
    areasHlo(program, info),
  );

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

function pool(op: string, hlo: PoolHlo): PrimitiveKernel<PoolAttributes> {
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
    lowerHlo: ({ program, inputs: [x], node }) => {
      const info = poolInfo(x.shape, node.attributes);
      const made = hlo(program, program.cast(x, "float32"), info);
      return program.cast(made, x.dtype);
    },
  };
}

/**
 * Gives each window's gradient to the first of its largest numbers, place by
 * place: XLA's own operation takes any of them.
 */
function firstLargestHlo(
  program: ProgramBuilder,
  [x, dy]: readonly HloTensor[],
  info: ConvInfo,
): HloTensor {
  const images = seenHlo(program, x, info);
  const [top, left, bottom, right] = padsOf(info);
  const padded = program.pad(images, -Infinity, {
    before: [0, top, left, 0],
    after: [0, bottom, right, 0],
  });
  const largest = maxPoolHlo(program, x, info);
  const [batch, height, width, channels] = padded.shape;
  const strides = [1, ...stridesOf(info), 1];
  const none = program.fill(0, dy);
  let free = program.fill(1, { shape: dy.shape, dtype: "bool" });
  let sum = program.fill(0, padded);
  for (let place = 0; place < info.filterHeight * info.filterWidth; place++) {
    const row = Math.floor(place / info.filterWidth);
    const column = place % info.filterWidth;
    const start = [0, row, column, 0];
    const limit = [
      batch,
      row + (dy.shape[1] - 1) * strides[1] + 1,
      column + (dy.shape[2] - 1) * strides[2] + 1,
      channels,
    ];
    const seen = program.slice(padded, { start, limit, strides });
    const isLargest = program.compare("EQ", seen, largest);
    const taken = program.map("and", free, isLargest);
    free = program.map("and", free, program.map("not", isLargest));
    const spread = program.pad(program.select(taken, dy, none), 0, {
      before: start,
      after: [0, height - limit[1], width - limit[2], 0],
      between: strides.map((stride) => stride - 1),
    });
    sum = program.map("add", sum, spread);
  }
  return program.slice(sum, {
    start: [0, top, left, 0],
    limit: [batch, height - bottom, width - right, channels],
  });
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
  lowerHlo: ({ program, inputs: [dy, input], node }) => {
    const info = poolInfo(input.shape, node.attributes, dy.shape);
    return unseenHlo(
      program,
      firstLargestHlo(program, [input, dy], info),
      info,
    );
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
    const made = convTranspose(model, [images, filter], info, inChannels);
    return model.transpose(made, TO_NHWC);
  },
  lowerHlo: ({ program, inputs: [dy, { shape }], node }) => {
    const info = poolInfo(shape, node.attributes, dy.shape);
    const { filterHeight, filterWidth, strideHeight, strideWidth } = info;
    const [top, left] = padsOf(info);
    const size = [filterHeight, filterWidth];
    const before = [size[0] - 1 - top, size[1] - 1 - left];
    const after = stridesOf(info).map((stride, i) =>
      shape[i + 1] + size[i] - 2 - before[i] - (dy.shape[i + 1] - 1) * stride
    );
    // Each place sums the windows that see it, backwards.
    const apart = program.pad(dy, 0, {
      before: [0, ...before, 0],
      after: [0, ...after, 0],
      between: [0, strideHeight - 1, strideWidth - 1, 0],
    });
    const sum = program.op("reduce_window", [apart, program.scalar(0)], {
      shape,
      dtype: "float32",
      attributes: { window_dimensions: integers([1, ...size, 1]) },
      region: program.region("float32", (a, b) => program.map("add", a, b)),
    });
    return program.with("divide", sum, filterHeight * filterWidth);
  },
};

/** Pooling over images, and its gradients. */
export const POOLING: Kernels = {
  MaxPool: pool("MaxPool", maxPoolHlo),
  MaxPoolGrad: MAX_POOL_GRADIENT,
  AvgPool: pool("AveragePool", averagePoolHlo),
  AvgPoolGrad: AVG_POOL_GRADIENT,
};
