/** Tensors of no numbers: batches of nothing, in the main. */
import * as tf from "@tensorflow/tfjs";
import type { DType } from "../graph/graph.ts";
import {
  assertCompiledAgrees,
  type CompiledCase,
  exactly,
  type Given,
  given,
} from "../testdata/compiled_agrees.ts";
import { testCompiledEngines } from "../testdata/engines.ts";

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
