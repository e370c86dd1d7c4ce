import { assertEquals, assertThrows } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "./backends/select_backend.ts";
import { customGradient, withOpenGradients } from "./own_gradient.ts";
import { layerTags } from "./weight_uses.ts";

await selectBackend("cpu");

/** The product of two matrices, with a gradient that shows where it is from. */
const product = (x: tf.Tensor, w: tf.Tensor) =>
  customGradient((x, w, save) => {
    (save as tf.GradSaveFunc)([x as tf.Tensor, w as tf.Tensor]);
    return {
      value: tf.matMul(x as tf.Tensor, w as tf.Tensor),
      gradFunc: (_, saved) => saved.map((it) => tf.fill(it.shape, 7)),
    };
  })(x, w);

const gradient = () =>
  tf.grad((x) => product(x, tf.tensor2d([[3], [5]])))(tf.tensor2d([[1, 2]]))
    .arraySync();

Deno.test("the gradient is its own, but that of the operations where they are open", () => {
  assertEquals(gradient(), [[7, 7]]);
  assertEquals(withOpenGradients(gradient), [[3, 5]]);
  assertThrows(() =>
    withOpenGradients(() => {
      throw new Error("in between");
    })
  );
  assertEquals(gradient(), [[7, 7]]);
});

Deno.test("observed weights have the gradients of the operations", () => {
  const x = tf.tensor2d([[1, 2], [3, 4]]);
  const { uses } = layerTags(({ w }) => tf.mul(product(x, w), 2), {
    w: tf.tensor2d([[1], [1]]),
  });
  assertEquals(uses.length, 1);
  assertEquals(uses[0].gradient!.arraySync(), [[2], [2]]);
  assertEquals(uses[0].input.arraySync(), [[1, 2], [3, 4]]);
});
