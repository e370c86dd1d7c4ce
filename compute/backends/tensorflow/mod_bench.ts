import * as tf from "@tensorflow/tfjs";
import { findNativeLibrary } from "./library_search.ts";
import { loadTensorFlowBackend } from "./mod.ts";

const ignore = !findNativeLibrary();
if (!ignore) {
  tf.enableProdMode();
  await loadTensorFlowBackend();
  await tf.setBackend("tensorflow");
}

const square = tf.fill([64, 64], 0.5) as tf.Tensor2D;
const one = tf.scalar(1);
const inputs = tf.fill([80, 4], 0.1) as tf.Tensor2D;
const weights = [[4, 64], [64, 64], [64, 2]].map((shape) =>
  tf.fill(shape, 0.01)
);

const gradients = tf.grads((...w: tf.Tensor[]) => {
  let h: tf.Tensor2D = inputs;
  for (const matrix of w) h = tf.tanh(tf.matMul(h, matrix as tf.Tensor2D));
  return tf.sum(tf.square(h));
});

Deno.bench("tensorflow: add two scalars", { ignore }, () => {
  tf.add(one, one).dispose();
});

Deno.bench("tensorflow: 64x64 matrix product", { ignore }, () => {
  tf.matMul(square, square).dispose();
});

Deno.bench("tensorflow: gradient of a 4-64-64-2 network", { ignore }, () => {
  tf.dispose(gradients(weights));
});
