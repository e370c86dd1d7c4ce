import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import {
  ACTIVATIONS,
  type Convolution,
  convolutions,
  fusedConvolution,
  imageAndFilter,
  namedPadding,
  withoutDilations,
} from "../testdata/arbitrary_convolutions.ts";
import { given, testCompiled } from "../testdata/compiled_agrees.ts";

const convolve = (it: Convolution) => (x: tf.Tensor, filter: tf.Tensor) =>
  tf.depthwiseConv2d(
    x as tf.Tensor4D,
    filter as tf.Tensor4D,
    it.strides,
    it.pad as "same",
    "NHWC",
    it.dilations,
  );

testCompiled("depthwiseConv2d", convolutions, (it) => ({
  fn: convolve(it),
  inputs: imageAndFilter(it),
}), 40);

testCompiled("both gradients of depthwiseConv2d", withoutDilations, (it) => ({
  fn: convolve(it),
  inputs: imageAndFilter(it),
  gradients: true,
}), 60);

testCompiled("separableConv2d", withoutDilations, (it) => ({
  fn: (x, filter, points) =>
    tf.separableConv2d(
      x as tf.Tensor4D,
      filter as tf.Tensor4D,
      points as tf.Tensor4D,
      it.strides[0],
      namedPadding(it),
    ),
  inputs: [
    ...imageAndFilter(it),
    given([1, 1, it.channels * it.out, 2], { seed: it.seed + 2 }),
  ],
  gradients: true,
}));

for (const activation of ACTIVATIONS) {
  testCompiled(
    `fused depthwiseConv2d with ${activation}`,
    fc.record({ it: withoutDilations, bias: fc.boolean() }),
    (settings) => fusedConvolution("depthwiseConv2d", activation, settings),
  );
}
