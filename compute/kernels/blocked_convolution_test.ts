import { assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import { selectBackend } from "../backends/select_backend.ts";
import { optimize } from "../graph/passes/optimize.ts";
import { lowerGraph } from "../lowering/lower.ts";
import {
  type Convolution,
  convolutions,
  convolve,
  imageAndFilter,
  withoutDilations,
} from "../testdata/arbitrary_convolutions.ts";
import { given, testCompiled } from "../testdata/compiled_agrees.ts";
import { float } from "../testdata/traced.ts";
import { trace } from "../tracing/trace.ts";

await selectBackend("cpu");

/** Batches and channels of which many fill blocks, of 8 or of 16. */
const many = fc.constantFrom(16, 8, 32);
const anyLength = fc.constantFrom(16, 32, 8, 3, 4, 24, 1);

function wide(of: fc.Arbitrary<Convolution>): fc.Arbitrary<Convolution> {
  return fc.tuple(of, fc.tuple(anyLength, anyLength, many)).map((
    [it, [batch, channels, out]],
  ) => ({ ...it, batch, channels, out }));
}

testCompiled("blocked conv2d", wide(convolutions), (it) => ({
  fn: convolve(it),
  inputs: imageAndFilter(it),
}), 20);

testCompiled("both gradients of blocked conv2d", wide(withoutDilations), (
  it,
) => ({ fn: convolve(it), inputs: imageAndFilter(it), gradients: true }), 30);

/** Steps that divide the filter, and often the image and its padding. */
const stepwise = fc.record({
  steps: fc.tuple(fc.integer({ min: 1, max: 4 }), fc.constantFrom(1, 2, 4)),
  taps: fc.tuple(
    fc.integer({ min: 1, max: 2 }),
    fc.integer({ min: 1, max: 2 }),
  ),
  places: fc.tuple(
    fc.integer({ min: 2, max: 3 }),
    fc.integer({ min: 2, max: 3 }),
  ),
  rest: fc.tuple(fc.constantFrom(0, 0, 1), fc.constantFrom(0, 0, 1)),
  pad: fc.constantFrom<Convolution["pad"]>("valid", "same", [
    [0, 0],
    [1, 1],
    [2, 2],
    [0, 0],
  ], [[0, 0], [2, 1], [0, 2], [0, 0]]),
}).map(({ steps, taps, places, rest, pad }): Convolution => ({
  batch: 1,
  channels: 1,
  out: 1,
  size: [steps[0] * places[0] + rest[0], steps[1] * places[1] + rest[1]],
  filter: [steps[0] * taps[0], steps[1] * taps[1]],
  strides: steps,
  dilations: [1, 1],
  pad,
  seed: 1,
}));

testCompiled("steps that divide blocked filters", wide(stepwise), (it) => ({
  fn: convolve(it),
  inputs: imageAndFilter(it),
  gradients: true,
}), 30);

/** A convolution with a bias and `relu`. */
function layer(it: Convolution) {
  return (x: tf.Tensor, filter: tf.Tensor, bias: tf.Tensor) =>
    tf.relu(tf.add(convolve(it)(x, filter), bias));
}

testCompiled("bias and relu of blocked conv2d", wide(withoutDilations), (
  it,
) => ({
  fn: layer(it),
  inputs: [...imageAndFilter(it), given([it.out], { seed: it.seed + 2 })],
  gradients: true,
}), 15);

/** Two layers, of which the second takes what the first makes in blocks. */
const second = (it: Convolution): Convolution => ({
  ...it,
  channels: it.out,
  filter: [2, 2],
  strides: [2, 1],
  pad: "same",
});

testCompiled("two blocked layers", wide(withoutDilations), (it) => {
  const { channels, out, filter } = second(it);
  const shapes = [[out], [...filter, channels, out], [out]];
  return {
    fn: (x, filter1, bias1, filter2, bias2) =>
      layer(second(it))(layer(it)(x, filter1, bias1), filter2, bias2),
    inputs: [
      ...imageAndFilter(it),
      ...shapes.map((shape, i) => given(shape, { seed: it.seed + 2 + i })),
    ],
    gradients: true,
  };
}, 30);

testCompiled(
  "a network of frames in bytes",
  fc.constantFrom(4, 16),
  (batch) => ({
    fn: (x, filter) => {
      const scaled = tf.div(tf.cast(x, "float32"), 255);
      const gradient = tf.grad((filter: tf.Tensor) =>
        tf.square(tf.conv2d(scaled as tf.Tensor4D, filter as tf.Tensor4D, 4, 0))
      );
      return [gradient(filter)];
    },
    inputs: [
      given([batch, 12, 12, 4], { dtype: "int32" }),
      given([8, 8, 4, 16], { seed: 2 }),
    ],
  }),
);

/** Blocked operations of a network's update, for a machine. */
function blockedOperations(channels: number, blockSize: number): string[] {
  const graph = optimize(trace(({ x, filter, bias, next }) => {
    const it = { strides: [1, 1], pad: "valid", dilations: [1, 1] } as never;
    const loss = (filter: tf.Tensor, bias: tf.Tensor, next: tf.Tensor) =>
      tf.sum(convolve(it)(layer(it)(x, filter, bias), next)) as tf.Scalar;
    return { ...tf.grads(loss)([filter, bias, next]) };
  }, {
    x: float(channels, 8, 8, 4),
    filter: float(3, 3, 4, channels),
    bias: float(channels),
    next: float(3, 3, channels, channels),
  }));
  return lowerGraph(graph, { blockSize }).nodes
    .filter(({ domain }) => domain === "com.microsoft.nchwc")
    .map(({ op, attributes }) => attributes.channels_last ? `${op} NHWC` : op);
}

Deno.test("layers keep their images in blocks", () => {
  const both = blockedOperations(16, 8);
  const count = (op: string) => both.filter((it) => it === op).length;
  assertEquals(count("Conv"), 4);
  // Only the gradient of the sum comes from elsewhere.
  assertEquals(count("ReorderInput NHWC"), 1);
  assertEquals(both, blockedOperations(16, 16));
});

Deno.test("models that run anywhere have no blocks", () => {
  assertEquals(blockedOperations(16, 0), []);
});

Deno.test("channels that fill no blocks are left", () => {
  assertEquals(blockedOperations(8, 16), []);
  assertEquals(blockedOperations(20, 8), []);
});
