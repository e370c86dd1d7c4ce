import { type Params, selectBackend } from "@bellman/compute";
import { assertEquals, assertThrows } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { checkLayers, findLayers } from "./layers.ts";

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

for (
  const [layers, message] of [
    [
      [{ kernel: "w" }],
      "Cannot take natural gradients for 'b': it is in no layer",
    ],
    [
      [{ kernel: "ww" }],
      "Unknown parameter 'ww' of a layer: did you mean 'w'?",
    ],
    [[{ kernel: "w", bias: "w" }], "Cannot register the parameter 'w' twice"],
    [
      [{ kernel: "b", bias: "w" }],
      "Cannot register the bias 'w' of 3 numbers with 'b': expected 2",
    ],
  ] as const
) {
  Deno.test(`one line: ${message}`, () => {
    const params = { w: tf.zeros([3, 1]), b: tf.zeros([2]) };
    assertThrows(
      () => checkLayers(layers, { params, others: "error" }),
      Error,
      message,
    );
  });
}

Deno.test("parameters of known Fisher information are registered too", () => {
  const params = { w: tf.zeros([3, 1]), gain: tf.zeros([2]) };
  const check = (diagonal: Record<string, number>) =>
    checkLayers([{ kernel: "w" }], { params, others: "error", diagonal });
  check({ gain: 1 });
  assertThrows(
    () => check({ gian: 1 }),
    RangeError,
    "Unknown parameter 'gian' of diagonal: did you mean 'gain'?",
  );
  assertThrows(() => check({ w: 1 }), RangeError, "the parameter 'w' twice");
});
