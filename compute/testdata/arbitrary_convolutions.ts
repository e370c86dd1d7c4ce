import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import { type ACTIVATIONS, DIFFERENTIABLE } from "./activations.ts";
import { seeds } from "./arbitrary_shapes.ts";
import { type CompiledCase, type Given, given } from "./compiled_agrees.ts";

type Pair = [number, number];
type Padding = "same" | "valid" | number | tf.backend_util.ExplicitPadding;

const few = fc.integer({ min: 1, max: 3 });
const side = fc.integer({ min: 0, max: 2 });
const length = fc.integer({ min: 1, max: 9 });

const padding: fc.Arbitrary<Padding> = fc.oneof(
  fc.constantFrom<Padding>("same", "valid"),
  side,
  fc.tuple(side, side, side, side).map((
    [top, bottom, left, right],
  ): Padding => [[0, 0], [top, bottom], [left, right], [0, 0]]),
);

/** Settings of one convolution. */
export interface Convolution {
  readonly batch: number;
  readonly size: Pair;
  readonly filter: Pair;
  readonly channels: number;
  /** Output channels. */
  readonly out: number;
  readonly strides: Pair;
  readonly dilations: Pair;
  readonly pad: Padding;
  readonly seed: number;
}

/** Images and filters; both may be of odd sizes, and steps leave some over. */
export const convolutions: fc.Arbitrary<Convolution> = fc.record({
  batch: few,
  size: fc.tuple(length, length),
  filter: fc.tuple(few, few),
  channels: few,
  out: few,
  strides: fc.tuple(few, few),
  dilations: fc.tuple(few, few),
  pad: padding,
  seed: seeds,
  dilated: fc.boolean(),
}).map(({ dilated, ...it }): Convolution =>
  // TensorFlow.js takes steps or dilations, not both.
  dilated ? { ...it, strides: [1, 1] } : { ...it, dilations: [1, 1] }
).filter(fits);

/** Whether windows fit, and see a part of the image along both axes. */
function fits(it: Convolution): boolean {
  const info = tf.backend_util.computeConv2DInfo(
    [1, ...it.size, 1],
    [...it.filter, 1, 1],
    it.strides,
    it.dilations,
    it.pad as "same",
  );
  const { outHeight, outWidth, effectiveFilterHeight, effectiveFilterWidth } =
    info;
  const seen = [
    (outHeight - 1) * it.strides[0] + effectiveFilterHeight - info.padInfo.top,
    (outWidth - 1) * it.strides[1] + effectiveFilterWidth - info.padInfo.left,
  ];
  return outHeight > 0 && outWidth > 0 && seen.every((length) => length > 0);
}

/** Convolutions that TensorFlow.js has gradients of. */
export const withoutDilations: fc.Arbitrary<Convolution> = convolutions
  .map((it) => ({ ...it, dilations: [1, 1] as Pair }));

/** Padding by name, for operations that take no other. */
export function namedPadding({ pad }: Convolution): "valid" | "same" {
  return pad === "valid" ? "valid" : "same";
}

/** An image and filters. */
export function imageAndFilter(it: Convolution): readonly Given[] {
  return [
    given([it.batch, ...it.size, it.channels], { seed: it.seed }),
    given([...it.filter, it.channels, it.out], { seed: it.seed + 1 }),
  ];
}

/** A convolution of an image by filters. */
export function convolve(it: Convolution) {
  return (x: tf.Tensor, filter: tf.Tensor) =>
    tf.conv2d(
      x as tf.Tensor4D,
      filter as tf.Tensor4D,
      it.strides,
      it.pad,
      "NHWC",
      it.dilations,
    );
}

/** A convolution, a bias or none, and an activation in one operation. */
export function fusedConvolution(
  activation: typeof ACTIVATIONS[number],
  { it, bias }: { it: Convolution; bias: boolean },
): CompiledCase {
  const row = given([it.out], { seed: it.seed + 2 });
  return {
    fn: (x, filter, row) =>
      tf.fused.conv2d({
        x: x as tf.Tensor4D,
        filter: filter as tf.Tensor4D,
        strides: it.strides,
        pad: it.pad as "same",
        bias: row,
        activation,
        leakyreluAlpha: 0.3,
      }),
    inputs: [...imageAndFilter(it), ...bias ? [row] : []],
    gradients: DIFFERENTIABLE.has(activation),
  };
}
