import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import type { DType } from "../graph/graph.ts";
import {
  axesOf,
  seeds,
  shapeAndAxis,
  shapes,
} from "../testdata/arbitrary_shapes.ts";
import {
  assertCompiledAgrees,
  exactly,
  given,
  testCompiled,
  testCompiledOne,
} from "../testdata/compiled_agrees.ts";
import { testCompiledEngines } from "../testdata/engines.ts";

type Axis = number | number[] | undefined;
type Reduction = (x: tf.Tensor, axis: Axis, keepDims: boolean) => tf.Tensor;

const ALL = ["float32", "int32", "bool"] as const;
const ties = (x: number) => Math.round(2 * x) / 2;

const REDUCTIONS: Readonly<
  Record<string, { fn: Reduction; dtypes: readonly DType[] }>
> = {
  sum: { fn: tf.sum, dtypes: ALL },
  mean: { fn: tf.mean, dtypes: ALL },
  sumOfSquares: {
    fn: (x, axis, keepDims) => tf.sum(tf.square(x), axis, keepDims),
    dtypes: ["float32"],
  },
  max: { fn: tf.max, dtypes: ALL },
  min: { fn: tf.min, dtypes: ALL },
  // TensorFlow.js's gradient knows no negative axes.
  prod: {
    fn: (x, axis, keepDims) =>
      tf.prod(x, axis && tf.util.parseAxisParam(axis, x.shape), keepDims),
    dtypes: ALL,
  },
  all: { fn: tf.all, dtypes: ["bool"] },
  any: { fn: tf.any, dtypes: ["bool"] },
  logSumExp: { fn: tf.logSumExp, dtypes: ["float32"] },
  norm: {
    fn: (x, axis, keepDims) =>
      tf.norm(x, 2, typeof axis === "number" ? axis : 0, keepDims),
    dtypes: ["float32"],
  },
};

/** All axes, one, or some of them, counted from either end. */
const settings = shapes({ minRank: 1 }).chain((shape) =>
  fc.record({
    shape: fc.constant(shape),
    axis: fc.oneof(
      fc.constant(undefined),
      fc.integer({ min: -shape.length, max: shape.length - 1 }),
      axesOf(shape.length),
    ),
    keepDims: fc.boolean(),
    /** Whether several numbers are the largest. */
    equal: fc.boolean(),
    seed: seeds,
  })
);

for (const [name, { fn, dtypes }] of Object.entries(REDUCTIONS)) {
  for (const dtype of dtypes) {
    testCompiledOne(
      `${name} of ${dtype}`,
      settings.map((it) => ({ ...it, dtype, of: it.equal ? ties : undefined })),
      (x, it) => fn(x, it.axis as Axis, it.keepDims),
      { runs: 20 },
    );
  }
}

for (const [name, fn] of Object.entries({ sum: tf.sum, mean: tf.mean })) {
  testCompiledOne(
    `${name} of many rows and of all of many numbers`,
    fc.record({
      shape: fc.constantFrom([33, 3], [80, 64], [40, 500], [1025], [9, 41, 25]),
      axis: fc.constantFrom(0, undefined),
      keepDims: fc.boolean(),
      infinite: fc.boolean(),
      seed: seeds,
    }).map((it) => ({
      ...it,
      of: (x: number) => it.infinite && x > 2 ? Infinity : Math.abs(x),
    })),
    (x, { axis, keepDims }) => fn(x, axis, keepDims),
    { runs: 20 },
  );
}

testCompiled(
  "the norm of few and of many numbers that are put together",
  fc.record({ size: fc.constantFrom(3, 17_000), seed: seeds }),
  ({ size, seed }) => ({
    fn: (x, y) => tf.sqrt(tf.sum(tf.square(tf.concat([x, y])))),
    inputs: [given([size], { seed }), given([5], { seed: seed + 1 })],
    gradients: true,
  }),
  10,
);

for (
  const [name, fn] of Object.entries({ argMax: tf.argMax, argMin: tf.argMin })
) {
  for (const dtype of ALL) {
    testCompiled(
      `${name} of ${dtype}, the first of equals`,
      fc.record({ at: shapeAndAxis(), seed: seeds }),
      ({ at: { shape, axis }, seed }) => ({
        fn: (x) => fn(x, axis),
        inputs: [given(shape, { seed, dtype, of: ties })],
      }),
    );
  }
}

/** NaN beside numbers is left out by ONNX Runtime's max and min. */
testCompiledEngines("NaN and infinities in reductions", (engine) => {
  const none = [NaN, NaN, NaN];
  const infinite = [
    [Infinity, 1, -Infinity],
    [Infinity, 1, 2],
    [-Infinity, -Infinity, -Infinity],
  ];
  const mixed = [[NaN, 1, 2], [1, NaN, 2], [1, 2, NaN]];
  for (const fn of [tf.sum, tf.mean, tf.prod, tf.logSumExp, tf.max, tf.min]) {
    const ordering = fn === tf.max || fn === tf.min;
    const rows = [none, ...infinite, ...(ordering ? [] : mixed)];
    const x = exactly(rows.flat(), [rows.length, 3]);
    assertCompiledAgrees({ fn: (x) => fn(x, 1), inputs: [x] }, engine);
  }
});

testCompiledEngines("a number has no axes", (engine) => {
  for (const fn of [tf.sum, tf.mean, tf.max, tf.min, tf.prod]) {
    assertCompiledAgrees({ fn: (x) => fn(x), inputs: [given([])] }, engine);
  }
});

testCompiledEngines(
  "nothing is summed up to 0, multiplied to 1, and none of it is",
  (engine) => {
    const x = exactly([], [2, 0, 3]);
    for (const fn of [tf.sum, tf.prod]) {
      for (const axis of [1, [0, 1], undefined]) {
        assertCompiledAgrees({ fn: (x) => fn(x, axis), inputs: [x] }, engine);
      }
    }
    const booleans = exactly([], [2, 0], "bool");
    assertCompiledAgrees(
      { fn: (x) => tf.any(x, 1), inputs: [booleans] },
      engine,
    );
  },
);

const large = (x: number) => 60 * x;
const logits = fc.record({
  shape: shapes({ minRank: 1 }),
  seed: seeds,
  of: fc.constantFrom(undefined, large),
});

for (const name of ["softmax", "logSoftmax"] as const) {
  testCompiledOne(name, logits, (x) => tf[name](x), { runs: 25 });
}

testCompiled("softmaxCrossEntropy", logits, ({ shape, seed, of }) => ({
  fn: (labels, logits) => tf.losses.softmaxCrossEntropy(labels, logits),
  inputs: [given(shape, { seed }), given(shape, { seed: seed + 1, of })],
}));

testCompiledEngines("softmax of masked logits", (engine) => {
  const none = Array(3).fill(-Infinity);
  const rows = [
    ...[[-Infinity, 1, 2], [-Infinity, -Infinity, 0], [-1e9, 1e9, 0]],
    ...[none, [NaN, 1, 2]],
  ];
  const inputs = [exactly(rows.flat(), [rows.length, 3])];
  assertCompiledAgrees({
    fn: (x) => [tf.softmax(x), tf.logSoftmax(x)],
    inputs,
  }, engine);
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
