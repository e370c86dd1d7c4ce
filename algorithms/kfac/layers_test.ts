import { type Params, selectBackend } from "@bellman/compute";
import { assertEquals, assertThrows } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { findLayers } from "./layers.ts";

await selectBackend("cpu");

Deno.test("a parameter of no known layer is named with what uses it, or left aside", () => {
  const params = {
    w: tf.zeros([3, 2]),
    gain: tf.ones([2]),
    unused: tf.zeros([1]),
  };
  const apply = ({ w, gain }: Params, { x }: { x: tf.Tensor2D }) =>
    tf.mul(tf.matMul(x, w as tf.Tensor2D), gain);
  const inputs = { x: tf.zeros([4, 3]) };
  assertThrows(
    () => findLayers(apply, { params, inputs }),
    TypeError,
    "Cannot make factors for the parameter 'gain': Multiply uses it, expected tf.matMul(x, w)",
  );
  const { gain: _, ...without } = params;
  assertThrows(
    () =>
      findLayers(({ w }, { x }) => tf.matMul(x, w), {
        params: without,
        inputs,
      }),
    TypeError,
    "'unused': nothing uses it",
  );
  assertEquals(findLayers(apply, { params, inputs, others: "gradient" }), [{
    kernel: "w",
  }]);
});

Deno.test("a transposed kernel, and a bias that is no bias of the layer, are no layers", () => {
  const inputs = { x: tf.zeros([4, 3]) };
  assertThrows(
    () =>
      findLayers(({ w }, { x }) => tf.matMul(x, w, false, true), {
        params: { w: tf.zeros([2, 3]) },
        inputs,
      }),
    TypeError,
    "'w': BatchMatMul uses it",
  );
  assertThrows(
    () =>
      findLayers(({ w, b }, { x }) => tf.add(tf.relu(tf.matMul(x, w)), b), {
        params: { w: tf.zeros([3, 2]), b: tf.zeros([2]) },
        inputs,
      }),
    TypeError,
    "'b': Add uses it",
  );
});
