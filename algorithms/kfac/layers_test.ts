import { type Params, selectBackend } from "@bellman/compute";
import { assertEquals, assertThrows } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { checkLayers, findLayers } from "./layers.ts";

await selectBackend("cpu");

Deno.test("a parameter that no layer uses as its kernel or bias is in none", () => {
  const inputs = { x: tf.zeros([4, 3]) };
  const params = {
    w: tf.zeros([3, 2]),
    gain: tf.ones([2]),
    b: tf.zeros([2]),
    unused: tf.zeros([1]),
  };
  // A bias behind an activation is none of the layer.
  const apply = ({ w, gain, b }: Params, { x }: { x: tf.Tensor2D }) =>
    tf.add(tf.relu(tf.mul(tf.matMul(x, w as tf.Tensor2D), gain)), b);
  assertEquals(findLayers(apply, { params, inputs }), [{ kernel: "w" }]);
  const transposed = findLayers(
    ({ w }, { x }) => tf.matMul(x, w, false, true),
    { params: { w: tf.zeros([2, 3]) }, inputs },
  );
  assertEquals(transposed, []);
});

for (
  const [layers, message] of [
    [
      [{ kernel: "w" }],
      "Cannot take natural gradients for 'b': it is in no layer",
    ],
    [
      [{ kernel: "ww" }],
      "Unknown parameter 'ww' of a layer: expected one of w, b",
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
