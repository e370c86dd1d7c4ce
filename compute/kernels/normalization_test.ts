import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import { seeds, shapes } from "../testdata/arbitrary_shapes.ts";
import {
  assertCompiledAgrees,
  exactly,
  given,
  testCompiled,
} from "../testdata/compiled_agrees.ts";

const large = (x: number) => 60 * x;
const settings = fc.record({
  shape: shapes({ minRank: 1 }),
  seed: seeds,
  of: fc.constantFrom(undefined, large),
});

testCompiled("softmax", settings, ({ shape, seed, of }) => ({
  fn: (x) => tf.softmax(x),
  inputs: [given(shape, { seed, of })],
  gradients: true,
}), 25);

testCompiled("logSoftmax", settings, ({ shape, seed, of }) => ({
  fn: (x) => tf.logSoftmax(x),
  inputs: [given(shape, { seed, of })],
  gradients: true,
}), 25);

testCompiled("softmaxCrossEntropy", settings, ({ shape, seed, of }) => ({
  fn: (labels, logits) => tf.losses.softmaxCrossEntropy(labels, logits),
  inputs: [given(shape, { seed }), given(shape, { seed: seed + 1, of })],
}));

Deno.test("softmax of masked logits", () => {
  const rows = [[-Infinity, 1, 2], [-Infinity, -Infinity, 0], [-1e9, 1e9, 0], [
    -Infinity,
    -Infinity,
    -Infinity,
  ], [NaN, 1, 2]];
  const inputs = [exactly(rows.flat(), [rows.length, 3])];
  assertCompiledAgrees({
    fn: (x) => [tf.softmax(x), tf.logSoftmax(x)],
    inputs,
  });
});

testCompiled(
  "batchNorm",
  fc.record({
    shape: shapes({ minRank: 2 }),
    parts: fc.constantFrom(2, 3, 4),
    whole: fc.boolean(),
    epsilon: fc.constantFrom(undefined, 0.1),
    seed: seeds,
  }),
  ({ shape, parts, whole, epsilon, seed }) => ({
    fn: (x, mean, variance, offset, scale) =>
      tf.batchNorm(
        x,
        mean as tf.Tensor1D,
        variance as tf.Tensor1D,
        offset as tf.Tensor1D,
        scale as tf.Tensor1D,
        epsilon,
      ),
    inputs: [shape, ...new Array(parts).fill(whole ? shape : shape.slice(-1))]
      .map((it, i) =>
        given(it, {
          seed: seed + i,
          of: i === 2 ? (x) => Math.abs(x) + 0.1 : undefined,
        })
      ),
    // TensorFlow.js's gradient asks for a scale.
    gradients: parts === 4,
  }),
  30,
);
