import { assertThrows } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { categorical } from "./categorical.ts";
import { multiCategorical } from "./multi_categorical.ts";
import { assertClose } from "./testdata/assertions.ts";
import { testOnBackends, values } from "./testdata/backends.ts";
import { testFiniteDistribution } from "./testdata/distribution_properties.ts";

const PAIRS = [0, 1, 2].flatMap((a) => [0, 1].map((b) => [a, b]));
testFiniteDistribution(
  "multiCategorical([3, 2])",
  multiCategorical([3, 2]),
  PAIRS,
);
testFiniteDistribution(
  "multiCategorical([3])",
  multiCategorical([3]),
  [[0], [1], [2]],
);

testOnBackends("each part has its own logits, in order", () => {
  const logits = tf.tensor2d([[0.5, -1, 2, 1, 3]]);
  const [first, second] = tf.split(logits, [3, 2], 1);
  const sum = tf.add(
    categorical(3).logProb(first as tf.Tensor2D, tf.tensor1d([2], "int32")),
    categorical(2).logProb(second as tf.Tensor2D, tf.tensor1d([0], "int32")),
  );
  const actions = tf.tensor2d([[2, 0]], [1, 2], "int32");
  const whole = multiCategorical([3, 2]).logProb(logits, actions);
  assertClose(whole, values(sum), 1e-6);
});

Deno.test("a multi-categorical distribution needs parts", () => {
  assertThrows(() => multiCategorical([]), RangeError, "without any part");
  assertThrows(() => multiCategorical([2, 0]), RangeError, "over 0 actions");
});
