/** Tensors of no numbers: batches of nothing, in the main. */
import * as tf from "@tensorflow/tfjs";
import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { selectBackend } from "../backends/select_backend.ts";
import { compile } from "../compile/compile.ts";
import type { DType } from "../graph/graph.ts";
import { randomBits, randomNormal, randomUniform } from "../random_bits.ts";
import { axesOf, emptyShapes } from "../testdata/arbitrary_shapes.ts";
import {
  assertCompiledAgrees,
  type CompiledCase,
  exactly,
  type Given,
  given,
  testCompiled,
} from "../testdata/compiled_agrees.ts";
import { testCompiledEngines, testEngines } from "../testdata/engines.ts";
import { float as floatOf } from "../testdata/traced.ts";

const none = (shape: number[], dtype?: DType) => exactly([], shape, dtype);
const float = none([0, 3]);
const whole = none([0], "int32");

/** The function, and what it is given. */
const CASES: Readonly<
  Record<string, [fn: unknown, ...inputs: readonly Given[]]>
> = {
  add: [tf.add, float, given([3])],
  floorDiv: [tf.floorDiv, whole, given([], { dtype: "int32" })],
  where: [tf.where, none([0], "bool"), none([0]), none([0])],
  addN: [(...xs: tf.Tensor[]) => tf.addN(xs), float, float],
  sigmoid: [tf.sigmoid, float],
  clipByValue: [(x: tf.Tensor) => tf.clipByValue(x, 0, 1), float],
  cast: [(x: tf.Tensor) => tf.cast(x, "int32"), float],
  mean: [(x: tf.Tensor) => tf.mean(x, 1), float],
  max: [(x: tf.Tensor) => tf.max(x, 1), float],
  argMax: [(x: tf.Tensor) => tf.argMax(x, 1), float],
  reshape: [(x: tf.Tensor) => tf.reshape(x, [3, 0, 2]), float],
  "reshape by what is left": [(x: tf.Tensor) => tf.reshape(x, [-1, 3]), float],
  transpose: [(x: tf.Tensor) => tf.transpose(x), float],
  tile: [(x: tf.Tensor) => tf.tile(x, [2, 2]), float],
  broadcastTo: [(x: tf.Tensor) => tf.broadcastTo(x, [0, 3]), given([1, 3])],
  concat: [
    (x: tf.Tensor, y: tf.Tensor) => tf.concat([x, y], 0),
    float,
    given([2, 3]),
  ],
  stack: [(x: tf.Tensor, y: tf.Tensor) => tf.stack([x, y]), float, float],
  slice: [(x: tf.Tensor) => tf.slice(x, [1, 0], [0, 3]), given([2, 3])],
  split: [(x: tf.Tensor) => tf.split(x, [0, 2], 0), given([2, 3])],
  pad: [(x: tf.Tensor) => tf.pad(x, [[1, 1], [0, 0]]), float],
  reverse: [(x: tf.Tensor) => tf.reverse(x, 0), float],
  gather: [tf.gather, given([3, 2]), whole],
  oneHot: [(x: tf.Tensor) => tf.oneHot(x, 3), whole],
  unsortedSegmentSum: [
    (x: tf.Tensor, ids: tf.Tensor1D) => tf.unsortedSegmentSum(x, ids, 2),
    float,
    whole,
  ],
  cumsum: [(x: tf.Tensor) => tf.cumsum(x, 1), none([2, 0])],
  cumprod: [(x: tf.Tensor) => tf.cumprod(x, 1), none([2, 0])],
  matMul: [tf.matMul, none([0, 2]), given([2, 3])],
  "matMul over nothing": [tf.matMul, none([2, 0]), float],
  "matMul in batches": [tf.matMul, none([0, 2, 3]), none([0, 3, 4])],
  softmax: [(x: tf.Tensor) => tf.softmax(x), float],
  conv2d: [
    (x: tf.Tensor4D, w: tf.Tensor4D) => tf.conv2d(x, w, 1, "same"),
    none([0, 3, 3, 1]),
    given([2, 2, 1, 1]),
  ],
  maxPool: [
    (x: tf.Tensor4D) => tf.maxPool(x, 2, 2, "valid"),
    none([0, 4, 4, 1]),
  ],
  zeros: [() => tf.zeros([0, 3])],
  range: [() => tf.range(0, 0)],
  "gradients of a layer": [
    (x: tf.Tensor2D, w: tf.Tensor2D) =>
      tf.grads((x: tf.Tensor, w: tf.Tensor) =>
        tf.sum(tf.tanh(tf.matMul(x, w)))
      )([x, w]),
    float,
    given([3, 2]),
  ],
};

for (const [name, [fn, ...inputs]] of Object.entries(CASES)) {
  testCompiledEngines(
    `${name} of nothing`,
    (engine) =>
      assertCompiledAgrees({ fn: fn as CompiledCase["fn"], inputs }, engine),
  );
}

const random = [exactly([123, -456], [2], "int32"), exactly([7], [], "int32")];

for (const [name, draw] of Object.entries({ randomBits, randomUniform })) {
  testCompiled(`${name} of shapes of nothing`, emptyShapes, (shape) => ({
    fn: (key, counter) => draw(shape, { key, counter }),
    inputs: random,
  }));
}

testCompiled("randomNormal of shapes of nothing", emptyShapes, (shape) => ({
  fn: (key, counter) => randomNormal(shape, { key, counter }),
  inputs: random,
}));

/** A shape of nothing, some of its axes, and whether they are kept. */
const reductions = emptyShapes.chain((shape) =>
  fc.record({
    shape: fc.constant(shape),
    axes: axesOf(shape.length).filter((axes) => axes.length > 0),
    keepDims: fc.boolean(),
  })
);

for (const name of ["mean", "sum"] as const) {
  testCompiled(
    `${name} over axes of nothing, and its gradient`,
    reductions,
    ({ shape, axes, keepDims }) => ({
      fn: (x) => tf[name](x, axes, keepDims),
      inputs: [none(shape)],
      gradients: true,
    }),
  );
}

testCompiled("one of each of nothing", emptyShapes, (shape) => ({
  fn: (x) => tf.oneHot(x as tf.Tensor1D, 3, 2, 1),
  inputs: [none(shape, "int32")],
}));

testCompiled("sums of segments of nothing", emptyShapes, (shape) => ({
  fn: (x, ids) => tf.unsortedSegmentSum(x, ids as tf.Tensor1D, 2),
  inputs: [given([0, ...shape]), none([0], "int32")],
}));

testCompiled("shapes of nothing become others", emptyShapes, (shape) => ({
  fn: (x) => tf.reshape(tf.add(x, 1), [3, ...shape.toReversed()]),
  inputs: [none(shape)],
}));

/**
 * TensorFlow.js says 0 where NumPy says NaN: a loss over no rows then changes
 * nothing.
 */
testEngines("the mean of nothing is 0", (engine) => {
  const fn = compile(
    ({ x }) => ({ all: tf.mean(x), rows: tf.mean(x, 0) }),
    { inputs: { x: floatOf(0, 3) }, engine },
  );
  const { all, rows } = fn.run({ x: new Float32Array() });
  assertEquals([...all, ...rows], [0, 0, 0, 0]);
});

/** Reductions, which memory that is not all zeros must not reach. */
const ofNothing = { sum: 0, mean: 0, prod: 1, all: 1, any: 0 } as const;

Deno.test("random numbers and reductions of nothing on wasm", async () => {
  await selectBackend("wasm");
  tf.tidy(() => {
    const source = {
      key: tf.tensor1d([1, 2], "int32"),
      counter: tf.scalar(3, "int32"),
    };
    for (const draw of [randomBits, randomUniform, randomNormal]) {
      assertEquals(draw([2, 0], source).shape, [2, 0]);
      assertEquals(draw([2, 0], source).dataSync().length, 0);
    }
    for (const [name, expected] of Object.entries(ofNothing)) {
      const isOfFlags = name === "all" || name === "any";
      const x = tf.zeros([0, 3], isOfFlags ? "bool" : "float32");
      for (let i = 2; i < 20; i++) {
        tf.dispose(tf.fill([3], i)); // What the result's memory may hold.
        const made = tf[name as "sum"](x, 0).dataSync();
        assertEquals([...made], [expected, expected, expected], name);
      }
    }
  });
  await selectBackend("cpu");
});
