import { assert, assertEquals, assertThrows } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "./backends/select_backend.ts";
import type { Params } from "./params.ts";
import { assertNoLeak } from "./testdata/assert_no_leak.ts";
import { trace } from "./tracing/trace.ts";
import { layerTags } from "./weight_uses.ts";

await selectBackend("cpu");

const x = tf.tensor2d([[1, 2], [3, 4], [5, 6]]);
const w = tf.tensor2d([[1, -1], [2, 0.5]]);

Deno.test("a product is found with its bias, eagerly, fused and traced", () => {
  const params = { w, b: tf.tensor1d([1, 2]) };
  const plain = ({ w, b }: Params) =>
    tf.square(tf.add(tf.matMul(x, w as tf.Tensor2D), b));
  const fused = ({ w, b }: Params) =>
    tf.square(tf.fused.matMul({ a: x, b: w as tf.Tensor2D, bias: b }));
  for (const fn of [plain, fused]) {
    const { value, uses: [use], biases } = layerTags(fn, params);
    assertEquals(value.arraySync(), plain(params).arraySync());
    assertEquals([use.weight, biases.get("w")], ["w", "b"]);
    // A fused product is one of batches of matrices.
    assertEquals(use.input.dataSync(), x.dataSync());
    assertEquals(use.shape.slice(-2), [3, 2]);
    const wanted = tf.mul(2, tf.add(tf.matMul(x, w), params.b));
    assertEquals(use.gradient!.dataSync(), wanted.dataSync());
  }
  const graph = trace((given) => {
    const { uses: [{ input, gradient }] } = layerTags(plain, given as Params);
    return { input, gradient };
  }, params);
  assertEquals(graph.outputs.map(({ value }) => value.shape), [[3, 2], [3, 2]]);
});

Deno.test("a convolution has its settings, through a bias and a reshaped weight", () => {
  const images = tf.ones<tf.Rank.R4>([2, 5, 5, 3]);
  const { uses: [use], biases } = layerTags(
    ({ f, b }) =>
      tf.add(
        tf.conv2d(images, tf.reshape(f, [2, 2, 3, 4]), 2, "same"),
        tf.reshape(b, [1, 1, 1, 4]),
      ),
    { f: tf.ones([12, 4]), b: tf.zeros([4]) },
  );
  const { filterSize, strides, pad } = use.windows!;
  assertEquals([filterSize, strides, pad], [[2, 2], 2, "same"]);
  assertEquals(use.shape, [2, 3, 3, 4]);
  assertEquals(use.gradient!.shape, [2, 3, 3, 4]);
  assertEquals(biases.get("f"), "b");
});

Deno.test("a weight that is used twice has a use for each, one without gradient", () => {
  const { uses } = layerTags(({ w }) => {
    const first = tf.matMul(x, w as tf.Tensor2D);
    tf.matMul(tf.tanh(first), w as tf.Tensor2D);
    return tf.sum(first, 1);
  }, { w });
  assertEquals(uses.map(({ weight }) => weight), ["w", "w"]);
  assertEquals(uses[0].gradient!.arraySync(), [[1, 1], [1, 1], [1, 1]]);
  assertEquals(uses[1].gradient, undefined);
});

Deno.test("other uses of a parameter are none of weights or biases", () => {
  const product = ({ w }: Params) => tf.matMul(x, w as tf.Tensor2D);
  const b = tf.zeros([2]);
  const found = (fn: (params: Params) => tf.Tensor) => {
    const { uses, biases } = layerTags(fn, { w, b });
    return [uses.map(({ weight }) => weight), [...biases]];
  };
  assertEquals(found(product), [["w"], []]);
  assertEquals(
    found(({ w }) => tf.matMul(x, w as tf.Tensor2D, false, true)),
    [[], []],
  );
  assertEquals(
    found((params) => tf.add(tf.relu(product(params)), params.b)),
    [["w"], []],
  );
  assertEquals(found((params) => tf.mul(product(params), params.b)), [
    ["w"],
    [],
  ]);
  assertEquals(
    found(({ w }) => tf.matMul(w as tf.Tensor2D, w as tf.Tensor2D)),
    [[], []],
  );
});

Deno.test("it leaves nothing behind, and the engine as it was", () => {
  const run = () =>
    tf.tidy(() =>
      void layerTags(({ w }) => tf.matMul(x, w as tf.Tensor2D), { w })
    );
  assertNoLeak(run);
  const fail = () =>
    layerTags(() => {
      throw new Error("own");
    }, { w });
  assertNoLeak(() => void assertThrows(fail, Error, "own"));
  assert(!Object.hasOwn(tf.engine(), "runKernel"));
});
