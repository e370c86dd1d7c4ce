import * as tf from "@tensorflow/tfjs";
import type { Attributes } from "../graph/graph.ts";
import {
  type CompositeKernel,
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

/** Shapes and settings of a convolution. */
interface Windows {
  readonly x: readonly number[];
  readonly filter: readonly number[];
  readonly attributes: Attributes;
  readonly depthwise?: boolean;
  /** Of a gradient: TensorFlow.js leaves out there how sizes are rounded. */
  readonly dy?: readonly number[];
}

/** Lengths, padding and steps of a convolution. */
export function convInfo(
  { x, filter, attributes, depthwise = false, dy }: Windows,
): ConvInfo {
  const it = attributes as unknown as ConvAttributes;
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
    depthwise,
  );
  if (dy !== undefined) [info.outHeight, info.outWidth] = dy.slice(1, 3);
  return checkFits(info);
}

/** ONNX Runtime ends the process where windows are longer than the image. */
export function checkFits(info: ConvInfo): ConvInfo {
  const { outHeight, outWidth, inHeight, inWidth } = info;
  if (outHeight > 0 && outWidth > 0) return info;
  const { effectiveFilterHeight, effectiveFilterWidth } = info;
  throw new RangeError(
    `Cannot trace windows of ${effectiveFilterHeight}x${effectiveFilterWidth} over images of ${inHeight}x${inWidth}: none fits`,
  );
}

/** Places of an image beyond those that windows see; below 0, those it lacks. */
function restOf(it: ConvInfo): [number, number] {
  const height = (it.outHeight - 1) * it.strideHeight +
    it.effectiveFilterHeight - it.padInfo.top;
  const width = (it.outWidth - 1) * it.strideWidth +
    it.effectiveFilterWidth - it.padInfo.left;
  return [it.inHeight - height, it.inWidth - width];
}

/**
 * Padding as ONNX has it: both starts, then both ends. As ONNX works out the
 * output's size by itself, the ends are what TensorFlow.js's size needs.
 */
export function padsOf(it: ConvInfo): number[] {
  const ends = restOf(it).map((rest) => Math.max(0, -rest));
  return [it.padInfo.top, it.padInfo.left, ...ends];
}

/** How much longer an image is than windows that are laid side by side. */
export function outputPadding(it: ConvInfo): number[] {
  return restOf(it).map((rest) => Math.max(0, rest));
}

/** What windows give, without those that TensorFlow.js leaves out. */
export function cutWindows(
  lowering: Lowering,
  made: string,
  it: ConvInfo,
): string {
  const [height, width] = outputPadding(it);
  if (height < it.strideHeight && width < it.strideWidth) return made;
  return cutImage(lowering, made, [it.outHeight, it.outWidth]);
}

/** The first rows and columns of `[batch, channels, height, width]`. */
export function cutImage(
  { model }: Lowering,
  x: string,
  size: readonly [height: number, width: number],
): string {
  const cut = [[0, 0], size, [2, 3]];
  return model.op("Slice", [x, ...cut.map((it) => model.ints(it))]);
}

/**
 * What windows give: `[batch, channels, height, width]` of all. A bias may
 * stand behind image and filter.
 */
export function convolve(
  lowering: Lowering,
  inputs: readonly string[],
  { info, group = 1 }: { info: ConvInfo; group?: number },
): string {
  const made = lowering.model.op("Conv", inputs, {
    strides: stridesOf(info),
    pads: padsOf(info),
    dilations: dilationsOf(info),
    group,
  });
  return cutWindows(lowering, made, info);
}

/** The gradient of an image has the image's shape. */
export const inferInputGradient: PrimitiveKernel["infer"] = (
  [dy],
  { inputShape },
) => ({ shape: inputShape as number[], dtype: dy.dtype });

/** The gradient of a filter has the filter's shape. */
export const inferFilterGradient: PrimitiveKernel["infer"] = (
  [x],
  { filterShape },
) => ({ shape: filterShape as number[], dtype: x.dtype });

/** A convolution with a bias and an activation behind it. */
export function fusedConvolution(kernel: string): CompositeKernel {
  return {
    inputs: ["x", "filter", "bias", "preluActivationWeights"],
    expand: (record, [x, filter, bias, slopes], attributes) => {
      const of = only(record(kernel, [x!, filter!], attributes));
      return finishFused(record, [bias, slopes], { of, attributes });
    },
  };
}

export const stridesOf = (it: ConvInfo) => [it.strideHeight, it.strideWidth];
export const dilationsOf = (
  it: ConvInfo,
) => [it.dilationHeight, it.dilationWidth];

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

/**
 * What goes back from windows to the image: `[batch, channels, height, width]`
 * of both. No more than a step is left over in ONNX Runtime; the rest is padded.
 */
export function convTranspose(
  { model }: Lowering,
  inputs: readonly [images: string, filter: string],
  { info, group = 1 }: { info: ConvInfo; group?: number },
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
